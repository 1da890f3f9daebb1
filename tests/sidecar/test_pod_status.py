"""Without the file, the Pod's status tells how the main container ended, where it may be read.

By a clock of the test's own: how long the looks take decides nothing here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.run.sidecar.end import MainEnd
from k8sjob.run.sidecar.main import PATIENCE_S, ExitFile, PodStatus, settle
from tests.inside.apiserver import Time, answer, inside, status

if TYPE_CHECKING:
    import ssl
    from pathlib import Path

    from tests.inside.apiserver import ApiServer

RUNS = {"running": {"startedAt": "2026-09-13T00:00:01Z"}}


def ended(code: int, reason: str = "Error") -> dict[str, Any]:
    return {"terminated": {"exitCode": code, "reason": reason}}


def pod_of(uid: str = "uid-1", **states: dict[str, Any]) -> dict[str, Any]:
    """Return a Pod with these containers, and this sidecar among the init containers."""
    return {
        "kind": "Pod",
        "metadata": {"namespace": "billing", "name": "pod-1", "uid": uid},
        "spec": {"initContainers": [{"name": "k8sjob", "restartPolicy": "Always"}]},
        "status": {
            "initContainerStatuses": [{"name": "k8sjob", "state": RUNS}],
            "containerStatuses": [{"name": n, "state": s} for n, s in states.items()],
        },
    }


def learned(
    api: ApiServer, folder: Path, container: str | None = None, name: str = "pod-1"
) -> MainEnd:
    """Return what a sidecar learns of the main container's end, once it is told to stop."""
    time = Time()
    pod = PodStatus(
        inside=inside(api, time), namespace="billing", name=name, container=container, uid="uid-1"
    )
    end = settle(ExitFile(str(folder)), pod, clock=time.look, sleep=time.sleep)
    assert time.now - 1000 < PATIENCE_S + 0.2
    return end


def test_the_status_tells_the_exit_code(api_server: ApiServer, tmp_path: Path) -> None:
    api_server.script = [answer(200, pod_of(main=ended(3)))]

    assert learned(api_server, tmp_path) == MainEnd(3)
    assert api_server.asked[0].line == "GET /api/v1/namespaces/billing/pods/pod-1 HTTP/1.1"


def test_the_status_tells_why_a_container_was_killed(api_server: ApiServer, tmp_path: Path) -> None:
    api_server.script = [answer(200, pod_of(main=ended(137, "OOMKilled")))]

    assert learned(api_server, tmp_path) == MainEnd(137, "OOMKilled")


def test_the_status_may_need_a_moment(api_server: ApiServer, tmp_path: Path) -> None:
    """A normal end shows up to 54 ms after the signal (measured)."""
    runs = answer(200, pod_of(main=RUNS))
    api_server.script = [runs, runs, answer(200, pod_of(main=ended(4)))]

    assert learned(api_server, tmp_path) == MainEnd(4)


def test_trouble_that_passes_is_no_reason_to_give_up(api_server: ApiServer, tmp_path: Path) -> None:
    api_server.script = [status(500, "no leader"), answer(200, pod_of(main=ended(4)))]

    assert learned(api_server, tmp_path) == MainEnd(4)


def test_the_file_wins_over_the_status(api_server: ApiServer, tmp_path: Path) -> None:
    api_server.script = [answer(200, pod_of(main=ended(1)))]
    (tmp_path / "exit").write_text("5\n")

    assert learned(api_server, tmp_path) == MainEnd(5)
    assert api_server.asked == []


def test_a_file_that_comes_while_the_status_is_asked_for_is_read(
    api_server: ApiServer, tmp_path: Path
) -> None:
    def then(tls: ssl.SSLSocket) -> None:
        (tmp_path / "exit").write_text("6\n")
        answer(200, pod_of(main=RUNS))(tls)

    api_server.script = [then]

    assert learned(api_server, tmp_path) == MainEnd(6)


def test_the_main_container_is_the_one_that_is_named(api_server: ApiServer, tmp_path: Path) -> None:
    api_server.script = [answer(200, pod_of(proxy=ended(1), main=ended(7)))]

    assert learned(api_server, tmp_path, "main") == MainEnd(7)


@pytest.mark.parametrize("name", [None, "other"])
def test_no_container_is_guessed(api_server: ApiServer, tmp_path: Path, name: str | None) -> None:
    api_server.script = [answer(200, pod_of(proxy=ended(1), main=ended(7)))]

    end = learned(api_server, tmp_path, name)

    assert end.exit_code is None
    assert "There are proxy, main; set K8SJOB_CONTAINER" in str(end)
    assert len(api_server.asked) == 1


def test_a_status_that_shows_no_end_leaves_it_unknown(
    api_server: ApiServer, tmp_path: Path
) -> None:
    """So it is on the deletion of a Pod: the end never shows before the sidecar's (measured)."""
    api_server.script = [answer(200, pod_of(main=RUNS))]

    assert str(learned(api_server, tmp_path)) == (
        "how the main container ended is not known (no file exit, and the Pod's status does not "
        "tell)"
    )
    assert len(api_server.asked) > 5


def test_without_the_right_the_end_says_so_and_nobody_asks_again(
    api_server: ApiServer, tmp_path: Path
) -> None:
    said = 'pods "pod-1" is forbidden: User "x" cannot get resource "pods"'
    api_server.script = [status(403, said)]

    assert f"does not let this Pod read Pod billing/pod-1: {said}" in str(
        learned(api_server, tmp_path)
    )
    assert len(api_server.asked) == 1


def test_another_pod_of_that_name_tells_nothing(api_server: ApiServer, tmp_path: Path) -> None:
    api_server.script = [answer(200, pod_of("uid-2", main=ended(0)))]

    assert "the Pod billing/pod-1 is another one by now" in str(learned(api_server, tmp_path))


@pytest.mark.parametrize(
    "body",
    [{"kind": "Pod"}, {"metadata": 3}, pod_of(main={"terminated": {"exitCode": "3"}})],
    ids=["empty", "number", "text"],
)
def test_a_status_that_cannot_be_read_leaves_it_unknown(
    api_server: ApiServer, tmp_path: Path, body: object
) -> None:
    api_server.script = [answer(200, body)]

    assert "cannot be read" in str(learned(api_server, tmp_path))


def test_without_a_pods_name_nobody_is_asked(api_server: ApiServer, tmp_path: Path) -> None:
    api_server.script = [answer(200, pod_of(main=ended(3)))]

    assert "K8SJOB_POD_NAME is not set" in str(learned(api_server, tmp_path, name=""))
    assert api_server.asked == []
