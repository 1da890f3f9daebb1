"""Which period has something under way: a Job, or a Pod that has outlived its Job."""

from __future__ import annotations

import pytest

from k8sjob.cycle import Cycle
from k8sjob.kube.names import slot_name
from k8sjob.kube.objects import Container, Job
from k8sjob.period import Period
from k8sjob.reconcile.seen import World, take_census
from k8sjob.reconcile.traces import index, trace
from tests.reconcile.conftest import JOB, cronjob
from tests.reconcile.things import (
    DAY,
    NOON,
    OLDER,
    PERIOD,
    backfill,
    by_hand,
    failed_job,
    pod_of,
    slot_job,
    traces_of,
)


@pytest.mark.parametrize(
    ("job", "live"),
    [
        (slot_job(NOON), True),
        (failed_job(NOON), False),
        (failed_job(NOON, terminating=1), True),
        (failed_job(NOON, deleting=True), True),
    ],
    ids=["active", "finished", "terminates", "is being deleted"],
)
def test_a_period_is_live_until_nothing_of_its_job_is_left(
    job: Job,
    live: bool,  # noqa: FBT001  # a column
) -> None:
    found = traces_of(job)
    assert (found.is_live(PERIOD), found.is_busy) == (live, live)
    assert not found.is_live(Period(OLDER))


def test_a_job_made_by_hand_makes_the_cronjob_busy_and_no_period_live() -> None:
    found = traces_of(by_hand("by-hand"))
    assert (found.is_busy, found.is_live(PERIOD)) == (True, False)


# -------------------------------------------------------------------- Pods that outlive their Job


@pytest.mark.parametrize(
    ("phase", "live"),
    [("Running", True), ("Pending", True), ("Succeeded", False), ("Failed", False)],
)
def test_a_pod_that_outlives_its_job_keeps_the_slot_live(
    phase: str,
    live: bool,  # noqa: FBT001  # a column
) -> None:
    found = traces_of(pods=[pod_of(slot_job(NOON), phase=phase)])
    assert (found.is_live(PERIOD), found.is_busy, found.jobs) == (live, live, [])


def test_a_pod_whose_job_is_there_has_not_outlived_it() -> None:
    job = failed_job(NOON)
    assert traces_of(job, pods=[pod_of(job)]).outlived == set()


def test_a_job_of_that_name_in_another_namespace_does_not_hide_a_pod() -> None:
    found = traces_of(failed_job(NOON, namespace="other"), pods=[pod_of(slot_job(NOON))])
    assert found.outlived == {PERIOD}


@pytest.mark.parametrize("zone", [None, "Pacific/Auckland"])
def test_a_pod_that_outlives_its_job_keeps_the_day_live(zone: str | None) -> None:
    pods = [pod_of(slot_job(NOON))]
    found = traces_of(pods=pods, cycle=Cycle.DAY, cron=cronjob(zone=zone))
    assert found.outlived == {Period("2026-09-14") if zone else DAY}


@pytest.mark.parametrize(
    "job",
    [
        slot_job(NOON, name="by-hand"),
        slot_job(NOON, name=slot_name("other", NOON)),
        slot_job(NOON, name="credit-09818080"),
        slot_job(NOON, namespace="other"),
        backfill(PERIOD, name="other-bf-20260913t1200-0-1"),
        backfill(PERIOD, namespace="other"),
    ],
    ids=[
        "by hand",
        "another CronJob's",
        "no slot",
        "another namespace",
        "another's backfill",
        "its backfill",
    ],
)
def test_pods_of_others_outlive_nothing_of_ours(job: Job) -> None:
    found = traces_of(pods=[pod_of(job)], unfinished=[f"{JOB}:{PERIOD}"])
    assert found.outlived == set()


def test_the_pod_of_a_backfill_keeps_the_unfinished_period_live_that_its_name_is_of() -> None:
    pods = [pod_of(backfill(PERIOD, 2, 3))]
    keys = [f"{JOB}:{OLDER}", f"{JOB}:{PERIOD}", f"billing/other:{PERIOD}"]
    assert traces_of(pods=pods, unfinished=keys).outlived == {PERIOD}
    assert traces_of(pods=pods).outlived == set()


def test_one_running_pod_among_ended_ones_is_enough() -> None:
    job = slot_job(NOON)
    dead = pod_of(job, Container(name="main"), phase="Failed", name="dead", uid="dead")
    assert traces_of(pods=[dead, pod_of(job)]).outlived == {PERIOD}


def test_in_a_zone_that_nobody_knows_a_pod_breaks_no_other_job() -> None:
    lost = cronjob(name="lost", uid="uid-2", zone="Mars/Olympus")
    named = [(one, Cycle.DAY) for one in take_census([cronjob(), lost]).named.values()]
    pods = [pod_of(slot_job(NOON, name=slot_name(name, NOON))) for name in ("lost", "credit")]
    found = trace(named, index(World(jobs=(), pods=pods)), ())
    assert found[JOB].outlived == {DAY}
    assert found["billing/lost"].outlived == set()
