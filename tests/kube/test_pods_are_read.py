from __future__ import annotations

from datetime import UTC, datetime

import pytest

from k8sjob.kube.objects import Container, Pod, Terminated, UnreadableObject, Waiting
from tests.kube.made import MADE, uid
from tests.kube.made_pods import container, pod

JOB = "billing/credit-1"


def test_a_running_pod_names_its_job() -> None:
    read = Pod.parse(pod("billing/credit-1-x2v", of=JOB))
    assert (read.job, read.job_uid) == ("credit-1", uid("job", JOB))
    assert (read.phase, read.node, read.created) == ("Running", "node-1", MADE)
    assert read.containers == (Container(name="main", running_since=MADE),)
    assert (read.reason, read.unschedulable, read.disruption) == (None, None, None)


def test_the_older_labels_name_the_job_as_well() -> None:
    raw = pod("billing/credit-1-x2v", of=JOB)
    raw["metadata"]["labels"] = {"job-name": "credit-1", "controller-uid": "0d5e"}
    assert (Pod.parse(raw).job, Pod.parse(raw).job_uid) == ("credit-1", "0d5e")


def test_a_pod_of_no_job_has_none() -> None:
    assert Pod.parse(pod("billing/web-0")).job is None


def test_the_end_of_a_container_is_read_whole() -> None:
    statuses = [container("main", ended=(137, "OOMKilled"), restarts=1, told="bye")]
    (read,) = Pod.parse(pod("billing/p", containers=statuses)).containers
    assert read.terminated == Terminated(
        exit_code=137, reason="OOMKilled", message="bye", started=MADE, finished=MADE
    )
    assert (read.waiting, read.running_since, read.restarts) == (None, None, 1)


def test_the_end_of_the_run_before_is_kept() -> None:
    statuses = [container("main", running="2026-09-01T00:10:00Z", ended_before=(1, "Error"))]
    (read,) = Pod.parse(pod("billing/p", containers=statuses)).containers
    assert read.running_since == datetime(2026, 9, 1, 0, 10, tzinfo=UTC)
    assert read.last_terminated
    assert read.last_terminated.exit_code == 1
    assert read.terminated is None


def test_an_exit_by_signal_keeps_it() -> None:
    raw = pod("billing/p", containers=[container("main", ended=(143, "Error"))])
    raw["status"]["containerStatuses"][0]["state"]["terminated"]["signal"] = 15
    (read,) = Pod.parse(raw).containers
    assert read.terminated
    assert read.terminated.signal == 15


@pytest.mark.parametrize(
    "reason", ["ErrImagePull", "ImagePullBackOff", "CreateContainerConfigError"]
)
def test_a_container_that_cannot_start_says_why(reason: str) -> None:
    statuses = [container("main", waiting=(reason, "no such image"))]
    (read,) = Pod.parse(pod("billing/p", phase="Pending", containers=statuses)).containers
    assert read.waiting == Waiting(reason, "no such image")
    assert read.is_in_trouble


def test_a_pod_without_a_node_says_what_the_scheduler_says() -> None:
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/1 nodes are available",
    }
    read = Pod.parse(pod("billing/p", phase="Pending", conditions=[condition], containers=[]))
    assert read.unschedulable == "0/1 nodes are available"
    condition["status"] = "True"
    assert Pod.parse(pod("billing/p", conditions=[condition])).unschedulable is None


def test_an_evicted_pod_says_so_twice() -> None:
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
    }
    raw = pod(
        *("billing/p",),
        phase="Failed",
        reason="Evicted",
        message="low on memory",
        conditions=[condition],
    )
    read = Pod.parse(raw)
    assert (read.reason, read.message) == ("Evicted", "low on memory")
    assert read.disruption == "EvictionByEvictionAPI"


def test_the_end_of_a_native_sidecar_is_no_trouble() -> None:
    init = [container("k8sjob", ended=(137, "Error")), container("mesh", ended=(3, "Error"))]
    raw = pod("billing/p", init=init, sidecars=("k8sjob", "mesh"))
    assert Pod.parse(raw).init_trouble == ()


def test_an_init_container_that_failed_is_trouble_and_one_that_went_well_is_none() -> None:
    init = [
        container("resolve", ended=(66, "Error")),
        container("migrate", ended=(0, "Completed")),
        container("wait", waiting=("PodInitializing", None)),
        container("pull", waiting=("ImagePullBackOff", "no such image")),
    ]
    trouble = Pod.parse(pod("billing/p", phase="Pending", init=init)).init_trouble
    assert [c.name for c in trouble] == ["resolve", "pull"]


def test_an_init_container_that_is_tried_again_after_a_failure_is_trouble() -> None:
    init = [
        container("resolve", waiting=("CrashLoopBackOff", "back-off"), ended_before=(66, "Error"))
    ]
    (trouble,) = Pod.parse(pod("billing/p", init=init)).init_trouble
    assert trouble.last_terminated
    assert trouble.last_terminated.exit_code == 66


def test_an_init_container_that_went_well_after_a_failure_is_no_trouble() -> None:
    init = [container("resolve", ended=(0, "Completed"), ended_before=(75, "Error"))]
    assert Pod.parse(pod("billing/p", init=init)).init_trouble == ()


def test_a_pod_without_a_uid_is_refused_by_its_name() -> None:
    raw = pod("billing/credit-1-x2v")
    del raw["metadata"]["uid"]
    with pytest.raises(UnreadableObject, match=r"Pod billing/credit-1-x2v cannot be read: meta"):
        Pod.parse(raw)
