"""Windows go by the job's zone, and abut whatever its clocks do."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import cast

import pytest

from k8sjob.errors import ConfigError, InvalidKey
from k8sjob.period import Cycle, Period, Window, periods_between, zone

NATURAL = ["2026-09-13", "2026-W37", "2026-09"]


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def window(start: str, end: str) -> Window:
    return Window(at(start), at(end))


# ------------------------------------------------------------------------------------ instants


def test_a_scheduled_period_is_its_instant_in_utc() -> None:
    assert str(Period.at(at("2026-09-13T02:00:00+02:00"))) == "2026-09-13T00:00:00Z"
    assert str(Period.at(at("2026-09-13T00:00:00Z"))) == "2026-09-13T00:00:00Z"
    assert str(Period.at(at("1969-12-31T23:00:00-01:00"))) == "1970-01-01T00:00:00Z"


@pytest.mark.parametrize("cycle", Cycle)
def test_a_naive_datetime_is_refused(cycle: Cycle) -> None:
    with pytest.raises(InvalidKey, match="pass an aware datetime"):
        Period.of(cycle, datetime(2026, 9, 13), "UTC")  # noqa: DTZ001  # that is the point


def test_a_date_is_not_taken_for_an_instant() -> None:
    with pytest.raises(InvalidKey, match="pass an aware datetime"):
        Period.at(cast("datetime", date(2026, 9, 13)))


@pytest.mark.parametrize(
    "instant",
    [
        datetime(2026, 9, 13, 0, 0, 0, 1, tzinfo=UTC),
        datetime(2026, 9, 13, tzinfo=timezone(timedelta(microseconds=1))),
    ],
    ids=["in the time", "in the offset"],
)
def test_a_part_of_a_second_is_refused_in_a_scheduled_period(instant: datetime) -> None:
    with pytest.raises(InvalidKey, match="never the time at which something started"):
        Period.at(instant)
    assert str(Period.of(Cycle.MONTH, instant, "UTC")) == "2026-09"


@pytest.mark.parametrize(
    "instant",
    [
        datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-12))),
        datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC),
        datetime(3000, 1, 1, tzinfo=UTC),
        datetime(2999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-1))),
    ],
    ids=str,
)
@pytest.mark.parametrize("cycle", [Cycle.SCHEDULED, Cycle.DAY, Cycle.MONTH])
def test_an_instant_outside_of_the_years_is_refused(cycle: Cycle, instant: datetime) -> None:
    with pytest.raises(InvalidKey, match="outside of the years 1970 to 2999"):
        Period.of(cycle, instant, "UTC")


@pytest.mark.parametrize(
    ("cycle", "name", "text"),
    [
        (Cycle.SCHEDULED, None, "2026-12-31T23:30:00Z"),
        (Cycle.SCHEDULED, "Asia/Tokyo", "2026-12-31T23:30:00Z"),
        (Cycle.ONCE, None, "once"),
        (Cycle.DAY, "UTC", "2026-12-31"),
        (Cycle.DAY, "Europe/Berlin", "2027-01-01"),
        (Cycle.WEEK, "Europe/Berlin", "2026-W53"),
        (Cycle.MONTH, "Europe/Berlin", "2027-01"),
        (Cycle.MONTH, "America/New_York", "2026-12"),
    ],
)
def test_the_period_around_an_instant_goes_by_the_zone(
    cycle: Cycle, name: str | None, text: str
) -> None:
    assert str(Period.of(cycle, at("2026-12-31T23:30:00Z"), name)) == text


def test_a_cycle_given_as_a_word_is_taken_for_that_cycle() -> None:
    word = cast("Cycle", "week")
    assert str(Period.of(word, at("2026-09-13T12:00:00Z"), "UTC")) == "2026-W37"


@pytest.mark.parametrize("cycle", [Cycle.DAY, Cycle.WEEK, Cycle.MONTH])
def test_a_natural_period_needs_a_zone(cycle: Cycle) -> None:
    with pytest.raises(ConfigError, match="nothing was done: set K8SJOB_TIME_ZONE"):
        Period.of(cycle, at("2026-09-13T00:00:00Z"))
    with pytest.raises(ConfigError, match="write Europe/Berlin"):
        Period.of(cycle, at("2026-09-13T00:00:00Z"), "Europe/Belrin")


def test_a_clock_that_goes_back_over_midnight_does_not_reopen_the_day_before() -> None:
    # At 02:31 UTC the clocks of St. John's went from 00:01 on the 28th to 23:01 on the 27th.
    name, second_evening = "America/St_Johns", at("1990-10-28T03:00:00Z")
    assert second_evening.astimezone(zone(name)).date() == date(1990, 10, 27)
    assert str(Period.of(Cycle.DAY, second_evening, name)) == "1990-10-28"


def test_two_datetimes_that_differ_in_fold_only_are_two_scheduled_periods() -> None:
    first = datetime(2026, 10, 25, 2, 30, tzinfo=zone("Europe/Berlin"))
    second = first.replace(fold=1)
    assert first == second
    assert str(Period.at(first)) == "2026-10-25T00:30:00Z"
    assert str(Period.at(second)) == "2026-10-25T01:30:00Z"


def test_a_local_time_that_never_was_does_not_change_the_day() -> None:
    # Clocks jumped from 00:00 to 01:00, so 00:30 is nowhere; PEP 495 makes it 01:30.
    never = datetime(2018, 11, 4, 0, 30, tzinfo=zone("America/Sao_Paulo"))
    assert str(Period.at(never)) == "2018-11-04T03:30:00Z"
    assert str(Period.of(Cycle.DAY, never, "America/Sao_Paulo")) == "2018-11-04"


# --------------------------------------------------------------------- scheduled_for and window


@pytest.mark.parametrize("name", [None, "UTC", "Asia/Tokyo"])
def test_a_scheduled_period_is_scheduled_for_its_instant_in_any_zone(name: str | None) -> None:
    found = Period("2026-09-13T01:02:03Z").scheduled_for(name)
    assert found == datetime(2026, 9, 13, 1, 2, 3, tzinfo=UTC)
    assert found is not None
    assert found.tzinfo is UTC


@pytest.mark.parametrize("text", NATURAL)
def test_a_natural_period_is_scheduled_for_the_start_of_its_window(text: str) -> None:
    period = Period(text)
    assert period.scheduled_for("Europe/Berlin") == period.window("Europe/Berlin").start


@pytest.mark.parametrize(("text", "name"), [*((text, None) for text in NATURAL), ("once", "UTC")])
def test_where_nothing_tells_the_instant_there_is_none(text: str, name: str | None) -> None:
    assert Period(text).scheduled_for(name) is None


@pytest.mark.parametrize(
    ("text", "name", "start", "end"),
    [
        ("2026-09-13", "UTC", "2026-09-13T00:00:00Z", "2026-09-14T00:00:00Z"),
        ("2026-03-29", "Europe/Berlin", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"),
        ("2026-10-25", "Europe/Berlin", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"),
        ("2024-11-03", "America/Havana", "2024-11-03T04:00:00Z", "2024-11-04T05:00:00Z"),
        ("2018-11-04", "America/Sao_Paulo", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"),
        ("2026-W53", "Europe/Berlin", "2026-12-27T23:00:00Z", "2027-01-03T23:00:00Z"),
        ("1970-W01", "UTC", "1969-12-29T00:00:00Z", "1970-01-05T00:00:00Z"),
        ("2026-12", "Asia/Tokyo", "2026-11-30T15:00:00Z", "2026-12-31T15:00:00Z"),
        ("2024-02", "UTC", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"),
        ("2999-12-31", "UTC", "2999-12-31T00:00:00Z", "3000-01-01T00:00:00Z"),
        ("2011-12-29", "Pacific/Apia", "2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z"),
        ("2011-12-31", "Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z"),
    ],
)
def test_a_window_goes_from_local_start_to_local_start(
    text: str, name: str, start: str, end: str
) -> None:
    found = Period(text).window(name)
    assert found == window(start, end)
    assert (found.start.tzinfo, found.end.tzinfo) == (UTC, UTC)


@pytest.mark.parametrize(
    ("text", "name", "following"),
    [
        ("2011-12-30", "Pacific/Apia", "2011-12-31"),
        ("2011-12-30", "Pacific/Fakaofo", "2011-12-31"),
        ("1993-08-21", "Pacific/Kwajalein", "1993-08-22"),
        ("1994-12-31", "Pacific/Kiritimati", "1995-01-01"),
    ],
)
def test_a_day_that_the_zone_left_out_has_no_window(text: str, name: str, following: str) -> None:
    with pytest.raises(InvalidKey) as caught:
        Period(text).window(name)
    assert f"period {text!r} does not exist in {name}" in str(caught.value)
    assert str(caught.value).endswith(f"the next period there is {following}.")


def test_the_windows_beside_a_day_that_was_left_out_abut() -> None:
    before, after = Period("1993-08-20"), Period("1993-08-22")
    name = "Pacific/Kwajalein"
    assert before.window(name).end == after.window(name).start
    assert Period.of(Cycle.DAY, after.window(name).start, name) == after


def test_a_day_that_was_left_out_is_scheduled_for_the_jump() -> None:
    day = Period("2011-12-30")
    assert day.scheduled_for("Pacific/Apia") == at("2011-12-30T10:00:00Z")


@pytest.mark.parametrize("text", ["2026-09-13T00:00:00Z", "once"])
def test_what_has_no_calendar_has_neither_window_nor_next(text: str) -> None:
    period = Period(text)
    with pytest.raises(InvalidKey, match="is no day, week or month"):
        period.window("UTC")
    with pytest.raises(InvalidKey, match="is no day, week or month"):
        period.next()
    with pytest.raises(InvalidKey, match="is no day, week or month"):
        periods_between(period, period)


# -------------------------------------------------------------------------------------- ranges


@pytest.mark.parametrize(
    ("text", "following"),
    [
        ("2026-12-31", "2027-01-01"),
        ("2024-02-28", "2024-02-29"),
        ("2026-W53", "2027-W01"),
        ("2025-W52", "2026-W01"),
        ("2026-12", "2027-01"),
        ("2026-01", "2026-02"),
    ],
)
def test_the_next_period_is_the_next_on_the_calendar(text: str, following: str) -> None:
    assert str(Period(text).next()) == following


@pytest.mark.parametrize("text", ["2999-12-31", "2999-W52", "2999-12"])
def test_nothing_follows_the_last_year(text: str) -> None:
    with pytest.raises(InvalidKey, match="outside of the years 1970 to 2999"):
        Period(text).next()
    assert list(periods_between(Period(text), Period(text))) == [Period(text)]


def test_a_range_has_both_its_ends() -> None:
    found = periods_between(Period("2026-12-30"), Period("2027-01-02"))
    assert [str(day) for day in found] == ["2026-12-30", "2026-12-31", "2027-01-01", "2027-01-02"]


def test_the_weeks_of_all_years_are_one_unbroken_row() -> None:
    weeks = list(periods_between(Period("1970-W01"), Period("2999-W52")))
    # The last one starts on 2999-12-23; the week after it is 3000-W01.
    mondays = range(date(1969, 12, 29).toordinal(), date(2999, 12, 24).toordinal(), 7)
    expected = [date.fromordinal(monday).strftime("%G-W%V") for monday in mondays]
    assert [str(week) for week in weeks] == expected


def test_a_range_the_wrong_way_round_is_refused_at_once() -> None:
    with pytest.raises(InvalidKey, match=r"ends before it starts.*write 2026-01\.\.2026-03\."):
        periods_between(Period("2026-03"), Period("2026-01"))


def test_a_range_over_two_cycles_is_refused_at_once() -> None:
    with pytest.raises(InvalidKey, match="from the cycle month to day"):
        periods_between(Period("2026-01"), Period("2026-03-01"))
