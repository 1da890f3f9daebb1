"""The kinds of period, and how the text of each is written and read.

A text has exactly one spelling. Everything here goes by the calendar; zones come in with
`k8sjob.period`.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Never

from k8sjob.errors import InvalidKey


class Cycle(StrEnum):
    """The kind of a period. A job keeps one kind for life."""

    SCHEDULED = "scheduled"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    ONCE = "once"

    @property
    def on_calendar(self) -> bool:
        """Whether it is a day, week or month: one follows another, and each has a window."""
        return self in _STEP

    @classmethod
    def _missing_(cls, value: object) -> Never:
        words = ", ".join(cls)
        raise InvalidKey(
            f"cycle {value!r} is none of {words}, so no period was worked out and nothing was "
            f"done: write one of these words, e.g. {cls.DAY}."
        )


FIRST_YEAR, LAST_YEAR = 1970, 2999

#: Days that lead from the first day of a cycle into the next one.
_STEP = {Cycle.DAY: 1, Cycle.WEEK: 7, Cycle.MONTH: 31}

# [0-9] and fullmatch: \d takes the digits of every script, and $ lets a newline follow.
_YMD = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_FORMS = {
    Cycle.SCHEDULED: re.compile(_YMD + "T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z"),
    Cycle.DAY: re.compile(_YMD),
    Cycle.WEEK: re.compile("[0-9]{4}-W[0-9]{2}"),
    Cycle.MONTH: re.compile("[0-9]{4}-[0-9]{2}"),
    Cycle.ONCE: re.compile("once"),
}

#: The forms, for a person who wrote another one.
FORMS_IN_WORDS = (
    "The forms are 2026-09-13T00:00:00Z (scheduled, in UTC), 2026-09-13 (day), "
    f"2026-W37 (ISO week), 2026-09 (month) and once; years {FIRST_YEAR} to {LAST_YEAR}."
)


def cycle_of(text: str) -> Cycle | None:
    """Return the cycle whose form ``text`` has, be it in the calendar or not; None: no form."""
    return next((cycle for cycle, form in _FORMS.items() if form.fullmatch(text)), None)


def first_day_around(cycle: Cycle, day: date) -> date:
    """Return the first day of the day, ISO week or month that ``day`` is in."""
    if cycle is Cycle.MONTH:
        return day.replace(day=1)
    return day - timedelta(days=day.weekday()) if cycle is Cycle.WEEK else day


def following(cycle: Cycle, first: date) -> date:
    """Return the first day of the cycle after the one that begins on ``first``."""
    return first_day_around(cycle, first + timedelta(days=_STEP[cycle]))


def text_of(cycle: Cycle, first: date) -> str:
    """Return the text of the day, ISO week or month that begins on ``first``."""
    if cycle is Cycle.WEEK:
        year, week, _ = first.isocalendar()
        return f"{year}-W{week:02}"
    return first.isoformat()[: 7 if cycle is Cycle.MONTH else 10]


def text_at(utc: datetime) -> str:
    """Return the text of the scheduled period at a UTC instant of whole seconds."""
    return utc.replace(tzinfo=None).isoformat() + "Z"


def first_day(cycle: Cycle, text: str) -> date:
    """Return the first day that a text of the cycle's form names (scheduled: its day in UTC).

    Raises:
        ValueError: the calendar has no such day or week.
    """
    if cycle is Cycle.WEEK:
        return date.fromisocalendar(int(text[:4]), int(text[6:]), 1)
    return date.fromisoformat(f"{text}-01" if cycle is Cycle.MONTH else text[:10])


def fault_of(text: str) -> str | None:
    """Return what keeps ``text`` from being a period, as the rest of a sentence; None: nothing."""
    cycle = cycle_of(text)
    if cycle is None:
        return "is not written as a period is"
    if cycle is Cycle.ONCE:
        return None
    if not FIRST_YEAR <= int(text[:4]) <= LAST_YEAR:
        return f"lies outside of the years {FIRST_YEAR} to {LAST_YEAR}"
    try:
        first_day(cycle, text)
    except ValueError:
        return "is not in the calendar"
    return None


# What people write instead. It serves the advice only, so here \d is meant.
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})(?!\d)(.*)")
_NEARLY = re.compile(
    r"(\d{4})[-/.]?(?:W(?P<week>\d{1,2})|(?<=[-/.])(?P<month>\d{1,2})"
    r"(?:[-/.](?P<day>\d{1,2})(?:[T ]+(?P<clock>[\d:]{4,8})(?:[.,]0+)? *(?P<offset>.*))?)?)",
    re.IGNORECASE,
)


def advice_for(text: str) -> str:
    """Return what to write instead of ``text``: the canonical text where it can be told."""
    text = text.strip(" \t\r\n'\"")
    if text.lower() == "once":
        return "write once"
    near = _NEARLY.fullmatch(_COMPACT.sub(r"\1-\2-\3\4", text))
    canonical = near and _respelled(near)
    if not canonical or fault_of(canonical):
        return "write one of the forms"
    if near and near["clock"] and not near["offset"]:
        return f"say in which zone it is; write {canonical} if that is UTC"
    return f"write {canonical}"


def _respelled(near: re.Match[str]) -> str | None:
    year = f"{int(near[1]):04}"
    if near["week"]:
        return f"{year}-W{int(near['week']):02}"
    month = f"{year}-{int(near['month']):02}"
    if not near["day"]:
        return month
    day = f"{month}-{int(near['day']):02}"
    return _respelled_instant(day, near["clock"], near["offset"]) if near["clock"] else day


def _respelled_instant(day: str, clock: str, offset: str) -> str | None:
    """Return the instant in UTC, taking it for UTC where there is no offset; None: no such one."""
    offset = offset.upper().replace("UTC", "Z") or "Z"
    midnight_after = clock in {"24:00", "24:00:00"}  # ISO 8601 has it, and it is the next day's
    try:
        local = datetime.fromisoformat(f"{day}T{'00:00' if midnight_after else clock}{offset}")
        return text_at(local.astimezone(UTC) + timedelta(days=midnight_after))
    except (ValueError, OverflowError):
        return None
