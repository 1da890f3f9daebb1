"""Every state, and what is done about it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from k8sjob.backfill.plan import Action
from tests.backfill.given import (
    NOW,
    TRACKED,
    asked,
    at,
    attempt,
    basis,
    hold,
    launch,
    one,
    plan,
    row,
    told,
)
from tests.kube.made import job

DAY = "2026-09-11"
NAME = "credit-bf-20260911-0-1"


def backfill(name: str = NAME, period: str = f"{DAY}T00:00:00Z", **given: Any) -> dict[str, Any]:
    return job(
        f"billing/{name}",
        labels={"k8sjob.io/backfill": "true", "k8sjob.io/cronjob": "credit"},
        annotations={"k8sjob.io/job": "billing/credit", "k8sjob.io/period": period},
        **given,
    )


def test_the_lines_are_those_of_the_sketch() -> None:
    done = {"done_at": at("2026-09-10T00:00:09Z")}
    made = plan(asked("2026-09-10", "2026-09-14"), rows=[row("2026-09-10", "done", **done)])
    assert [(x.label, str(x.action), x.job, x.reason) for x in made.lines] == [
        ("2026-09-10T00:00:00Z", "skip", None, "done 2026-09-10 00:00:09Z"),
        ("2026-09-11T00:00:00Z", "create", "credit-bf-20260911-0-1", "missing"),
        ("2026-09-12T00:00:00Z", "create", "credit-bf-20260912-0-1", "missing"),
        ("2026-09-13T00:00:00Z", "create", "credit-bf-20260913-0-1", "missing"),
        ("2026-09-14T00:00:00Z", "refuse", None, "in the future (in 5h)"),
    ]


SETTLED: dict[str, tuple[dict[str, Any], str]] = {
    "done": ({"done_at": at("2026-09-11T00:00:09Z")}, "done 2026-09-11 00:00:09Z"),
    "skipped": ({"reason": "bank\nholiday"}, "skipped: bank holiday"),
    "awaiting": ({"reason": "sent to the bank"}, "awaiting: sent to the bank"),
    "blocked": ({"reason": "card declined"}, "blocked: card declined"),
}


@pytest.mark.parametrize("state", list(SETTLED))
def test_a_period_that_is_settled_is_left_alone_and_the_reason_is_said(state: str) -> None:
    columns, why = SETTLED[state]
    line = one(DAY, rows=[row(DAY, state, **columns)])
    assert (line.action, line.reason, line.job) == (Action.SKIP, why, None)


def test_a_block_says_until_when_and_is_none_once_its_time_is_up() -> None:
    until = {"reason": "card declined", "until": NOW + timedelta(hours=1)}
    line = one(DAY, rows=[row(DAY, "blocked", **until)])
    assert line.reason == "blocked until 2026-09-13 20:00:00Z: card declined"
    lapsed = until | {"until": NOW - timedelta(seconds=1)}
    assert one(DAY, rows=[row(DAY, "blocked", **lapsed)]).action is Action.CREATE


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({}, "missing"),
        ({"reason": "no Job was created"}, "missing: no Job was created"),
        ({"uncertain": True}, "missing (schedule uncertain)"),
        ({"origin": "target", "deadline_at": NOW + timedelta(hours=1)}, "due"),
    ],
)
def test_an_open_period_is_created_and_its_row_says_why(
    columns: dict[str, Any], reason: str
) -> None:
    line = one(DAY, rows=[row(DAY, "open", **columns)])
    assert (line.action, line.job, line.reason) == (Action.CREATE, NAME, reason)


def test_a_period_without_a_row_is_missing_once_its_deadline_has_passed() -> None:
    hourly = basis(done_until=None)
    assert one(DAY, hourly).reason == "missing"
    fresh = basis(cycle=hourly.cycle, done_until=None, grace_s=86_400.0)
    assert one("2026-09-13", fresh).reason == "due"


def test_a_period_that_may_not_have_been_meant_says_so() -> None:
    from tests.backfill.given import version

    edited = version(
        earliest_from=at("2026-09-10T12:00:00Z"), valid_from=at("2026-09-11T12:00:00Z")
    )
    assert one(DAY, basis(edited)).reason == "missing (schedule uncertain)"


def test_a_failed_attempt_is_told() -> None:
    ended = {"ended_at": NOW, "outcome": "failed", "exit_code": 1}
    assert one(DAY, attempts=[attempt(DAY, **ended)]).reason == "missing: last attempt failed 1"


def test_a_period_that_somebody_is_at_is_waited_for() -> None:
    line = one(DAY, attempts=[attempt(DAY, pod_name="credit-1-x2v")])
    assert line.action is Action.WAIT
    assert line.reason == (
        "runs already: attempt 0199a1c4-0000 since 2026-09-13 18:59:00Z in Pod credit-1-x2v"
    )


def test_an_attempt_that_gave_no_sign_of_life_keeps_nobody_from_it() -> None:
    old = attempt(DAY, started_at=NOW - timedelta(hours=1))
    line = one(DAY, attempts=[old])
    assert (line.action, line.reason) == (Action.CREATE, "missing: last attempt no end")


UNDER_WAY: dict[str, tuple[dict[str, Any], str]] = {
    "a backfill that runs": (backfill(), NAME),
    "a backfill that was made and has no Pod yet": (backfill(active=0), NAME),
    "a backfill whose Pod still terminates": (
        backfill(end="Failed", terminating=1),
        NAME,
    ),
    "a backfill that is being deleted": (backfill(end="Failed", deleting=NOW), NAME),
    "the scheduled Job": (
        job("billing/credit-29818080", owner="billing/credit", scheduled=f"{DAY}T00:00:00Z"),
        "credit-29818080",
    ),
    "the scheduled Job of a controller that writes no timestamp": (
        job("billing/credit-29818080", owner="billing/credit"),
        "credit-29818080",
    ),
    "the scheduled Job, whatever is written on it": (
        job("billing/credit-29818080", owner="billing/credit", scheduled="yesterday"),
        "credit-29818080",
    ),
}


@pytest.mark.parametrize("case", list(UNDER_WAY))
def test_a_job_of_the_period_that_is_not_over_is_waited_for(case: str) -> None:
    raw, name = UNDER_WAY[case]
    line = one(DAY, jobs=[raw])
    assert (line.action, line.job) == (Action.WAIT, name)
    assert line.reason == ("is being deleted" if "deleted" in case else "runs already")


STRANGERS: dict[str, dict[str, Any]] = {
    "of another CronJob": job(
        "billing/credit-29818080", owner="billing/other", scheduled=f"{DAY}T00:00:00Z"
    ),
    "with a period that its name does not bear out": backfill("credit-1"),
    "of another period": backfill("credit-bf-20260912-0-1", "2026-09-12T00:00:00Z"),
    "with a timestamp that its name does not bear out": job(
        "billing/credit-by-hand", owner="billing/credit", scheduled=f"{DAY}T00:00:00Z"
    ),
    "with a garbled period": backfill(period="yesterday"),
    "that is over": job(
        "billing/credit-29818080",
        owner="billing/credit",
        scheduled=f"{DAY}T00:00:00Z",
        end="Complete",
    ),
}


@pytest.mark.parametrize("case", list(STRANGERS))
def test_a_job_that_does_not_stand_for_the_period_is_passed_over(case: str) -> None:
    line = one(DAY, jobs=[STRANGERS[case]])
    assert (line.action, line.job) == (Action.CREATE, NAME)


def test_a_held_job_is_left_alone() -> None:
    line = one(DAY, holds=[hold(until=NOW + timedelta(hours=1))])
    assert (line.action, line.reason) == (
        Action.SKIP,
        "held until 2026-09-13 20:00:00Z: maintenance",
    )
    assert one(DAY, holds=[hold(namespace="ops")]).action is Action.CREATE
    assert one(DAY, holds=[hold(until=NOW)]).action is Action.CREATE


def test_a_period_that_was_pruned_is_never_done_again() -> None:
    known = basis(floor="2026-09-11T00:00:00Z")
    line = one(DAY, known)
    assert line.action is Action.REFUSE
    assert line.reason.startswith("expired: pruned up to 2026-09-11T00:00:00Z")
    assert one("2026-09-12", known).action is Action.CREATE
    assert one(DAY, known, rows=[row(DAY, "open")]).action is Action.CREATE


# -------------------------------------------------------------------------------------- numbers

NUMBERS: dict[str, tuple[dict[str, Any], int, str]] = {
    "none before": ({}, 1, "missing"),
    "noted, and never created": ({"launches": [launch(DAY, 1, uid=None)]}, 1, "missing"),
    "created, and gone since": ({"launches": [launch(DAY, 1)]}, 2, "missing"),
    "failed for good": (
        {"jobs": [backfill(end="Failed")], "launches": [launch(DAY, 1)]},
        2,
        f"missing; {NAME} failed: BackoffLimitExceeded",
    ),
    "failed, and never noted": (
        {"jobs": [backfill(end="Failed", reason="DeadlineExceeded")]},
        2,
        f"missing; {NAME} failed: DeadlineExceeded",
    ),
    "complete, and not done all the same": (
        {"jobs": [backfill(end="Complete")]},
        2,
        f"missing; {NAME} is Complete, and the period is not done",
    ),
    "the third, the second noted only": (
        {"jobs": [backfill(end="Failed")], "launches": [launch(DAY, 1), launch(DAY, 2, uid=None)]},
        2,
        "missing",
    ),
    "more Jobs than notes": (
        {
            "jobs": [backfill(end="Failed"), backfill("credit-bf-20260911-0-4", end="Failed")],
            "launches": [launch(DAY, 1)],
        },
        5,
        "missing; credit-bf-20260911-0-4 failed: BackoffLimitExceeded",
    ),
    "of another generation": ({"launches": [launch(DAY, 7, generation=1)]}, 1, "missing"),
}


@pytest.mark.parametrize("case", list(NUMBERS))
def test_the_next_try_has_the_next_number(case: str) -> None:
    there, number, reason = NUMBERS[case]
    line = one(DAY, **there)
    assert (line.action, line.try_, line.job) == (
        Action.CREATE,
        number,
        f"credit-bf-20260911-0-{number}",
    )
    assert line.reason == reason


def test_a_period_that_was_opened_again_counts_its_tries_anew() -> None:
    again = row(DAY, "open", generation=1, reason="credited to the wrong account, undone")
    line = one(DAY, rows=[again], jobs=[backfill(end="Complete")], launches=[launch(DAY, 1)])
    assert (line.job, line.generation, line.try_) == ("credit-bf-20260911-1-1", 1, 1)
    assert line.reason == "missing: credited to the wrong account, undone"


# ---------------------------------------------------------------------------------------- bounds


def test_what_is_beyond_the_bound_is_listed_as_left() -> None:
    made = plan(
        asked("2026-09-09", "2026-09-13", most=2),
        rows=[row("2026-09-10", "done", done_at=NOW)],
    )
    assert told(made) == [
        ("2026-09-09T00:00:00Z", "create"),
        ("2026-09-10T00:00:00Z", "skip"),
        ("2026-09-11T00:00:00Z", "create"),
        ("2026-09-12T00:00:00Z", "left"),
        ("2026-09-13T00:00:00Z", "left"),
    ]
    assert made.lines[-1].reason == "--max 2: the same command again goes on"
    assert made.lines[-1].job is None


def test_what_is_refused_does_not_count_against_the_bound() -> None:
    made = plan(asked("2026-09-12", "2026-09-15", most=2))
    assert [action for _, action in told(made)] == ["create", "create", "refuse", "refuse"]


def test_runs_in_this_process_have_no_jobs() -> None:
    made = plan(asked(DAY, local=True), basis(cronjob=None))
    (line,) = made.lines
    assert (line.action, line.job, line.reason) == (Action.RUN, None, "missing")


def test_the_job_of_a_natural_period_is_found_by_its_fire() -> None:
    from k8sjob.period import Cycle
    from tests.backfill.given import cron, version

    rome = version("0 23 * * *", "Europe/Rome")
    known = basis(rome, cycle=Cycle.DAY, cronjob=cron("0 23 * * *", zone="Europe/Rome"))
    fire = "2026-09-11T21:00:00Z"
    there = job("billing/credit-29819340", owner="billing/credit", scheduled=fire)
    (line,) = plan(asked(DAY), known, jobs=[there]).lines
    assert (line.label, line.action, line.job) == (DAY, Action.WAIT, "credit-29819340")
    assert at(fire).timestamp() // 60 == 29_819_340
    assert at(fire) > TRACKED
