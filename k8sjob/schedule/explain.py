"""What surprises about a schedule, in words, and what to do instead."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from k8sjob.schedule.changes import changes
from k8sjob.schedule.clock import EPOCH
from k8sjob.schedule.every import fields_like
from k8sjob.schedule.fields import values
from k8sjob.schedule.remark import Kind, Remark
from k8sjob.schedule.wording import of_changes

if TYPE_CHECKING:
    from k8sjob.schedule.fields import Fields
    from k8sjob.schedule.schedule import Schedule

__all__ = ["Kind", "Remark", "remarks"]

_YEAR = timedelta(days=366)
_SECOND = timedelta(seconds=1)

#: How many days each month has at most.
_LONGEST = (0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def remarks(schedule: Schedule, start: datetime, years: int = 1) -> list[Remark]:
    """Return what surprises about ``schedule``, for the ``years`` (of 366 days) after ``start``.

    Raises:
        InvalidKey: ``start`` is naive, or lies outside of the years 1970 to 2999.
    """
    if schedule.fields is None:
        return [_every(schedule.every or 1)]
    if schedule.next(start) is None:
        return [_never(schedule.fields)]
    end = start + years * _YEAR
    first, last = ((instant - EPOCH) // _SECOND for instant in (start, end))
    found = changes(schedule.fields, schedule.clock, first, last)
    return [*_either_day(schedule), *of_changes(found, len(schedule.fields.times))]


def _every(seconds: int) -> Remark:
    return Remark(
        Kind.EVERY,
        f"Counts {seconds} s from one start to the next, so it has no instants of its own: its "
        "periods can be claimed, but none can be expected or found missing.",
        f"Write five fields instead, e.g. {fields_like(seconds)!r}.",
    )


# ------------------------------------------------------------------------------------- the fields


def _never(fields: Fields) -> Remark:
    why, instead = _why_never(fields)
    return Remark(
        Kind.NEVER, f"Never fires: {why}. Kubernetes takes it, and starts nothing.", f"{instead}."
    )


def _why_never(fields: Fields) -> tuple[str, str]:
    empty = {
        "minute": fields.minutes,
        "hour": fields.hours,
        "day of month": fields.days,
        "month": fields.months,
        "day of week": fields.weekdays,
    }
    for name, mask in empty.items():
        if not mask:
            return f"the field {name} names nothing", f"Name a {name}, or write *"
    first, longest = values(fields.days)[0], max(_LONGEST[m] for m in values(fields.months))
    if first > longest:
        return f"no month that it names has a day {first}", f"Write a day up to {longest}"
    return (
        "no day fits for five years, and the controller looks no further",
        "Write a day of month up to 28, which each month has",
    )


def _either_day(schedule: Schedule) -> list[Remark]:
    fields = schedule.fields
    if fields is None or fields.day_star or not fields.days or not fields.weekdays:
        return []
    _, _, day, _, weekday = schedule.text.split()  # descriptors have a star
    step = next((word for word in (day, weekday) if word[:2] in {"*/", "?/"}), None)
    note = f" ({step} does not count as a star)" if step else ""
    return [
        Remark(
            Kind.EITHER_DAY,
            f"Fires on each day that day of month {day!r} or day of week {weekday!r} names, not "
            f"only where both do{note}.",
            "If both are meant, keep one of the two, and let the job raise Skipped on other days.",
        )
    ]
