"""What a change of clocks does to the fires around it, found by comparing with the calendar.

Readings of clocks are whole seconds here, counted as if the clocks showed UTC.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from k8sjob.schedule.clock import DAY, EPOCH_ORDINAL
from k8sjob.schedule.fields import day_matches
from k8sjob.schedule.walk import later_fire

if TYPE_CHECKING:
    from k8sjob.schedule.clock import Clock, Stretch
    from k8sjob.schedule.fields import Fields

_MINUTE = 60
_MINUTES = DAY // _MINUTE


class Fire(NamedTuple):
    """What the clocks show when it fires, and when that is; None where it does not fire."""

    reading: int
    instant: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """What one change of the clocks disturbs, by the day, a number since 1970, and in order."""

    #: The readings ``[low, high)`` are those that the clocks leave out, or show twice.
    low: int
    high: int
    #: Fires whose reading has been a fire before.
    again: list[Fire]
    #: Readings of the schedule that the clocks leave out.
    left_out: list[Fire]
    #: Readings of the schedule that the clocks show, and yet it does not fire.
    passed_over: list[Fire]
    #: Fires whose reading is none of the schedule's.
    astray: list[Fire]
    #: How many readings the schedule has on each of the days around.
    wanted: Counter[int]


def changes(fields: Fields, clock: Clock, start: int, end: int) -> list[Change]:
    """Return what each change of the clocks in ``(start, end]`` disturbs, in order."""
    found = [_change(fields, clock, *pair) for pair in clock.changes(start, end)]
    return [c for c in found if c.again or c.left_out or c.passed_over or c.astray]


def _change(fields: Fields, clock: Clock, before: Stretch, after: Stretch) -> Change:
    low, high = sorted((after.start + before.offset, after.start + after.offset))
    days = range(low // DAY - 1, (high - 1) // DAY + 2)
    expected = {reading for day in days for reading in _readings(fields, day)}
    fires = _fires(fields, clock, days.start * DAY - before.offset, days.stop * DAY - after.offset)
    skipped = range(low, high if before.offset < after.offset else low)
    missing = [Fire(reading) for reading in sorted(expected - {fire.reading for fire in fires})]
    calm = _looks_the_same(fields, (high - low) // _MINUTE)
    return Change(
        low,
        high,
        again=[] if calm else _again(fires),
        left_out=[] if calm else [fire for fire in missing if fire.reading in skipped],
        passed_over=[fire for fire in missing if fire.reading not in skipped],
        astray=[fire for fire in fires if fire.reading not in expected],
        wanted=Counter(reading // DAY for reading in expected),
    )


def _readings(fields: Fields, days: int) -> list[int]:
    """Return the readings of a day, by its number since 1970, that the schedule takes."""
    day = date.fromordinal(days + EPOCH_ORDINAL)
    if not fields.months >> day.month & 1:
        return []
    if not day_matches(fields, day.day, day.isoweekday() % 7):
        return []
    return [days * DAY + minute * _MINUTE for minute in fields.times]


def _fires(fields: Fields, clock: Clock, start: int, end: int) -> list[Fire]:
    found: list[Fire] = []
    at: int | None = start - 1
    while at is not None and (at := later_fire(fields, clock, at)) is not None and at < end:
        found.append(Fire(at + clock.offset(at), at))
    return found


def _again(fires: list[Fire]) -> list[Fire]:
    first: dict[int, Fire] = {}
    for fire in fires:
        first.setdefault(fire.reading, fire)
    return [fire for fire in fires if first[fire.reading] is not fire]


def _looks_the_same(fields: Fields, shift: int) -> bool:
    """Tell whether the times of a day, all moved by ``shift`` minutes, are the same times.

    Then runs follow each other as evenly as ever: an hour more or less means nothing to `*/5`. A
    whole day more or less (Pacific/Apia, 2011) does not pass for that.
    """
    if shift >= _MINUTES:
        return False
    moved = {(minute + shift) % _MINUTES for minute in fields.times}
    return moved == set(fields.times)
