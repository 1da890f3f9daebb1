"""Which stretch of time a calendar shows: what is asked for, and what lies beside it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from k8sjob.errors import UsageError
from k8sjob.serve.layout import Layout, Plan, Unit
from k8sjob.zones import start_of

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_FORM = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2})(?:T([0-9]{2}))?)?)?")
_FIRST_YEAR, _LAST_YEAR = 1970, 2998
_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)
_A_YEAR = 12
#: How much of an ISO time tells a unit.
_TEXT = {Unit.YEARS: 4, Unit.MONTHS: 7, Unit.DAYS: 10, Unit.HOURS: 13}


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A stretch of time; ``start`` and ``end`` (not in it) are aware UTC.

    ``first`` and ``last`` are the beginnings of its first and last unit by the zone's clocks.
    ``earlier`` and ``later`` are what to ask for to see what lies beside it; None: it has not come,
    or there are no periods.
    """

    plan: Plan
    span: int
    first: datetime
    last: datetime
    start: datetime
    end: datetime
    earlier: str | None
    later: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is asked for: until when, as a text, and how many units. None: what is usual."""

    until: str | None = None
    span: int | None = None


def window_of(plan: Plan, wish: Wish, there: ZoneInfo, now: datetime) -> Window:
    """Return the window that is asked for; one to come is the one of ``now``. Raises UsageError."""
    unit = plan.unit
    span = next((one for one in plan.spans if one == wish.span), plan.spans[0])
    present = _floor(unit, now.astimezone(there).replace(tzinfo=None, fold=0))
    last = min(_floor(unit, _read(wish.until)), present) if wish.until else present
    first = max(_moved(unit, last, 1 - span), datetime(_FIRST_YEAR, 1, 1))  # noqa: DTZ001
    before = _moved(unit, first, -1)
    after = min(_moved(unit, last, span), present)
    # The last week of a month ends in the next one.
    reach = 6 * _DAY if plan.layout is Layout.WEEKS else timedelta()
    return Window(
        plan=plan,
        span=span,
        first=first,
        last=last,
        start=_instant(first, there),
        end=_instant(_moved(unit, last, 1), there) + reach,
        earlier=text_of(unit, before) if before.year >= _FIRST_YEAR else None,
        later=text_of(unit, after) if after > last else None,
    )


def text_of(unit: Unit, local: datetime) -> str:
    """Return how to ask for the unit that a local time is in."""
    return local.replace(tzinfo=None).isoformat()[: _TEXT[unit]]


def end_of(window: Window) -> datetime:
    """Return the end of its last unit, by the zone's clocks."""
    return _moved(window.plan.unit, window.last, 1)


def _read(text: str) -> datetime:
    match = _FORM.fullmatch(text)
    year, month, day, hour = match.groups() if match else ("0", None, None, None)
    try:
        # What is left out is the last of it.
        at = datetime(int(year), int(month or 12), int(day or 1), int(hour or 23))  # noqa: DTZ001
    except ValueError:
        at = None
    if at is None or not _FIRST_YEAR <= at.year <= _LAST_YEAR:
        raise UsageError(
            f"until={text!r} is no time of a calendar. Nothing was read.\n"
            "  Write 2026, 2026-09, 2026-09-13 or 2026-09-13T14."
        )
    return at if day else _moved(Unit.MONTHS, at, 1).replace(day=1) - _DAY


def _floor(unit: Unit, local: datetime) -> datetime:
    """Return the beginning of the unit that a local time is in."""
    hour = local.replace(minute=0, second=0, microsecond=0)
    match unit:
        case Unit.HOURS:
            return hour
        case Unit.DAYS:
            return hour.replace(hour=0)
        case Unit.MONTHS:
            return hour.replace(hour=0, day=1)
        case _:
            return hour.replace(hour=0, day=1, month=1)


def _moved(unit: Unit, local: datetime, by: int) -> datetime:
    if unit is Unit.HOURS:
        return local + by * _HOUR
    if unit is Unit.DAYS:
        return local + by * _DAY
    months = by * (_A_YEAR if unit is Unit.YEARS else 1)
    year, month = divmod(local.year * _A_YEAR + local.month - 1 + months, _A_YEAR)
    return local.replace(year=year, month=month + 1)


def _instant(local: datetime, there: ZoneInfo) -> datetime:
    if local.hour:
        return local.replace(tzinfo=there).astimezone(UTC)
    return start_of(date(local.year, local.month, local.day), there.key)
