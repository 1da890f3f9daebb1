from __future__ import annotations

import json
import socket
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from k8sjob.errors import Denied, ExitCode, K8sjobError, TryAgain, Unavailable
from k8sjob.kube.client import Cluster, NotFound
from tests.kube.apiserver import ApiServer, serving
from tests.kube.made import cronjob, job

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"namespace": "billing", "name": "credit-bf-20260911-0-1", "labels": {"a": "b"}},
    "spec": {"template": {"spec": {"containers": [], "unknownToOldModels": {"x": 1}}}},
}


def test_a_job_is_created_as_the_manifest_says(api: ApiServer, cluster: Cluster) -> None:
    made = cluster.create_job(MANIFEST)
    assert (made.how, made.job.name) == ("created", "credit-bf-20260911-0-1")
    (there,) = api.jobs()
    assert there["spec"] == MANIFEST["spec"]  # a field that no model knows is not lost
    assert there["metadata"]["labels"] == {"a": "b"}


def test_a_second_create_of_the_name_meets_the_first(api: ApiServer, cluster: Cluster) -> None:
    first = cluster.create_job(MANIFEST)
    second = cluster.create_job(MANIFEST)
    assert (second.how, second.job.uid) == ("exists", first.job.uid)
    assert len(api.jobs()) == 1


def test_a_create_whose_answer_is_lost_comes_to_the_one_job(
    api: ApiServer, cluster: Cluster
) -> None:
    api.fail("create", "jobs", 0, late=True)
    assert cluster.create_job(MANIFEST).how == "exists"
    assert len(api.jobs()) == 1


def test_a_conflict_that_is_no_name_taken_is_an_error(api: ApiServer, cluster: Cluster) -> None:
    body = json.dumps({"reason": "Conflict", "message": "the quota was changed"})
    api.fail("create", "jobs", 409, body=body)
    with pytest.raises(K8sjobError, match=r"answered 409 to create job billing/credit-bf-\S+: the"):
        cluster.create_job(MANIFEST)


def test_objects_are_found_by_name(api: ApiServer, cluster: Cluster) -> None:
    api.add(cronjob("billing/credit"), job("billing/credit-1"))
    assert cluster.get_cronjob("billing", "credit").schedule == "0 2 * * *"
    assert cluster.get_job("billing", "credit-1").active == 1


def test_what_is_not_there_is_said_with_the_line_that_shows_what_is(cluster: Cluster) -> None:
    with pytest.raises(NotFound) as error:
        cluster.get_cronjob("billing", "credit")
    assert error.value.exit_code is ExitCode.FAILED
    assert str(error.value) == (
        "there is no cronjob billing/credit. Nothing was done.\n"
        "  See what there is: kubectl get cronjobs -n billing"
    )


@pytest.mark.parametrize("namespace", ["billing", None])
def test_a_missing_right_is_named_as_a_rule_to_paste(
    api: ApiServer, cluster: Cluster, namespace: str | None
) -> None:
    api.rules = set()
    with pytest.raises(Denied) as error:
        cluster.list_cronjobs(namespace)
    kind, where = ("Role", " in namespace billing") if namespace else ("ClusterRole", "")
    assert str(error.value).splitlines()[1:] == [
        f"  Add this rule to a {kind} that is bound to it{where}:",
        '  - {apiGroups: ["batch"], resources: ["cronjobs"], verbs: ["list"]}',
    ]
    assert "system:serviceaccount:billing:watcher" in str(error.value)
    assert len(api.requests) == 1


def test_a_missing_right_on_pods_is_of_the_core_group(api: ApiServer, cluster: Cluster) -> None:
    api.rules = set()
    with pytest.raises(Denied, match=r'apiGroups: \[""\], resources: \["pods"\]'):
        cluster.list_pods("billing")


def test_a_token_that_is_not_known_is_denied(api: ApiServer, cluster: Cluster) -> None:
    api.token = "good"
    with pytest.raises(Denied, match=r"does not know who asks to list jobs"):
        cluster.list_jobs("billing")


def test_a_token_that_was_exchanged_meanwhile_is_read_again(api: ApiServer, tmp_path: Path) -> None:
    api.token = "first"
    config = api.kubeconfig(tmp_path, token="first")
    with closing(Cluster.connect(kubeconfig=config)) as cluster:
        assert cluster.list_jobs("billing") == []
        api.token = "second"
        api.kubeconfig(tmp_path, token="second")
        assert cluster.list_jobs("billing") == []
    assert len(api.requests) == 3


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_passing_trouble_is_tried_again_and_pauses_grow(
    api: ApiServer, cluster: Cluster, pauses: list[float], status: int
) -> None:
    api.fail("list", "jobs", status, times=3)
    assert cluster.list_jobs("billing") == []
    assert pauses == [0.4, 0.8, 1.6]


def test_retry_after_is_obeyed(api: ApiServer, cluster: Cluster, pauses: list[float]) -> None:
    api.fail("list", "jobs", 429, headers={"Retry-After": "7"})
    api.fail("list", "jobs", 503, headers={"Retry-After": "soon"})
    assert cluster.list_jobs("billing") == []
    assert pauses == [7, 0.8]


def test_a_retry_after_beyond_all_patience_is_not_waited_for(
    api: ApiServer, cluster: Cluster, pauses: list[float]
) -> None:
    api.fail("list", "jobs", 429, headers={"Retry-After": "3600"})
    with pytest.raises(TryAgain, match="answered 429"):
        cluster.list_jobs("billing")
    assert pauses == []


def test_a_trouble_that_does_not_pass_is_given_up(api: ApiServer, cluster: Cluster) -> None:
    api.fail("get", "jobs", 503, times=99)
    with pytest.raises(TryAgain) as error:
        cluster.get_job("billing", "credit-1")
    assert len(api.requests) == 5
    assert str(error.value) == (
        "the API server answered 503 to get job billing/credit-1: a fault on order. Nothing is "
        "known from that, and nothing was done.\n  The same command may go through in a moment."
    )


def test_another_refusal_is_not_tried_again(api: ApiServer, cluster: Cluster) -> None:
    api.fail("create", "jobs", 422)
    with pytest.raises(K8sjobError, match="answered 422 to create job"):
        cluster.create_job(MANIFEST)
    assert len(api.requests) == 1


def test_a_connection_that_breaks_is_made_again(api: ApiServer, cluster: Cluster) -> None:
    api.fail("list", "jobs", 0, times=2)
    assert cluster.list_jobs("billing") == []


def test_a_server_that_is_not_there_is_unavailable(tmp_path: Path, pauses: list[float]) -> None:
    with serving() as api:
        config = api.kubeconfig(tmp_path)
        address = f"http://127.0.0.1:{api.port}"
    with (
        closing(Cluster.connect(kubeconfig=config, pause=pauses.append)) as cluster,
        pytest.raises(Unavailable) as error,
    ):
        cluster.list_jobs("billing")
    assert f"the API server {address} was not reached to list jobs in namespace billing: " in str(
        error.value
    )
    assert "Connection refused" in str(error.value)
    assert len(pauses) == 4


def test_a_redirect_is_not_followed_with_the_token(api: ApiServer, tmp_path: Path) -> None:
    config = api.kubeconfig(tmp_path, token="secret-token")
    elsewhere = f"http://127.0.0.1:{api.port}/api/v1/namespaces/billing/pods"
    api.fail("list", "jobs", 302, headers={"Location": elsewhere}, body="moved")
    with closing(Cluster.connect(kubeconfig=config)) as cluster:
        with pytest.raises(K8sjobError, match="answered 302") as error:
            cluster.list_jobs("billing")
        assert "secret-token" not in str(error.value)
    assert api.asked() == [("list", "jobs")]


def test_the_body_of_a_strange_answer_is_cut_and_on_one_line(
    api: ApiServer, cluster: Cluster
) -> None:
    api.fail("list", "jobs", 418, body="<html>" + "x" * 5000 + "\nmore")
    with pytest.raises(K8sjobError) as error:
        cluster.list_jobs("billing")
    assert len(str(error.value)) < 600
    assert "more" not in str(error.value)


def test_a_server_that_says_nothing_at_all_is_given_up_by_the_clock(tmp_path: Path) -> None:
    from k8sjob.kube import connect

    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.MonkeyPatch.context() as patch:
        patch.setattr(connect, "_READ_S", 0.05)
        api = ApiServer(port=silent.getsockname()[1])
        config = api.kubeconfig(tmp_path)
        with (
            closing(Cluster.connect(kubeconfig=config, pause=lambda _: None)) as cluster,
            pytest.raises(Unavailable, match="Read timed out"),
        ):
            cluster.list_jobs("billing")
