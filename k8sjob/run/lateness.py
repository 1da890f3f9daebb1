"""Too late for a period: when that is, in words, and what becomes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.cycle import Cycle

if TYPE_CHECKING:
    from datetime import datetime

    from k8sjob.period import Period

_UNITS = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))


def lateness(
    period: Period, zone: str | None, fire: datetime | None, now: datetime, longest_s: float
) -> str | None:
    """Return how late it is at ``now``, e.g. ``late by 23 h > 2 h``; None: not too late.

    A scheduled period is late from its fire on, a day, week or month from its end; ``once`` and a
    natural period without a zone never are.
    """
    due = _due(period, zone, fire)
    late_s = (now - due).total_seconds() if due else 0.0
    if late_s <= longest_s:
        return None
    return f"late by {_words(late_s, longest_s)} > {_words(longest_s, 0)}"


def _due(period: Period, zone: str | None, fire: datetime | None) -> datetime | None:
    if period.cycle is Cycle.SCHEDULED:
        return fire or period.scheduled_for(zone)
    if zone is None or not period.cycle.on_calendar:
        return None
    return period.window(zone).end


def _words(seconds: float, more_than: float) -> str:
    """Return whole units of a duration, two at least, and still more than another duration."""
    for unit, size in _UNITS:
        count = int(seconds // size)
        if count >= 2 and count * size > more_than:  # noqa: PLR2004  # 90 min and not 1 h
            return f"{count} {unit}"
    return f"{seconds:.1f} s"
