"""The five fields of a schedule, read as robfig/cron v3.0.1 reads them (parser.go).

That is the library of the CronJob controller. It takes more than a crontab does (``?``, names in
any case, ``5/15``, ``1,,3``, ``+5``, ``*-5``) and less (no 7 for Sunday, no wrap-around).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from k8sjob.schedule import advice
from k8sjob.schedule.advice import Misread


class Bounds(NamedTuple):
    """What a field is called, and its smallest value, its largest, and the names from the first."""

    name: str
    first: int
    last: int
    names: tuple[str, ...] = ()


MINUTE = Bounds("minute", 0, 59)
HOUR = Bounds("hour", 0, 23)
DAY = Bounds("day of month", 1, 31)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH = Bounds("month", 1, 12, _MONTHS)
WEEKDAY = Bounds("day of week", 0, 6, ("sun", "mon", "tue", "wed", "thu", "fri", "sat"))
BOUNDS = (MINUTE, HOUR, DAY, MONTH, WEEKDAY)

# What strings.Fields of Go splits at: str.split would take the separators \x1c to \x1f too.
_BLANKS = re.compile(r"[^\S\x1c-\x1f]+")
_NUMBER = re.compile(r"[+-]?[0-9]+")
_INT_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Fields:
    """Which values each field takes: bit ``n`` of a mask stands for the value ``n``.

    Days of the week go from 0, Sunday. A field may take nothing: then the schedule never fires.
    """

    minutes: int
    hours: int
    days: int
    months: int
    weekdays: int
    #: Whether one of the two day fields has a star, so that both have to match.
    day_star: bool
    #: The minutes of a day (0 to 1439) that hours and minutes take, in order.
    times: tuple[int, ...]


class Part(NamedTuple):
    """The values that a field, or an item of its list, takes, and whether it counts as a star."""

    mask: int
    star: bool


def read_fields(text: str) -> Fields:
    """Read the five fields of ``text``.

    Raises:
        Misread: it is something else; with the field and with what would be right.
    """
    words = [word for word in _BLANKS.split(text) if word]
    if len(words) != len(BOUNDS):
        raise advice.another_count(words)
    minute, hour, day, month, weekday = map(read_field, words, BOUNDS)
    return Fields(
        minute.mask,
        hour.mask,
        day.mask,
        month.mask,
        weekday.mask,
        day.star or weekday.star,
        tuple(60 * h + m for h in values(hour.mask) for m in values(minute.mask)),
    )


def read_field(text: str, bounds: Bounds) -> Part:
    """Read a list of items; empty items count for nothing."""
    mask, star = 0, False
    for item in filter(None, text.split(",")):
        part = _read_item(item, bounds)
        mask |= part.mask
        star |= part.star
    return Part(mask, star)


def values(mask: int) -> list[int]:
    """Return the values that a mask takes, in order."""
    return [value for value in range(mask.bit_length()) if mask >> value & 1]


def day_matches(fields: Fields, day: int, weekday: int) -> bool:
    """Tell whether a day of the month that falls on ``weekday`` is one of the schedule's.

    Either field is enough, unless one has a star: then both must match (robfig, ``dayMatches``).
    """
    by_day, by_weekday = fields.days >> day & 1, fields.weekdays >> weekday & 1
    return bool(by_day & by_weekday if fields.day_star else by_day | by_weekday)


def star_survives(step: int) -> bool:
    """Tell whether ``*/step`` still counts as a star: only ``*/1`` does."""
    return step == 1


def _read_item(item: str, bounds: Bounds) -> Part:
    span, *steps = item.split("/")
    low, *highs = span.split("-")
    if len(steps) > 1:
        raise Misread(f"{bounds.name} {item!r} has two slashes", f"write {span}/{steps[0]}")
    step = _number(steps[0], item, Bounds(bounds.name, 1, bounds.last)) if steps else 1
    if step < 1:
        raise Misread(f"{bounds.name} {item!r} has the step {step}", "write a step of 1 or more")
    if low in {"*", "?"}:  # what follows a hyphen is not even looked at
        return Part(_mask(bounds.first, bounds.last, step), star_survives(step))
    first, last = _span(low, highs, item, bounds)
    if steps and not highs:  # n/step is n-max/step
        last = bounds.last
    _check(first, last, step, item, bounds)
    return Part(_mask(first, last, step), star=False)


def _span(low: str, highs: list[str], item: str, bounds: Bounds) -> tuple[int, int]:
    if len(highs) > 1:
        raise advice.unknown(item, item, bounds)
    first = _number(low, item, bounds)
    return first, _number(highs[0], item, bounds) if highs else first


def _number(text: str, item: str, bounds: Bounds) -> int:
    if text.lower() in bounds.names:
        return bounds.names.index(text.lower()) + bounds.first
    # As strconv.Atoi: ASCII digits, and no more than a 64-bit int holds.
    digits = text.lstrip("+-0") or "0"
    if not _NUMBER.fullmatch(text) or len(digits) > len(str(_INT_MAX)) or int(digits) > _INT_MAX:
        raise advice.unknown(text, item, bounds)
    return int(digits) * (-1 if text.startswith("-") else 1)


def _check(first: int, last: int, step: int, item: str, bounds: Bounds) -> None:
    for value in (first, last):
        if not bounds.first <= value <= bounds.last:
            raise advice.out_of_bounds(value, item, bounds)
    if first > last:
        raise advice.wraps(first, last, step, item, bounds)


def _mask(first: int, last: int, step: int) -> int:
    return sum(1 << value for value in range(first, last + 1, step))
