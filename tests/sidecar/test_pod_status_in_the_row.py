"""What the Pod's status told stands in the attempt's row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.inside.apiserver import answer, status
from tests.sidecar.pod import KEY

if TYPE_CHECKING:
    from tests.inside.apiserver import ApiServer
    from tests.sidecar.pod import Pod

PROXY = {"name": "proxy", "state": {"terminated": {"exitCode": 1, "reason": "Error"}}}
MAIN = {"name": "main", "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}
POD = {
    "kind": "Pod",
    "metadata": {"namespace": "billing", "name": "pod-1", "uid": "uid-1"},
    "status": {"containerStatuses": [PROXY, MAIN]},
}


@pytest.fixture
def api(pod: Pod, api_server: ApiServer) -> ApiServer:
    """Let the sidecar run in a cluster."""
    pod.env |= api_server.env | {"K8SJOB_LOG_FORMAT": "text", "K8SJOB_POD_UID": "uid-1"}
    return api_server


def test_the_end_by_the_status_is_kept(pod: Pod, api: ApiServer) -> None:
    api.script = [answer(200, POD)]
    pod.start("--container", "main")
    pod.wait_for_the_start_row()

    assert pod.stop() == 0
    assert pod.attempts() == [("failed", 137, "child")]
    assert pod.message() == (
        f"{KEY} failed: the main container ended with 137, by signal 9 (OOMKilled)"
    )


def test_the_main_container_may_be_named_by_a_variable(pod: Pod, api: ApiServer) -> None:
    api.script = [answer(200, POD)]
    pod.start(K8SJOB_CONTAINER="proxy")
    pod.wait_for_the_start_row()

    assert pod.stop() == 0
    assert pod.attempts() == [("failed", 1, "child")]


def test_that_nobody_may_look_is_kept_too(pod: Pod, api: ApiServer) -> None:
    api.script = [status(403, 'pods "pod-1" is forbidden')]
    pod.start()
    pod.wait_for_the_start_row()

    assert pod.stop() == 0
    assert pod.attempts() == [("lost", None, "k8sjob")]
    assert (
        'does not let this Pod read Pod billing/pod-1: pods "pod-1" is forbidden' in pod.message()
    )
