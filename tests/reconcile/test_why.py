"""Why a period is not done: what the reconciler says of each state of the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.cycle import Cycle
from k8sjob.ledger.watch import LastTry
from k8sjob.period import Period
from k8sjob.reconcile.seen import World, take_census
from k8sjob.reconcile.traces import index, trace
from k8sjob.reconcile.why import why_not_done
from tests.reconcile.conftest import MINUTE, SECOND, cronjob
from tests.reconcile.reasons import HOUR, NAME, pending, unstarted_job, why
from tests.reconcile.things import NOON, PERIOD, ended, failed_job, pod_of, slot_job, waiting

if TYPE_CHECKING:
    from k8sjob.kube.objects import Job

# -------------------------------------------------------------------------------- no Job at all


def test_without_a_job_and_a_reason_the_controller_may_be_down() -> None:
    assert why() == ("no-job", "no Job was created (controller down?)")


@pytest.mark.parametrize(
    ("last_run", "code"),
    [
        (NOON - HOUR, "no-job"),
        (NOON - SECOND, "no-job"),
        (NOON, "job-gone"),
        (NOON + HOUR, "job-gone"),
    ],
)
def test_a_job_is_gone_if_the_controller_has_come_as_far_as_its_slot(
    last_run: Any, code: str
) -> None:
    assert why(cron=cronjob(last_schedule_time=last_run)).code == code


def test_the_jobs_of_other_slots_are_no_reason() -> None:
    assert why(slot_job(NOON - HOUR), slot_job(NOON + HOUR)).code == "no-job"


def test_a_starting_deadline_of_zero_starts_nothing_ever() -> None:
    assert why(cron=cronjob(starting_deadline_s=0, last_schedule_time=NOON)).code == "deadline-zero"
    assert why(cron=cronjob(starting_deadline_s=1)).code == "no-job"


def test_a_job_of_somebody_else_takes_the_name_and_so_the_slot() -> None:
    for owner in (None, "other"):
        found = why(slot_job(NOON, cronjob=owner), cron=cronjob(last_schedule_time=NOON))
        assert found == ("name-taken", f"a Job that is not the CronJob's has the name {NAME}")


def test_a_job_of_that_name_in_another_namespace_takes_nothing() -> None:
    assert why(slot_job(NOON, cronjob=None, namespace="other")).code == "no-job"


# -------------------------------------------------------------------------------------- Forbid

FORBID = cronjob(concurrency="Forbid")
BEFORE = NOON - HOUR


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (slot_job(BEFORE), "ran from 11:00:01Z and runs still"),
        (slot_job(BEFORE, started=None), "ran from 11:00:01Z and runs still"),
        (
            slot_job(BEFORE, finished="Complete", finished_at=NOON + 5 * MINUTE),
            "ran from 11:00:01Z to 12:05:00Z",
        ),
    ],
    ids=["runs", "never started", "ended later"],
)
def test_forbid_drops_a_slot_while_the_job_before_it_runs(before: Job, reason: str) -> None:
    found = why(before, cron=FORBID)
    assert found == ("forbid", f"Forbid: Job {before.name} {reason}")


@pytest.mark.parametrize(
    "before",
    [
        failed_job(BEFORE),
        slot_job(NOON + HOUR),
        slot_job(BEFORE, name="by-hand", annotations={}),
        slot_job(BEFORE, cronjob=None),
        slot_job(BEFORE, name="credit-bf-20260913t1100-0-1", cronjob=None, backfill_of="credit"),
    ],
    ids=["ended before", "began later", "made by hand", "of somebody else", "a backfill"],
)
def test_forbid_is_no_reason_where_no_slot_ran_across_the_fire(before: Job) -> None:
    assert why(before, cron=FORBID).code == "no-job"


@pytest.mark.parametrize(
    ("done_at", "more"),
    [
        (BEFORE + 7 * MINUTE, ", though the ledger has its work as done at 11:07:00Z"),
        (NOON, ""),  # the work itself ran across the slot
        (None, ""),
    ],
    ids=["before the slot", "after it", "not done"],
)
def test_forbid_that_a_job_holds_whose_work_was_done_is_told_as_such(
    done_at: Any, more: str
) -> None:
    before = slot_job(BEFORE)
    done = {Period.at(BEFORE): done_at} if done_at else {Period.at(NOON - 9 * HOUR): BEFORE}
    found = why(before, cron=FORBID, done=done)
    words = f"Forbid: Job {before.name} ran from 11:00:01Z and runs still{more}"
    assert found == ("forbid", words)


@pytest.mark.parametrize("concurrency", ["Allow", "Replace"])
def test_other_policies_start_a_slot_beside_the_one_before(concurrency: str) -> None:
    assert why(slot_job(BEFORE), cron=cronjob(concurrency=concurrency)).code == "no-job"


# ------------------------------------------------------------------------ a Job, and no attempt


def test_a_job_that_runs_without_an_attempt() -> None:
    job = slot_job(NOON)
    found = why(job, pods=[pod_of(job)])
    assert found == ("no-attempt", f"Job {NAME} runs, and no attempt has reached the ledger")


def test_a_job_whose_last_pod_still_terminates_is_not_at_its_end() -> None:
    assert why(failed_job(NOON, terminating=1)).code == "no-attempt"


def test_a_job_that_failed_without_an_attempt_says_why_it_failed() -> None:
    found = why(failed_job(NOON, "DeadlineExceeded"), pods=[pod_of(slot_job(NOON), ended(1))])
    assert found.code == "job-failed"
    assert found.reason.endswith("without an attempt: DeadlineExceeded: Job has reached its limit")


def test_a_failure_without_words_has_no_loose_colon() -> None:
    found = why(slot_job(NOON, active=0, ready=0, finished="Failed"))
    assert found.reason == f"Job {NAME} failed without an attempt: no reason"


def test_a_complete_job_that_claimed_nothing_may_not_start_with_k8sjob() -> None:
    done = slot_job(NOON, active=0, ready=0, finished="Complete", finished_at=NOON + MINUTE)
    found = why(done)
    assert found.code == "unclaimed"
    assert "is Complete and claimed nothing (does its container start with k8sjob?)" in found.reason


def test_of_several_jobs_of_a_day_the_newest_tells() -> None:
    early, late = failed_job(NOON - HOUR), slot_job(NOON)
    for jobs in ((early, late), (late, early)):
        found = why(*jobs, period=Period("2026-09-13"))
        assert (found.code, NAME in found.reason) == ("no-attempt", True)


def test_of_a_slot_and_its_backfill_the_newer_one_tells() -> None:
    again = slot_job(
        NOON + HOUR,
        name="credit-bf-20260913t1200-0-1",
        cronjob=None,
        backfill_of="credit",
        annotations={"k8sjob.io/period": str(PERIOD)},
    )
    assert why(failed_job(NOON), again).reason.startswith(f"Job {again.name} runs")
    late = slot_job(NOON, created=NOON + 2 * HOUR)
    assert why(late, again).reason.startswith(f"Job {NAME} runs")


# ---------------------------------------------------------------------------------- an attempt


def tried(outcome: str | None, exit_code: int | None, message: str | None) -> LastTry:
    return LastTry(outcome=outcome, exit_code=exit_code, message=message)


OOM = tried("failed", 137, "\n OOMKilled: the container\nTraceback")


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        (OOM, "failed 137: OOMKilled: the container"),
        (tried("failed", 0, "no rows"), "failed: no rows"),
        (tried("blocked", 0, f"billing/credit:{PERIOD} blocked: no feed"), "blocked: no feed"),
        (tried("failed", 1, "the call failed: no answer"), "failed 1: the call failed: no answer"),
        (tried("lost", None, " \n "), "lost: it left no message"),
        (tried(None, None, None), "no end: it left no message"),
    ],
)
def test_a_failed_attempt_tells_by_its_first_line(last: LastTry, reason: str) -> None:
    assert why(failed_job(NOON), last=last) == ("attempt-failed", reason)


def test_an_attempt_tells_more_than_the_job_of_it_unless_the_next_pod_cannot_start() -> None:
    assert why(slot_job(NOON), last=OOM).code == "attempt-failed"
    assert why(last=OOM, cron=FORBID).code == "attempt-failed"
    stuck = [pending(waiting("ImagePullBackOff"))]
    assert why(unstarted_job(), pods=stuck, last=OOM).code == "created-never-started"


# ----------------------------------------------------------------------------- nobody can tell


def test_a_fire_around_an_edit_is_uncertain_unless_there_is_a_trace_of_it() -> None:
    found = why(uncertain=True, cron=cronjob(starting_deadline_s=0))
    assert found == ("uncertain", "schedule uncertain: it was changed around that time")
    assert why(slot_job(NOON), uncertain=True).code == "no-attempt"
    assert why(last=OOM, uncertain=True).code == "attempt-failed"


def test_of_a_cronjob_that_is_gone_only_an_attempt_tells_more() -> None:
    there = index(World(jobs=[failed_job(NOON)]))
    found = why_not_done(PERIOD, NOON, traces=None, there=there, last=None, uncertain=True)
    assert found == ("gone", "its CronJob or its label is gone")
    assert why_not_done(PERIOD, NOON, traces=None, there=there, last=OOM).code == "attempt-failed"


def test_where_the_jobs_could_not_be_listed_only_an_attempt_tells() -> None:
    found = why_not_done(PERIOD, NOON, traces=None, there=None, last=None)
    assert found == ("unknown", "due, and the Jobs could not be listed to see why")
    assert why_not_done(PERIOD, NOON, traces=None, there=None, last=OOM).code == "attempt-failed"


def test_without_an_instant_of_a_fire_no_slot_is_looked_for() -> None:
    cron = cronjob(concurrency="Forbid", last_schedule_time=NOON)
    there = index(World(jobs=[slot_job(BEFORE)]))
    named = [(one, Cycle.ONCE) for one in take_census([cron]).named.values()]
    traces = trace(named, there, ())["billing/credit"]
    other = Period("2026-09-13")
    assert why_not_done(other, None, traces=traces, there=there, last=None).code == "no-job"
