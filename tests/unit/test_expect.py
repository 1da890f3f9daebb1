"""Which periods should have been done, by one schedule. Times are UTC."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from k8sjob.errors import InvalidSchedule
from k8sjob.period import Cycle
from tests.unit.schedules import BERLIN, at, found, texts, version

if TYPE_CHECKING:
    from k8sjob.expect import Expected

AUTUMN = ["10-24T00:30", "10-25T00:30", "10-25T01:30", "10-26T01:30"]
NIGHTLY = [version("30 2 * * *", BERLIN)]


def day_of(one: Expected) -> tuple[str, ...]:
    """Return a period, its window, its fires and its deadline, without the years."""
    assert one.scheduled_for is not None
    assert one.window_end is not None
    moments = (one.scheduled_for, one.window_end, one.first_fire, one.last_fire, one.deadline)
    return (str(one.period), *(f"{moment:%m-%d %H:%M}" for moment in moments))


# ---------------------------------------------------------------------------------- each cycle


@pytest.mark.parametrize(
    ("cycle", "expr", "upto", "periods"),
    [
        ("scheduled", "0 */8 * * *", "2026-09-14 07:00", ["2026-09-14T00:00:00Z"]),
        ("day", "0 6 * * *", "2026-09-16 05:59", ["2026-09-14", "2026-09-15"]),
        ("day", "0 6 * * 2", "2026-09-30", ["2026-09-15", "2026-09-22", "2026-09-29"]),
        ("week", "0 6 * * 1-5", "2026-09-21 06:00", ["2026-W38", "2026-W39"]),
        ("week", "0 6 * * 0", "2026-09-27 06:00", ["2026-W38", "2026-W39"]),
        ("month", "0 6 1,15 * *", "2026-11-01", ["2026-09", "2026-10"]),
        ("month", "0 6 31 * *", "2026-12-31", ["2026-10"]),
        ("once", "0 6 * * *", "2026-09-30", ["once"]),
        ("once", "0 6 * * *", "2026-09-14 05:00", []),
    ],
)  # fmt: skip
def test_each_cycle_has_the_periods_in_which_its_schedule_fires(
    cycle: str, expr: str, upto: str, periods: list[str]
) -> None:
    assert texts(found([version(expr)], Cycle(cycle), "2026-09-13 20:00", upto)) == periods


@pytest.mark.parametrize(
    ("cycle", "expr", "wanted"),
    [
        ("day", "0 6,18 * * *",
         "2026-09-15 09-15 00:00 09-16 00:00 09-15 06:00 09-15 18:00 09-15 19:00"),
        ("week", "0 6 * * 2-4",
         "2026-W38 09-14 00:00 09-21 00:00 09-15 06:00 09-17 06:00 09-17 07:00"),
        ("month", "0 6 15,20 * *",
         "2026-09 09-01 00:00 10-01 00:00 09-15 06:00 09-20 06:00 09-20 07:00"),
    ],
)  # fmt: skip
def test_a_natural_period_is_due_at_its_last_fire_even_if_that_is_still_to_come(
    cycle: str, expr: str, wanted: str
) -> None:
    one, *others = found([version(expr)], Cycle(cycle), "2026-09-15", "2026-09-15 06:00")
    assert (" ".join(day_of(one)), others) == (wanted, [])


def test_once_is_due_at_its_first_fire_and_has_no_window() -> None:
    [once] = found([version("0 6 * * *")], Cycle.ONCE, "2026-09-13", "2026-09-15 07:00")
    assert (once.scheduled_for, once.window_end) == (None, None)
    assert (once.first_fire, once.last_fire) == (at("2026-09-13 06:00"), at("2026-09-15 06:00"))
    assert once.deadline == at("2026-09-13 07:00")


@pytest.mark.parametrize("cycle", [Cycle.SCHEDULED, Cycle.ONCE, Cycle.DAY])
def test_a_fire_at_the_first_end_of_the_stretch_is_out_and_at_the_last_is_in(cycle: Cycle) -> None:
    fires = [version("0 6 * * *")]
    assert len(found(fires, cycle, "2026-09-13 06:00", "2026-09-14 06:00")) == 1
    assert found(fires, cycle, "2026-09-13 06:00", "2026-09-14 05:59") == []


def test_without_a_version_nothing_is_expected() -> None:
    assert all(found([], cycle, "2026-09-13", "2026-09-20") == [] for cycle in Cycle)


def test_an_interval_has_no_slots_that_can_be_foretold() -> None:
    with pytest.raises(InvalidSchedule, match="every"):
        found([version("@every 90s")], Cycle.SCHEDULED, "2026-09-13", "2026-09-14")


# ------------------------------------------------------------------------------- clock changes


@pytest.mark.parametrize(
    ("after", "upto", "fires"),
    [
        ("2026-03-27 12:00", "2026-03-30 12:00", ["03-28T01:30", "03-30T00:30"]),
        ("2026-10-23 12:00", "2026-10-26 12:00", AUTUMN),
    ],
    ids=["spring", "autumn"],
)  # fmt: skip
def test_half_past_two_is_left_out_in_spring_and_comes_twice_in_autumn(
    after: str, upto: str, fires: list[str]
) -> None:
    some = found(NIGHTLY, Cycle.SCHEDULED, after, upto)
    assert texts(some) == [f"2026-{fire}:00Z" for fire in fires]


def test_in_spring_the_window_before_the_change_lasts_for_two_days() -> None:
    [one] = found(NIGHTLY, Cycle.SCHEDULED, "2026-03-28", "2026-03-29 12:00")
    assert one.window_end == at("2026-03-30 00:30")


def test_in_spring_the_day_without_a_fire_is_not_expected() -> None:
    some = found(NIGHTLY, Cycle.DAY, "2026-03-28", "2026-03-30 12:00")
    assert texts(some) == ["2026-03-28", "2026-03-30"]


def test_in_autumn_the_day_with_two_fires_is_one_and_due_at_the_second() -> None:
    some = found(NIGHTLY, Cycle.DAY, "2026-10-24 12:00", "2026-10-25 00:30")
    assert [day_of(one) for one in some] == [
        ("2026-10-25", "10-24 22:00", "10-25 23:00", "10-25 00:30", "10-25 01:30", "10-25 02:30")
    ]


@pytest.mark.parametrize(
    ("day", "wanted"),
    [
        ("2026-10-25", ("10-24 22:00", "10-25 23:00", "10-24 22:00", "10-25 22:00", "10-25 22:30")),
        ("2026-03-29", ("03-28 23:00", "03-29 22:00", "03-28 23:00", "03-29 21:00", "03-29 21:30")),
    ],
    ids=["25 hours", "23 hours"],
)
def test_a_day_of_an_hourly_schedule_goes_on_to_its_own_last_hour(
    day: str, wanted: tuple[str, ...]
) -> None:
    hourly = [version("0 * * * *", BERLIN)]
    some = found(hourly, Cycle.DAY, f"{day} 00:00", f"{day} 12:00")
    whole = found(hourly, Cycle.DAY, str(at(day) - timedelta(hours=3))[:16], f"{day} 12:00")
    assert texts(some) == [day]
    assert day_of(whole[-1]) == (day, *wanted)


def test_the_hour_that_comes_twice_has_two_scheduled_periods() -> None:
    some = found([version("0 2 * * *", BERLIN)], Cycle.SCHEDULED, "2026-10-24 12:00", "2026-10-25")
    assert texts(some) == ["2026-10-25T00:00:00Z"]
    assert some[0].window_end == at("2026-10-25 01:00")


# --------------------------------------------------------------------------------------- grace


@pytest.mark.parametrize(
    ("expr", "seconds"),
    [
        ("* * * * *", 60),
        ("*/2 * * * *", 60),
        ("*/3 * * * *", 90),
        ("0 * * * *", 1800),
        ("0 */2 * * *", 3600),
        ("0 0 * * *", 3600),
        ("0 0 29 2 *", 3600),
    ],
)
def test_grace_is_half_the_gap_between_a_minute_and_an_hour(expr: str, seconds: float) -> None:
    one = found([version(expr)], Cycle.SCHEDULED, "2028-02-28 23:59", "2028-02-29")[0]
    assert one.deadline - one.last_fire == timedelta(seconds=seconds)


def test_grace_goes_by_the_gap_after_the_fire_and_not_by_the_one_before() -> None:
    some = found([version("22,23 * * * *")], Cycle.SCHEDULED, "2026-09-13", "2026-09-13 00:30")
    assert [one.deadline - one.last_fire for one in some] == [
        timedelta(seconds=60),
        timedelta(minutes=29, seconds=30),
    ]


@pytest.mark.parametrize("cycle", Cycle)
@pytest.mark.parametrize("grace_s", [0, 1, 90_000.5])
def test_a_grace_of_its_own_has_no_bounds(cycle: Cycle, grace_s: float) -> None:
    one = found([version("0 6 * * *")], cycle, "2026-09-14", "2026-09-14 06:00", grace_s)[0]
    fire = one.first_fire if cycle is Cycle.ONCE else one.last_fire
    assert one.deadline == fire + timedelta(seconds=grace_s)


def test_the_last_fire_of_all_has_the_longest_grace_and_no_window_end() -> None:
    [one] = found([version("0 6 1 1 *")], Cycle.SCHEDULED, "2998-12-01", "2999-12-01")
    assert (one.window_end, one.deadline) == (None, at("2999-01-01 07:00"))
