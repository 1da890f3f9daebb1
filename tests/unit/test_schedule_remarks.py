"""What surprises about a schedule is said in words, and with what to do instead."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from k8sjob.errors import InvalidKey
from k8sjob.schedule import parse
from k8sjob.schedule.explain import Kind, Remark, remarks


def told(text: str, zone: str, start: str, years: int = 1) -> list[Remark]:
    return remarks(parse(text, zone), datetime.fromisoformat(f"{start}T00:00:00Z"), years)


def texts(text: str, zone: str, start: str, years: int = 1) -> list[str]:
    return [remark.text for remark in told(text, zone, start, years)]


def test_a_daily_time_that_comes_twice_and_not_at_all_is_told() -> None:
    twice, left_out = told("30 2 * * *", "Europe/Berlin", "2026-10-23")
    advice = (
        "If once is meant, choose an hour outside 02:00 to 03:00, or a daily cycle: "
        "k8sjob.io/cycle: day"
    )
    assert twice == Remark(
        Kind.TWICE,
        "Fires twice on Sun 25 Oct 2026 (2 periods): clocks show 02:30 twice.",
        advice,
        (datetime(2026, 10, 25, 1, 30, tzinfo=UTC),),
    )
    assert left_out == Remark(
        Kind.LEFT_OUT,
        "Does not fire at all on Sun 28 Mar 2027: 02:30 does not exist.",
        advice,
    )


def test_days_of_more_years_stand_in_one_sentence() -> None:
    twice, left_out = texts("30 2 * * *", "Europe/Berlin", "2026-10-23", 3)
    assert twice == (
        "Fires twice on Sun 25 Oct 2026, Sun 31 Oct 2027 and Sun 29 Oct 2028 (2 periods each): "
        "clocks show 02:30 twice."
    )
    assert left_out == (
        "Does not fire at all on Sun 28 Mar 2027, Sun 26 Mar 2028 and Sun 25 Mar 2029: 02:30 does "
        "not exist."
    )


def test_of_several_times_a_day_those_disturbed_are_told() -> None:
    twice, left_out = told("0 */2 * * *", "Europe/Berlin", "2026-10-23")
    assert twice.text == "Fires twice at 02:00 on Sun 25 Oct 2026: clocks show that time twice."
    assert left_out.text == "Does not fire at 02:00 on Sun 28 Mar 2027: that time does not exist."
    assert left_out.advice == (
        "If that matters, choose hours outside 02:00 to 03:00, or set timeZone: Etc/UTC."
    )


def test_many_times_are_told_by_the_first_the_last_and_their_number() -> None:
    assert texts("*/10 2 * * *", "Europe/Berlin", "2027-01-01")[1] == (
        "Does not fire at all on Sun 28 Mar 2027: 02:00 to 02:50 (6 times) do not exist."
    )


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("* * * * *", "Europe/Berlin"),
        ("*/30 * * * *", "Europe/Berlin"),
        ("@hourly", "America/New_York"),
        ("*/30 * * * *", "Australia/Lord_Howe"),
        ("30 2 * * *", "UTC"),
        ("30 2 * * *", "Asia/Kolkata"),
        ("30 12 * * *", "Europe/Berlin"),
        ("30 2 * * 1-5", "Europe/Berlin"),
    ],
)
def test_nothing_is_said_where_runs_follow_each_other_as_ever(text: str, zone: str) -> None:
    assert told(text, zone, "2026-01-01", 2) == []


def test_an_hourly_run_is_disturbed_by_half_an_hour() -> None:
    assert texts("0 * * * *", "Australia/Lord_Howe", "2026-06-01") == [
        "Does not fire at 02:00 on Sun 4 Oct 2026: that time does not exist."
    ]


def test_a_date_that_the_controller_passes_over_is_told() -> None:
    (passed_over,) = told("0 12 30 3 *", "Asia/Beirut", "2025-01-01")
    assert passed_over.kind is Kind.PASSED_OVER
    assert passed_over.text == (
        "Does not fire on Sun 30 Mar 2025, though 12:00 exists: the search steps over it where "
        "clocks change."
    )
    assert passed_over.advice == (
        "The controller does just that. If it matters, set timeZone: Etc/UTC."
    )


def test_a_fire_that_the_schedule_does_not_name_is_told() -> None:
    (astray,) = told("30 1 3 11 *", "America/Sao_Paulo", "2018-01-01")
    assert astray.kind is Kind.ASTRAY
    assert astray.text.startswith("Fires at 01:30 on Sun 4 Nov 2018, a time that it does not name")
    assert astray.periods == (datetime(2018, 11, 4, 3, 30, tzinfo=UTC),)


def test_a_day_that_the_zone_left_out_is_told() -> None:
    (left_out,) = told("30 12 * * *", "Pacific/Apia", "2011-11-01")
    assert left_out.text == "Does not fire at all on Fri 30 Dec 2011: 12:30 does not exist."
    assert left_out.advice == "If that matters, set timeZone: Etc/UTC."


@pytest.mark.parametrize(
    ("text", "start", "why", "advice"),
    [
        ("0 0 30 2 *", "2026-01-01", "no month that it names has a day 30", "a day up to 29."),
        ("0 0 31 4,6 *", "2026-01-01", "no month that it names has a day 31", "a day up to 30."),
        ("0 0 29 2 *", "2097-01-01", "no day fits for five years", "a day of month up to 28"),
        (", 0 * * *", "2026-01-01", "the field minute names nothing", "Name a minute, or write *."),
        ("0 0 * , *", "2026-01-01", "the field month names nothing", "Name a month, or write *."),
        ("0 0 * * ,", "2026-01-01", "the field day of week names nothing", "Name a day of week"),
    ],
)
def test_why_it_never_fires_is_told(text: str, start: str, why: str, advice: str) -> None:
    (never,) = told(text, "Europe/Berlin", start)
    assert never.kind is Kind.NEVER
    assert never.text.startswith(f"Never fires: {why}")
    assert never.text.endswith(". Kubernetes takes it, and starts nothing.")
    assert advice in never.advice


@pytest.mark.parametrize(
    ("text", "note"), [("0 0 13 * 5", ""), ("0 0 */2 * 5", " (*/2 does not count as a star)")]
)
def test_day_fields_that_are_joined_by_or_are_told(text: str, note: str) -> None:
    (either,) = told(text, "UTC", "2026-01-01")
    day = text.split()[2]
    assert either.kind is Kind.EITHER_DAY
    assert either.text == (
        f"Fires on each day that day of month {day!r} or day of week '5' names, not only where "
        f"both do{note}."
    )
    assert either.advice.startswith("If both are meant, keep one of the two, and let the job raise")


@pytest.mark.parametrize("text", ["0 0 13 * *", "0 0 13 * ?", "0 0 */1 * 5", "@weekly", "@monthly"])
def test_one_star_among_the_day_fields_is_no_surprise(text: str) -> None:
    assert told(text, "UTC", "2026-01-01") == []


def test_a_delay_has_no_instants_and_that_is_told() -> None:
    (every,) = told("@every 90m", "UTC", "2026-01-01")
    assert every.kind is Kind.EVERY
    assert every.text.startswith("Counts 5400 s from one start to the next")
    assert every.advice == "Write five fields instead, e.g. '0 * * * *'."


def test_a_start_without_a_time_zone_is_refused() -> None:
    with pytest.raises(InvalidKey, match="is not an instant with a time zone"):
        remarks(parse("@daily", "UTC"), datetime(2026, 1, 1))  # noqa: DTZ001
