"""What holds for all schedules and zones, and not just for the ones we thought of."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from importlib.resources import files
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from k8sjob.schedule import parse
from k8sjob.schedule.clock import DAY, EPOCH, clock
from k8sjob.schedule.explain import remarks
from k8sjob.schedule.fields import day_matches
from k8sjob.schedule.walk import later_fire, next_fire

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from k8sjob.schedule.fields import Fields

NAMES = files("tzdata").joinpath("zones").read_text().split()
FIRST, LAST = 946_684_800, 2_524_608_000  # 2000 to 2050
END = datetime(2999, 1, 1, tzinfo=UTC)


@cache
def changes(name: str) -> list[int]:
    """Return the instants at which the clocks of a zone change."""
    return [after.start for _, after in clock(name).changes(FIRST, LAST)]


@cache
def zones() -> list[str]:
    """Return a name of each zone; the others are aliases, and their files the same."""
    folder = files("tzdata").joinpath("zoneinfo")
    return list({folder.joinpath(*n.split("/")).read_bytes(): n for n in NAMES}.values())


def fields_of(text: str) -> Fields:
    fields = parse(text, "UTC").fields
    assert fields is not None
    return fields


def instant_of(seconds: int) -> datetime:
    return EPOCH + timedelta(seconds=seconds)


# ------------------------------------------------------------------------------------- strategies


@st.composite
def items(draw: st.DrawFn, low: int, high: int) -> str:
    first = draw(st.integers(low, high))
    last = draw(st.integers(first, high))
    step = draw(st.integers(1, 20))
    forms = ["*", f"*/{step}", f"{first}", f"{first}/{step}", f"{first}-{last}", f"{first},{last}"]
    return draw(st.sampled_from(forms))


specs = st.builds(
    " ".join,
    st.tuples(
        st.sampled_from(["0", "30", "*"]) | items(0, 59),
        st.sampled_from(["0", "1", "2", "3", "0,23", "*"]) | items(0, 23),
        st.sampled_from(["*", "1", "31"]) | items(1, 31),
        st.just("*") | items(1, 12),
        st.just("*") | items(0, 6),
    ),
)


@st.composite
def places(draw: st.DrawFn) -> tuple[str, int]:
    """Draw a zone and an instant, more often than not around a change of its clocks."""
    name = draw(st.sampled_from(NAMES))
    around = st.sampled_from(changes(name) or [FIRST])
    before = st.integers(-DAY, DAY) | st.integers(-40 * DAY, 400 * DAY) | st.sampled_from([0, 1])
    near = st.builds(lambda change, seconds: change - seconds, around, before)
    return name, draw(near | st.integers(FIRST, LAST))


# ------------------------------------------------------------------------------------------ rules


@given(specs, places())
@settings(max_examples=250)
@example("0 0 1 1 *", ("Europe/Berlin", 1_780_000_000))
@example("*/10 3 * * *", ("Pacific/Chatham", 1_775_311_500))
@example("0 12 30 * *", ("Pacific/Apia", 1_324_000_000))
@example("15,45 0 * * *", ("Australia/Lord_Howe", 1_791_036_000))
@example("0 0 15 3 *", ("Asia/Damascus", 1_048_118_400))  # fires on 15 April 2003
@example("15,45 0 4,8 * *", ("Australia/Lord_Howe", 1_791_036_000))
def test_leaps_lead_where_single_steps_lead(text: str, place: tuple[str, int]) -> None:
    name, start = place
    fields, at = fields_of(text), start
    for _ in range(4):
        found = next_fire(fields, clock(name), at)
        assert found == next_fire(fields, clock(name), at, leaps=False)
        if found is None or found <= at:
            break
        at = found


@given(specs, places())
@settings(max_examples=250)
def test_between_is_what_repeated_next_gives_as_far_as_that_goes_on(
    text: str, place: tuple[str, int]
) -> None:
    schedule, start = parse(text, place[0]), instant_of(place[1])
    found = list(islice(schedule.between(start, END), 20))
    for before, after in pairwise([start, *found]):
        assert before < after
        answer = schedule.next(before)
        assert answer is not None
        assert answer == after or answer <= before
    if len(found) < 20:
        assert schedule.next(found[-1] if found else start) is None


@given(specs, places(), st.integers(0, 50 * DAY))
@settings(max_examples=150)
def test_between_ends_at_its_end(text: str, place: tuple[str, int], length: int) -> None:
    schedule, start = parse(text, place[0]), instant_of(place[1])
    end = start + timedelta(seconds=length)
    within = list(islice(schedule.between(start, end), 500))
    longer = list(islice(schedule.between(start, END), len(within) + 1))
    assert all(start < instant <= end for instant in within)
    assert longer[: len(within)] == within
    assert len(within) == 500 or all(instant > end for instant in longer[len(within) :])


@given(specs, places())
@settings(max_examples=250)
def test_next_goes_back_only_from_a_time_that_clocks_show_twice(
    text: str, place: tuple[str, int]
) -> None:
    name, start = place
    found = next_fire(fields_of(text), clock(name), start)
    reading = start + 1 + clock(name).offset(start + 1)
    again = [
        (before, after)
        for before, after in clock(name).changes(start - DAY, start + 1)
        if reading < after.start + before.offset
    ]
    assert found is None or found > start or again


@given(specs, st.integers(FIRST, LAST))
@settings(max_examples=150)
def test_where_clocks_never_change_it_is_plain_calendar_arithmetic(text: str, start: int) -> None:
    fields = fields_of(text)
    for instant in islice(parse(text, "UTC").between(instant_of(start), END), 5):
        assert fields.minutes >> instant.minute & 1
        assert fields.hours >> instant.hour & 1
        assert fields.months >> instant.month & 1
        assert day_matches(fields, instant.day, instant.isoweekday() % 7)
        assert instant.second == instant.microsecond == 0


@given(specs, places())
@settings(max_examples=60)
def test_remarks_are_found_for_every_schedule(text: str, place: tuple[str, int]) -> None:
    schedule, start = parse(text, place[0]), instant_of(place[1])
    found = remarks(schedule, start)
    assert all(remark.text.endswith(".") for remark in found)
    named = [instant for remark in found for instant in remark.periods]
    assert all(instant >= start - timedelta(days=2) for instant in named)
    assert len(found) == len({remark.text for remark in found})


# ------------------------------------------------------------------------------------- every zone


@pytest.mark.parametrize("text", ["0 0 * * *", "30 2 * * *", "*/30 0-3 * * *"])
def test_fires_follow_each_other_in_every_zone(text: str) -> None:
    fields = fields_of(text)
    assert len(zones()) > 300
    for name in zones():
        for change in {*changes(name)[-1:], *changes(name)[:1]}:
            at = start = change - 2 * DAY
            while at < start + 4 * DAY:
                found = later_fire(fields, clock(name), at)
                assert found is not None
                assert at < found < at + 3 * DAY, (name, at)
                at = found


def calls(work: Callable[[], object]) -> int:
    """Return how many calls ``work`` makes, of Python's own functions too."""
    count = 0

    def note(_frame: FrameType, event: str, _arg: Any) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


#: So many calls take less than 50 ms: 2 µs each would be slow. Finding out about the zone counts.
BOUND = 25_000
NEVER = ["0 0 30 2 *", "* * 31 2,4,6,9,11 *", "0 0 , * *", ", * * * *", "* , * * *"]


@pytest.mark.parametrize("text", ["0 0 30 2 *", "0 0 , * *"])
def test_to_find_out_that_it_never_fires_takes_bounded_work_in_every_zone(text: str) -> None:
    start = datetime(2026, 1, 31, tzinfo=UTC)
    for name in zones():
        clock.cache_clear()
        schedule = parse(text, name)
        assert calls(partial(schedule.next, start)) < BOUND, name
        assert schedule.next(start) is None


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("Pacific/Apia", "2011-12-01"),
        ("Pacific/Fakaofo", "2011-12-01"),
        ("Pacific/Kwajalein", "1993-08-01"),
        ("Pacific/Kiritimati", "1994-12-01"),
        ("Asia/Beirut", "2025-03-29"),
        ("Africa/Cairo", "2025-04-24"),
        ("America/Sao_Paulo", "2018-11-03"),
        ("America/Havana", "2026-03-07"),
        ("Africa/Monrovia", "1971-06-01"),
        ("Asia/Tehran", "2020-03-20"),
        ("UTC", "2998-12-31"),
    ],
)
@pytest.mark.parametrize("text", [*NEVER, "0 12 30 12 *", "30 0 21 3 *", "59 23 31 12 6"])
def test_a_search_takes_bounded_work_where_dates_are_missing(
    text: str, name: str, start: str
) -> None:
    clock.cache_clear()
    schedule = parse(text, name)
    at = datetime.fromisoformat(f"{start}T00:00:00Z")
    assert calls(partial(schedule.next, at)) < BOUND
