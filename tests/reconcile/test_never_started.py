"""A Job that was created and never started, and one that may start any moment."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from k8sjob.reconcile.seen import World
from k8sjob.reconcile.traces import index
from k8sjob.reconcile.why import unstarted
from tests.reconcile.reasons import NAME, pending, told, unstarted_job, why
from tests.reconcile.things import NOON, failed_job, pod_of, slot_job, waiting

if TYPE_CHECKING:
    from k8sjob.kube.objects import Job, Pod


@pytest.mark.parametrize(
    ("reason", "message", "words"),
    [
        ("ImagePullBackOff", 'Back-off pulling image "billing:1.3"', None),
        ("ErrImagePull", "manifest unknown", None),
        ("CreateContainerConfigError", 'secret "ledger" not found', None),
        ("ContainerCreating", "", "ContainerCreating"),
    ],
)
def test_a_container_that_waits_is_a_job_that_never_started(
    reason: str, message: str, words: str | None
) -> None:
    found = why(unstarted_job(), pods=[pending(waiting(reason, message))])
    said = words or f"{reason}: {message}"
    assert found == ("created-never-started", f"Job {NAME}: Pod {NAME}-x2v: {said}")


def test_a_pod_for_which_there_is_no_node_never_started() -> None:
    pod = pending(waiting("ContainerCreating"), unschedulable="0/1 nodes: Insufficient memory")
    found = why(unstarted_job(), pods=[pod])
    assert found.code == "created-never-started"
    assert found.reason.endswith("-x2v: Unschedulable: 0/1 nodes: Insufficient memory")


def test_an_init_container_in_trouble_is_told_before_those_that_wait_for_it() -> None:
    pod = pending(
        waiting("PodInitializing"),
        init_trouble=(replace(waiting("ImagePullBackOff", "no such image"), name="init"),),
    )
    found = why(unstarted_job(), pods=[pod])
    assert found.code == "created-never-started"
    assert found.reason.endswith("ImagePullBackOff: no such image")


def test_a_job_that_can_create_no_pod_says_so_by_its_last_event() -> None:
    refused = 'pods "credit-" is forbidden: error looking up service account billing/credit'
    events = [
        told("FailedCreate", "exceeded quota"),
        told("FailedCreate", refused),
        told("SuccessfulCreate", "Created pod"),
        told("FailedCreate", "not this one", about="Job/other"),
        told("FailedCreate", "not this kind", about=f"CronJob/{NAME}"),
    ]
    found = why(unstarted_job(active=0), events=events)
    assert found == ("created-never-started", f"Job {NAME}: no Pod: FailedCreate: {refused}")


@pytest.mark.parametrize(
    ("job", "pods"),
    [
        (unstarted_job(), []),
        (unstarted_job(active=0), []),
        (unstarted_job(), [pending()]),
        (unstarted_job(), [pending(waiting("PodInitializing"))]),
        (unstarted_job(), [pod_of(slot_job(NOON))]),
        (slot_job(NOON), [pending(waiting("ImagePullBackOff"))]),
        (unstarted_job(suspended=True), [pending(waiting("ImagePullBackOff"))]),
        (
            unstarted_job(),
            [pending(waiting("ImagePullBackOff")), pod_of(slot_job(NOON), uid="2", name="2")],
        ),
        (failed_job(NOON), [pending(waiting("ImagePullBackOff"))]),
    ],
    ids=[
        "its Pods are not listed yet",
        "no Pod and no event",
        "nothing said yet",
        "init containers run",
        "runs",
        "another Pod is ready",
        "suspended",
        "one of two runs",
        "finished",
    ],
)
def test_a_job_that_may_start_any_moment_is_not_stuck(job: Job, pods: list[Pod]) -> None:
    assert unstarted(job, index(World(jobs=[job], pods=pods))) is None
