"""How dense a job's periods are, and so what its calendar is made of. Pure.

========  ======================  =====================================  =================
layout    for                     rows and columns                       a window is so many
========  ======================  =====================================  =================
days      at most one a day       weeks and weekdays, a table a month    months
weeks     at most one a week      months and their weeks                 months
months    rarer                   years and months                       years
blocks    more than one a day     blocks of time, and times in them      days, or hours
========  ======================  =====================================  =================

A block is a day where that has few enough columns, else a part of a day.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from enum import StrEnum
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final

from k8sjob.cycle import Cycle
from k8sjob.errors import K8sjobError
from k8sjob.schedule import parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date
    from zoneinfo import ZoneInfo

    from k8sjob.ledger.read import JobRow
    from k8sjob.schedule import Schedule

#: About as many cells are shown at once, and in a row no more than these.
CELLS, _WIDEST = 400, 30

#: Fires that are looked at: what comes in that time, and no more than so many.
_AHEAD, _MOST = timedelta(days=40), 1500
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
#: Clocks may change in between.
_WEEK, _MONTH = timedelta(days=7) - _HOUR, timedelta(days=27)


class Layout(StrEnum):
    """What the cells of a calendar stand for."""

    DAYS = "days"
    WEEKS = "weeks"
    MONTHS = "months"
    BLOCKS = "blocks"


class Unit(StrEnum):
    """What a window is measured in."""

    YEARS = "years"
    MONTHS = "months"
    DAYS = "days"
    HOURS = "hours"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a job's calendar is laid out. ``spans`` is how long windows may be, the default first."""

    layout: Layout
    unit: Unit
    spans: Sequence[int]
    block: timedelta = _DAY


_DAYS = Plan(layout=Layout.DAYS, unit=Unit.MONTHS, spans=(3, 6, 12))
_WEEKS = Plan(layout=Layout.WEEKS, unit=Unit.MONTHS, spans=(12, 24, 60))
_MONTHS = Plan(layout=Layout.MONTHS, unit=Unit.YEARS, spans=(3, 10, 30))
_OF_KIND = {Cycle.DAY: _DAYS, Cycle.WEEK: _WEEKS, Cycle.MONTH: _MONTHS}

#: Blocks, each with the unit and the lengths of its windows.
_BLOCKS: Final[Mapping[timedelta, tuple[Unit, tuple[int, ...]]]] = {
    _DAY: (Unit.DAYS, (14, 31, 92, 7, 3)),
    12 * _HOUR: (Unit.DAYS, (7, 3)),
    6 * _HOUR: (Unit.DAYS, (3, 1)),
    4 * _HOUR: (Unit.DAYS, (2, 1)),
    2 * _HOUR: (Unit.DAYS, (1,)),
    _HOUR: (Unit.HOURS, (12, 6)),
    _HOUR / 2: (Unit.HOURS, (6, 3)),
}


def schedule_of(job: JobRow) -> Schedule | None:
    """Return the newest schedule that is known of a job; None where it names no instants."""
    if job.schedule is None:
        return None
    try:
        schedule = parse(job.schedule, job.schedule_zone or "Etc/UTC")
    except K8sjobError:  # one that no controller takes, or a zone that is not known here
        return None
    return schedule if schedule.every is None else None


def fires_of(schedule: Schedule, now: datetime) -> list[datetime]:
    """Return the next fires, of the next weeks but one in any case (aware UTC)."""
    start = (schedule.next(now) or now) - timedelta(seconds=1)
    return list(islice(schedule.between(start, start + _AHEAD), _MOST))


def last_fire(schedule: Schedule, now: datetime) -> datetime | None:
    """Return the last fire up to ``now``, if it was not too long ago."""
    for days in (1, 8, 40, 370):
        found = list(schedule.between(now - days * _DAY, now))
        if found:
            return found[-1]
    return None


def plan_of(kind: Cycle | None, fires: Sequence[datetime], there: ZoneInfo) -> Plan:
    """Return how periods of a kind are laid out, some of which begin at ``fires`` (aware)."""
    if kind in _OF_KIND:
        return _OF_KIND[kind]
    if not fires:
        return _DAYS
    local = [at.astimezone(there) for at in fires]
    if max(map(len, _times_by_day(local).values()), default=1) > 1:
        return _in_blocks(local)
    shortest = min((late - early for early, late in pairwise(fires)), default=_AHEAD)
    if shortest >= _MONTH:
        return _MONTHS
    return _WEEKS if shortest >= _WEEK else _DAYS


def _in_blocks(local: Sequence[datetime]) -> Plan:
    columns = {block: len({place_in(block, at)[1] for at in local}) for block in _BLOCKS}
    block = next((block for block, n in columns.items() if n <= _WIDEST), _HOUR / 2)
    unit, spans = _BLOCKS[block]
    # So many of the unit fit into the rows that there is room for.
    room = CELLS // columns[block] * (block / (_DAY if unit is Unit.DAYS else _HOUR))
    fit = tuple(span for span in spans if span <= room)
    return Plan(layout=Layout.BLOCKS, unit=unit, spans=fit or spans[-1:], block=block)


def place_in(block: timedelta, local: datetime) -> tuple[datetime, timedelta]:
    """Return the block that a local time is in, by its beginning, and how far into it that is."""
    plain = local.replace(tzinfo=None, fold=0)
    day = datetime.combine(plain.date(), time())
    start = day + (plain - day) // block * block
    return start, plain - start


def _times_by_day(local: Sequence[datetime]) -> dict[date, set[time]]:
    # The times that clocks show: one that they show twice is one.
    found: dict[date, set[time]] = defaultdict(set)
    for at in local:
        found[at.date()].add(at.time())
    return found
