"""A schedule fires by the controller's rules, where clocks change too."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest

from k8sjob.errors import InvalidKey
from k8sjob.schedule import parse
from k8sjob.zones import zone


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def fires(text: str, name: str, start: str, count: int) -> list[str]:
    """Return what the zone's clocks show at the first fires, each with their offset."""
    found = islice(parse(text, name).between(at(start), at("2999-01-01T00:00:00Z")), count)
    return [f"{instant.astimezone(zone(name)):%m-%d %H:%M %z}" for instant in found]


def test_a_time_that_clocks_jump_over_is_left_out() -> None:
    assert fires("30 2 * * *", "America/New_York", "2025-03-08T00:00:00Z", 3) == [
        "03-08 02:30 -0500",
        "03-10 02:30 -0400",
        "03-11 02:30 -0400",
    ]


def test_a_time_that_clocks_show_twice_fires_twice() -> None:
    assert fires("30 1 * * *", "America/New_York", "2025-11-01T12:00:00Z", 3) == [
        "11-02 01:30 -0400",
        "11-02 01:30 -0500",
        "11-03 01:30 -0500",
    ]


@pytest.mark.parametrize(
    ("name", "before", "found"),
    [
        ("Asia/Beirut", "2025-03-29T12:00:00Z", "03-31 00:00 +0300"),
        ("Africa/Cairo", "2025-04-24T12:00:00Z", "04-26 00:00 +0300"),
    ],
)
def test_a_midnight_that_clocks_jump_over_is_left_out(name: str, before: str, found: str) -> None:
    assert fires("0 0 * * *", name, before, 1) == [found]


def test_a_date_whose_midnight_is_taken_back_over_is_passed_over() -> None:
    assert fires("0 12 30,31 3 *", "Asia/Beirut", "2025-03-01T00:00:00Z", 1) == [
        "03-31 12:00 +0300"
    ]


def test_past_a_missing_midnight_the_date_is_not_looked_at_again() -> None:
    assert fires("30 1 3 11 *", "America/Sao_Paulo", "2018-11-01T00:00:00Z", 2) == [
        "11-03 01:30 -0300",
        "11-04 01:30 -0200",
    ]


def test_after_a_shift_of_half_an_hour_minutes_are_lost_once() -> None:
    assert fires("15,45 0 * * *", "Australia/Lord_Howe", "2026-10-03T14:00:00Z", 4) == [
        "10-04 00:45 +1030",
        "10-05 00:45 +1100",
        "10-06 00:15 +1100",
        "10-06 00:45 +1100",
    ]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        pytest.param("0 0 13 * 5", ["03", "10", "13", "17"], id="or"),
        pytest.param("0 0 */10 * 5", ["01", "03", "10", "11"], id="a-step-is-no-star"),
        pytest.param("0 0 */1 * 5", ["03", "10", "17", "24"], id="a-step-of-one-is"),
        pytest.param("0 0 ? * 5", ["03", "10", "17", "24"], id="so-is-a-question-mark"),
    ],
)
def test_day_fields_are_joined_by_or_unless_one_is_a_star(text: str, days: list[str]) -> None:
    found = parse(text, "UTC").between(at("2026-06-30T12:00:00Z"), at("2026-07-31T00:00:00Z"))
    assert [f"{instant:%d}" for instant in islice(found, 4)] == days


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("0 0 30 2 *", "2026-01-01T00:00:00Z"),
        ("0 0 31 4,6,9,11 *", "2026-01-01T00:00:00Z"),
        (", * * * *", "2026-01-01T00:00:00Z"),
        ("0 , * * *", "2026-01-01T00:00:00Z"),
        ("0 0 , * *", "2026-01-01T00:00:00Z"),
        ("0 0 * , *", "2026-01-01T00:00:00Z"),
        ("0 0 * * ,", "2026-01-01T00:00:00Z"),
        ("0 0 29 2 *", "2097-01-01T00:00:00Z"),
        ("0 0 29 2 *", "2098-12-31T22:59:58Z"),
    ],
)
def test_what_does_not_fire_within_five_years_never_fires(text: str, start: str) -> None:
    for name in ("UTC", "Europe/Berlin"):
        assert parse(text, name).next(at(start)) is None
        assert list(parse(text, name).between(at(start), at("2999-01-01T00:00:00Z"))) == []


def test_the_fifth_calendar_year_is_still_looked_at() -> None:
    # 2100 is no leap year, so there is none from 2096 to 2104.
    leap_day = parse("0 0 29 2 *", "UTC")
    assert leap_day.next(at("2098-12-31T23:59:58Z")) is None
    assert leap_day.next(at("2098-12-31T23:59:59Z")) == at("2104-02-29T00:00:00Z")


def test_of_fields_joined_by_or_one_may_be_empty() -> None:
    assert parse("0 0 , * 1", "UTC").next(at("2026-07-01T00:00:00Z")) == at("2026-07-06T00:00:00Z")


def test_the_answer_lies_after_the_instant_and_is_in_utc() -> None:
    hourly = parse("@hourly", "Asia/Kolkata")
    found = hourly.next(at("2026-07-01T05:30:00+05:30"))
    assert found is not None
    assert found == at("2026-07-01T06:00:00+05:30")
    assert found.tzinfo is UTC


@pytest.mark.parametrize("part", ["0.000001", "0.999999"])
def test_a_part_of_a_second_does_not_matter(part: str) -> None:
    minutely = parse("* * * * *", "UTC")
    start = at("2026-07-01T00:00:59Z") + timedelta(seconds=float(part))
    assert minutely.next(start) == at("2026-07-01T00:01:00Z")
    assert minutely.next(start + timedelta(seconds=1)) == at("2026-07-01T00:02:00Z")


def test_of_the_two_ends_only_the_last_is_between() -> None:
    hourly = parse("@hourly", "UTC")
    start, end = at("2026-07-01T00:00:00Z"), at("2026-07-01T03:00:00Z")
    assert [instant.hour for instant in hourly.between(start, end)] == [1, 2, 3]
    assert list(hourly.between(end, start)) == []
    assert list(hourly.between(start, start)) == []


def test_where_the_controller_goes_back_between_goes_on() -> None:
    # Clocks of Chatham show 02:45 to 03:45 twice on 5 April 2026.
    schedule = parse("*/10 3 * * *", "Pacific/Chatham")
    astray = at("2026-04-04T14:05:00Z")
    back = schedule.next(astray)
    assert back == at("2026-04-04T13:15:00Z")
    found = list(schedule.between(astray, astray + timedelta(hours=1)))
    assert found == [at(f"2026-04-04T14:{minute}:00Z") for minute in (15, 25, 35, 45, 55)] + [
        at("2026-04-04T15:05:00Z")
    ]


@pytest.mark.parametrize(
    ("name", "left_out"),
    [
        ("Pacific/Apia", "2011-12-30"),
        ("Pacific/Fakaofo", "2011-12-30"),
        ("Pacific/Kwajalein", "1993-08-21"),
        ("Pacific/Kiritimati", "1994-12-31"),
    ],
)
def test_a_search_goes_on_past_a_day_that_a_zone_left_out(name: str, left_out: str) -> None:
    # The controller would turn round for ever on the day before.
    gone = at(f"{left_out}T00:00:00Z")
    monthly = parse(f"0 12 {gone.day} * *", name)
    missed = parse(f"0 12 {gone.day} {gone.month} *", name)
    start = gone - timedelta(days=5)
    found = next(monthly.between(start, start + timedelta(days=99))).astimezone(UTC)
    assert found - gone > timedelta(days=25)
    later = missed.next(start)
    assert later is not None
    assert later.year >= gone.year + 1


@pytest.mark.parametrize(
    ("instant", "message"),
    [
        (datetime(2026, 7, 1), "is not an instant with a time zone"),  # noqa: DTZ001
        (datetime(1968, 12, 31, tzinfo=UTC), "lies outside of the years 1970 to 2999"),
        (datetime(3001, 1, 1, tzinfo=UTC), "lies outside of the years 1970 to 2999"),
    ],
)
def test_an_instant_that_stands_for_none_is_refused_at_once(
    instant: datetime, message: str
) -> None:
    daily = parse("@daily", "UTC")
    right = datetime(2026, 7, 1, tzinfo=UTC)
    with pytest.raises(InvalidKey, match=message):
        daily.next(instant)
    with pytest.raises(InvalidKey, match=message):
        daily.between(instant, right)
    with pytest.raises(InvalidKey, match=message):
        daily.between(right, instant)


def test_the_last_year_has_its_fires() -> None:
    assert parse("@yearly", "Europe/Berlin").next(at("2999-06-01T00:00:00Z")) == at(
        "2999-12-31T23:00:00Z"
    )
