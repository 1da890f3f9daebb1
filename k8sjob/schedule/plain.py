"""The search where clocks do not change: there it is plain calendar arithmetic, and quick."""

from __future__ import annotations

from bisect import bisect_left
from datetime import date, timedelta
from typing import TYPE_CHECKING

from k8sjob.schedule.clock import DAY, EPOCH_ORDINAL
from k8sjob.schedule.fields import day_matches

if TYPE_CHECKING:
    from k8sjob.schedule.clock import Stretch
    from k8sjob.schedule.fields import Fields

_MINUTE = 60
_MONTH = 32 * DAY
_FOUR_YEARS = 4 * 365 * DAY
_DAY = timedelta(days=1)
_MORE_THAN_A_MONTH = timedelta(days=32)


def fire_at_hand(fields: Fields, stretch: Stretch, now: int) -> int | None:
    """Return the first fire from ``now`` on, if clocks change neither shortly before nor till then.

    Four years are less than where the search gives up, whatever the day it starts on.
    """
    start, end, offset = stretch
    if now < start + _MONTH or offset % _MINUTE:
        return None
    return first_match(fields, now, min(end - DAY, now + _FOUR_YEARS), offset)


def first_match(fields: Fields, start: int, end: int, offset: int) -> int | None:
    """Return the first instant in ``[start, end)`` at which the schedule fires, at this offset."""
    days, second = divmod(start + offset, DAY)
    day = date.fromordinal(days + EPOCH_ORDINAL)
    i = bisect_left(fields.times, -(-second // _MINUTE))
    if (
        i == len(fields.times)
        or not fields.months >> day.month & 1
        or not day_matches(fields, day.day, day.isoweekday() % 7)
    ):
        later = _first_day(fields, days + 1, -(-(end + offset) // DAY))
        if later is None:
            return None
        days, i = later, 0
    found = days * DAY + fields.times[i] * _MINUTE - offset
    return found if found < end else None


def checkpoint(fields: Fields, end: int, offset: int) -> int:
    """Return the last midnight up to ``end`` that a search without a fire surely stops at."""
    day = date.fromordinal((end + offset) // DAY + EPOCH_ORDINAL)
    if not fields.months >> day.month & 1:  # it goes from month to month
        day = day.replace(day=1)
    return (day.toordinal() - EPOCH_ORDINAL) * DAY - offset


def new_year(year: int, offset: int) -> int:
    """Return the instant at which ``year`` starts, at this offset."""
    return (date(year, 1, 1).toordinal() - EPOCH_ORDINAL) * DAY - offset


def _first_day(fields: Fields, start: int, end: int) -> int | None:
    """Return the first day in ``[start, end)`` that the schedule takes, all days since 1970."""
    day, last = (date.fromordinal(days + EPOCH_ORDINAL) for days in (start, end))
    while day < last:
        if not fields.months >> day.month & 1:
            day = (day.replace(day=1) + _MORE_THAN_A_MONTH).replace(day=1)
        elif day_matches(fields, day.day, day.isoweekday() % 7):
            return day.toordinal() - EPOCH_ORDINAL
        else:
            day += _DAY
    return None
