"""Which periods lie between two ends, both of them in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from k8sjob.backfill.plan import Action
from k8sjob.errors import InvalidKey, InvalidSchedule, NoPeriod, UsageError
from k8sjob.period import Cycle
from tests.backfill.given import NOW, TRACKED, asked, at, basis, plan, row, told, version

if TYPE_CHECKING:
    from k8sjob.backfill.basis import Basis


def labels(start: str, end: str, known: Basis) -> list[str]:
    return [line.label for line in plan(asked(start, end), known).lines]


@pytest.mark.parametrize(
    ("start", "end", "found"),
    [
        ("2026-09-10T02:15:00Z", "2026-09-12T02:15:00Z", ["10", "11", "12"]),
        ("2026-09-10T02:15:01Z", "2026-09-12T02:14:59Z", ["11"]),
        ("2026-09-10", "2026-09-12", ["10", "11", "12"]),
        ("2026-09-10T02:15:01Z", "2026-09-12", ["11", "12"]),
        ("2026-09-10", "2026-09-10", ["10"]),
        ("2026-W37", "2026-W37", ["07", "08", "09", "10", "11", "12", "13"]),
    ],
)
def test_both_ends_of_a_schedule_are_in(start: str, end: str, found: list[str]) -> None:
    known = basis(version("15 2 * * *"))
    assert labels(start, end, known) == [f"2026-09-{day}T02:15:00Z" for day in found]


def test_a_day_is_one_of_the_jobs_zone() -> None:
    known = basis(version("30 * * * *", "Asia/Kolkata"))
    found = labels("2026-09-10", "2026-09-10", known)
    assert (found[0], found[-1], len(found)) == (
        "2026-09-09T19:00:00Z",
        "2026-09-10T18:00:00Z",
        24,
    )


def test_a_month_is_a_range_of_a_schedule_too() -> None:
    earlier = version(earliest_from=at("2026-01-01T00:00:00Z"), valid_from=TRACKED)
    assert len(labels("2026-08", "2026-08", basis(earlier))) == 31


def test_the_hour_that_happens_twice_has_two_periods() -> None:
    known = basis(version("30 2 * * *", "Europe/Berlin"))
    known = replace(known, now=at("2026-11-01T00:00:00Z"))
    assert labels("2026-10-24", "2026-10-26", known) == [
        "2026-10-24T00:30:00Z",
        "2026-10-25T00:30:00Z",
        "2026-10-25T01:30:00Z",
        "2026-10-26T01:30:00Z",
    ]


def test_the_hour_that_does_not_exist_has_none() -> None:
    known = basis(version("30 2 * * *", "Europe/Berlin"))
    known = replace(known, now=at("2027-04-01T00:00:00Z"))
    assert labels("2027-03-27", "2027-03-29", known) == [
        "2027-03-27T01:30:00Z",
        "2027-03-29T00:30:00Z",
    ]


def test_each_version_counts_its_own_time() -> None:
    edit = at("2026-09-11T12:00:00Z")
    old = version("0 1 * * *", valid_to=edit, earliest_to=edit)
    new = version("0 3 * * *", n=2, earliest_from=edit, valid_from=edit)
    assert labels("2026-09-10", "2026-09-13", basis(old, new)) == [
        "2026-09-10T01:00:00Z",
        "2026-09-11T01:00:00Z",
        "2026-09-12T03:00:00Z",
        "2026-09-13T03:00:00Z",
    ]


def test_periods_of_a_suspension_are_listed_and_left_alone() -> None:
    since, until = at("2026-09-10T12:00:00Z"), at("2026-09-12T12:00:00Z")
    before = version(valid_to=since, earliest_to=since)
    during = version(
        n=2,
        suspended=True,
        earliest_from=since,
        valid_from=since,
        valid_to=until,
        earliest_to=until,
    )
    after = version(n=3, earliest_from=until, valid_from=until)
    known = basis(before, during, after)
    made = plan(asked("2026-09-10", "2026-09-13"), known)
    assert [action for _, action in told(made)] == ["create", "skip", "skip", "create"]
    assert made.lines[1].reason == (
        "the CronJob was suspended then; name this one alone to run it all the same"
    )
    (alone,) = plan(asked("2026-09-11T00:00:00Z"), known).lines
    assert alone.action is Action.CREATE


def test_a_suspended_period_that_was_opened_by_a_person_is_done() -> None:
    known = basis(version(suspended=True))
    (line,) = plan(asked("2026-09-11"), known, rows=[row("2026-09-11", "open")]).lines
    assert line.action is Action.CREATE


# ------------------------------------------------------------------------------ natural periods


def daily(expr: str = "0 */6 * * *", zone: str = "Europe/Rome") -> Basis:
    return basis(version(expr, zone), cycle=Cycle.DAY)


def test_days_are_counted_with_both_ends_in() -> None:
    assert labels("2026-09-10", "2026-09-12", daily()) == [
        "2026-09-10",
        "2026-09-11",
        "2026-09-12",
    ]


def test_days_without_a_fire_are_not_expected() -> None:
    working = daily("0 6 * * 1-5")
    assert labels("2026-09-04", "2026-09-08", working) == ["2026-09-04", "2026-09-07", "2026-09-08"]


def test_weeks_and_months_are_counted() -> None:
    weekly = replace(daily("0 6 * * 3"), cycle=Cycle.WEEK)
    assert labels("2026-W36", "2026-W37", weekly) == ["2026-W36", "2026-W37"]
    monthly = replace(daily("0 6 1 * *"), cycle=Cycle.MONTH)
    assert labels("2026-09", "2026-09", monthly) == ["2026-09"]


def test_a_day_whose_first_fire_is_still_to_come_is_refused() -> None:
    known = daily("0 23 * * *", "Etc/UTC")
    (line,) = plan(asked("2026-09-13"), known).lines
    assert (line.action, line.reason) == (
        Action.REFUSE,
        "its first fire is still to come (in 4h)",
    )


def test_tomorrow_is_in_the_future() -> None:
    (line,) = plan(asked("2026-09-14"), daily()).lines
    assert (line.action, line.reason) == (Action.REFUSE, "in the future (in 3h)")


def test_without_a_schedule_days_go_by_the_calendar() -> None:
    known = replace(basis(cycle=Cycle.DAY, tracked=False), versions=(), zone=None)
    made = plan(asked("2026-09-12", "2026-09-16"), known)
    # Somewhere on Earth the 14th has begun: without a zone it may be done.
    assert [action for _, action in told(made)] == ["create", "create", "create", *["refuse"] * 2]


def test_once_is_a_period() -> None:
    (line,) = plan(asked("once"), basis(cycle=Cycle.ONCE)).lines
    assert (line.label, line.action) == ("once", Action.CREATE)


# ------------------------------------------------------------------------------ what is refused


def test_the_future_begins_five_minutes_ahead() -> None:
    minutes = basis(version("* * * * *"))
    made = plan(asked("2026-09-13T19:04:00Z", "2026-09-13T19:06:00Z"), minutes)
    assert [action for _, action in told(made)] == ["create", "create", "refuse"]


def test_a_period_off_the_schedule_is_refused_and_the_next_fire_is_named() -> None:
    (line,) = plan(asked("2026-09-11T00:01:00Z")).lines
    assert (line.action, line.reason) == (
        Action.REFUSE,
        "not on the schedule; the next fire is 2026-09-12T00:00:00Z",
    )


def test_a_period_older_than_the_first_known_schedule_is_refused() -> None:
    (line,) = plan(asked("2026-08-11T00:00:00Z")).lines
    assert (line.action, line.reason) == (
        Action.REFUSE,
        "older than the job's first known schedule, of 2026-09-01 00:00:00Z",
    )


@pytest.mark.parametrize("text", ["2026-09-11T00:01:00Z", "2026-08-11T00:00:00Z"])
def test_a_person_may_insist_on_a_period_off_the_schedule(text: str) -> None:
    (line,) = plan(asked(text, off_schedule=True, reason="the old system's last run")).lines
    assert (line.action, line.reason) == (
        Action.CREATE,
        "off the schedule: the old system's last run",
    )


def test_nobody_may_insist_on_the_future() -> None:
    (line,) = plan(asked("2026-09-20T00:00:00Z", off_schedule=True, reason="now")).lines
    assert line.action is Action.REFUSE


def test_a_day_off_the_schedule_is_refused_where_it_is_named_alone() -> None:
    (line,) = plan(asked("2026-09-06"), daily("0 6 * * 1-5")).lines
    assert line.reason == "not on the schedule; the next fire is 2026-09-07T04:00:00Z"


def test_a_range_that_begins_before_the_first_known_schedule_says_so() -> None:
    made = plan(asked("2026-08-20", "2026-09-03"))
    assert told(made) == [
        ("up to 2026-09-01 00:00:00Z", "refuse"),
        ("2026-09-02T00:00:00Z", "create"),
        ("2026-09-03T00:00:00Z", "create"),
    ]
    assert made.lines[0].reason == (
        "older than the job's first known schedule (the job is tracked since then)"
    )


def test_a_range_that_is_all_older_says_only_that() -> None:
    (line,) = plan(asked("2026-08-20", "2026-08-22")).lines
    assert line.reason == "older than the job's first known schedule, of 2026-09-01 00:00:00Z"


def test_a_range_that_begins_before_it_without_a_fire_in_between_says_nothing() -> None:
    late = version("0 12 * * *", earliest_from=at("2026-09-01T06:00:00Z"), valid_from=NOW)
    assert labels("2026-09-01", "2026-09-02", basis(late)) == [
        "2026-09-01T12:00:00Z",
        "2026-09-02T12:00:00Z",
    ]


@pytest.mark.parametrize(
    ("start", "end", "cycle", "said"),
    [
        ("2026-09-12", "2026-09-10", Cycle.DAY, "write 2026-09-10..2026-09-12"),
        ("2026-09-12T00:00:00Z", "2026-09-10", Cycle.SCHEDULED, "--to 2026-09-10 lies before"),
        ("2026-09-10T00:00:00Z", "2026-09-12", Cycle.DAY, "is no period of billing/credit"),
        ("2026-09", "2026-09", Cycle.DAY, "Write 2026-09-10."),
        ("once", "once", Cycle.SCHEDULED, "whose periods are single fires"),
        ("yesterday", "today", Cycle.DAY, "is not written as a period is"),
    ],
)
def test_ends_that_do_not_fit_are_refused(start: str, end: str, cycle: Cycle, said: str) -> None:
    with pytest.raises((UsageError, InvalidKey)) as refused:
        plan(asked(start, end), basis(cycle=cycle))
    assert said in str(refused.value)


def test_more_periods_than_anybody_means_are_refused() -> None:
    with pytest.raises(UsageError, match=r"more than 10,000 periods"):
        plan(asked("2026-09-02", "2026-09-12"), basis(version("* * * * *")))


def test_a_range_that_never_ends_is_refused_as_quickly() -> None:
    with pytest.raises(UsageError, match=r"more than 10,000 periods"):
        plan(asked("2026-09-02", "2999-09-12"), basis(version("* * * * *")))


def test_every_counts_no_periods_and_takes_one_that_is_named() -> None:
    every = basis(version("@every 90s"))
    with pytest.raises(InvalidSchedule, match="has no instants of its own"):
        plan(asked("2026-09-10", "2026-09-11"), every)
    (line,) = plan(asked("2026-09-10T00:00:30Z"), every).lines
    assert (line.action, line.job) == (Action.CREATE, "credit-bf-20260910t000030-0-1")


def test_without_any_schedule_a_range_is_refused_and_one_period_is_taken() -> None:
    known = replace(basis(tracked=False), versions=())
    with pytest.raises(NoPeriod, match="no schedule of billing/credit is known"):
        plan(asked("2026-09-10", "2026-09-11"), known)
    (line,) = plan(asked("2026-09-10T00:00:00Z"), known).lines
    assert line.action is Action.CREATE
