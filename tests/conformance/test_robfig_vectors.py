"""The schedule fires when the controller's own library says so: 5,000 measured cases."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from k8sjob.schedule import fields, parse, plain, schedule, walk
from k8sjob.schedule.clock import DAY, Clock, clock
from k8sjob.zones import zone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from k8sjob.schedule.clock import Stretch
    from k8sjob.schedule.fields import Fields

VECTORS = Path(__file__).with_name("robfig-vectors.jsonl.gz")


class Vector(NamedTuple):
    """A line of the file; README.md has what each key means."""

    tz: str
    spec: str
    start: int
    next: list[int]


@cache
def vectors() -> list[Vector]:
    lines = gzip.decompress(VECTORS.read_bytes()).splitlines()
    return [Vector(**json.loads(line)) for line in lines]


def answers(vector: Vector) -> list[int | None]:
    """Return what our schedule says where the vector's library said ``vector.next``."""
    ours = parse(vector.spec, vector.tz)
    at: datetime | None = datetime.fromtimestamp(vector.start, UTC)
    found: list[int | None] = []
    while at is not None and len(found) < len(vector.next):
        at = ours.next(at)
        found.append(None if at is None else int(at.timestamp()))
    return found


def test_all_5000_measured_answers_are_ours_too() -> None:
    compared = 0
    wrong = []
    for vector in vectors():
        compared += 1
        if answers(vector) != vector.next:
            wrong.append(vector)
    assert wrong == []
    assert compared == 5000
    assert sum(len(vector.next) for vector in vectors()) == 40_000


# ------------------------------------------------------------------------------- broken on purpose


def replace(patch: pytest.MonkeyPatch, name: str, mutant: object) -> None:
    """Put a mutant in the place of a function, wherever it is called from."""
    places = [module for module in (fields, plain, schedule, walk) if hasattr(module, name)]
    assert places
    for module in places:
        patch.setattr(module, name, mutant)


def replace_clock(patch: pytest.MonkeyPatch, kind: type[Clock]) -> None:
    replace(patch, "clock", cache(lambda name: kind(zone(name))))


def a_step_keeps_the_star(patch: pytest.MonkeyPatch) -> None:
    replace(patch, "star_survives", lambda _step: True)


def both_days_must_match(patch: pytest.MonkeyPatch) -> None:
    def day_matches(all_of: Fields, day: int, weekday: int) -> bool:
        return bool(all_of.days >> day & 1 and all_of.weekdays >> weekday & 1)

    replace(patch, "day_matches", day_matches)


def a_star_is_joined_by_or_too(patch: pytest.MonkeyPatch) -> None:
    def day_matches(all_of: Fields, day: int, weekday: int) -> bool:
        return bool(all_of.days >> day & 1 or all_of.weekdays >> weekday & 1)

    replace(patch, "day_matches", day_matches)


def weeks_start_on_monday(patch: pytest.MonkeyPatch) -> None:
    right = fields.day_matches
    replace(patch, "day_matches", lambda f, day, weekday: right(f, day, (weekday - 1) % 7))


def with_times_of_gaps(patch: pytest.MonkeyPatch, when: Callable[[int, Stretch], int]) -> None:
    """Let it fire for times that clocks jump over; ``when`` gets the reading and the old offset."""
    right = walk.next_fire

    def next_fire(taken: Fields, clocks: Clock, after: int) -> int | None:
        found = right(taken, clocks, after)
        until = after + 366 * DAY if found is None else found
        others = [
            when(reading, before)
            for before, new in clocks.changes(after - DAY, until)
            for reading in range(new.start + before.offset, new.start + new.offset, 60)
            if plain.first_match(taken, reading, reading + 1, 0) is not None
        ]
        return min([other for other in others if after < other < until] + [until])

    replace(patch, "next_fire", next_fire)


def a_gaps_times_fire_late(patch: pytest.MonkeyPatch) -> None:
    with_times_of_gaps(patch, lambda reading, before: reading - before.offset)


def a_gaps_times_fire_when_it_ends(patch: pytest.MonkeyPatch) -> None:
    with_times_of_gaps(patch, lambda _reading, before: before.end)


def an_hour_that_comes_twice_fires_once(patch: pytest.MonkeyPatch) -> None:
    right = walk.next_fire

    def next_fire(taken: Fields, clocks: Clock, after: int) -> int | None:
        found = right(taken, clocks, after)
        while found is not None and found - after <= 2 * DAY and _again(clocks, found):
            found = right(taken, clocks, found)
        return found

    def _again(clocks: Clock, at: int) -> bool:
        shown = at + clocks.offset(at)
        return any(
            before.offset > new.offset and shown < new.start + before.offset
            for before, new in clocks.changes(at - DAY, at)
        )

    replace(patch, "next_fire", next_fire)


def a_day_without_midnight_is_not_passed_over(patch: pytest.MonkeyPatch) -> None:
    def next_day(clocks: Clock, now: int) -> int:
        wall = clocks.wall(now)
        later = clocks.instant(wall.year, wall.month, wall.day + 1)
        return later if clocks.wall(later).day != wall.day else later + 3600

    replace(patch, "next_day", next_day)


class WholeHours(Clock):
    """Clocks that shift by whole hours only."""

    def _look_up(self, instant: int) -> int:
        return super()._look_up(instant) // 3600 * 3600


def a_half_hour_of_an_offset_is_ignored(patch: pytest.MonkeyPatch) -> None:
    replace_clock(patch, WholeHours)


class LordHoweStandsStill(Clock):
    """Clocks that do not know a change of half an hour."""

    def _look_up(self, instant: int) -> int:
        offset = super()._look_up(instant)
        return min(offset, 10 * 3600 + 1800) if self._zone.key == "Australia/Lord_Howe" else offset


def lord_howes_half_hour_is_ignored(patch: pytest.MonkeyPatch) -> None:
    replace_clock(patch, LordHoweStandsStill)


def the_search_ends_with_the_year(patch: pytest.MonkeyPatch) -> None:
    replace(patch, "YEARS", 0)
    replace(patch, "_FOUR_YEARS", 0)


MUTANTS = [
    a_step_keeps_the_star,
    both_days_must_match,
    a_star_is_joined_by_or_too,
    weeks_start_on_monday,
    a_gaps_times_fire_late,
    a_gaps_times_fire_when_it_ends,
    an_hour_that_comes_twice_fires_once,
    a_day_without_midnight_is_not_passed_over,
    a_half_hour_of_an_offset_is_ignored,
    lord_howes_half_hour_is_ignored,
    the_search_ends_with_the_year,
]


@pytest.fixture
def with_fresh_clocks() -> Iterator[None]:
    clock.cache_clear()
    yield
    clock.cache_clear()


@pytest.mark.usefixtures("with_fresh_clocks")
@pytest.mark.parametrize("mutate", MUTANTS, ids=lambda mutate: mutate.__name__)
def test_a_schedule_with_a_wrong_rule_is_found_out(
    mutate: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    mutate(monkeypatch)
    assert any(answers(vector) != vector.next for vector in vectors())
