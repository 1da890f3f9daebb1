"""Times, spans and texts as people read them in a table. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from k8sjob.errors import ConfigError
from k8sjob.zones import zone

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from k8sjob.ledger.read import AttemptRow

NOTHING = "-"
NO_END = "no end"
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
#: Two of a unit before the next larger one is used, as kubectl does: 90m says more than 1h.
_TWICE = 2
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


def span(length: timedelta) -> str:
    """Return ``41s``, ``15m``, ``18h`` or ``2d``, rounded down; a negative one has a minus."""
    seconds = length.total_seconds()
    sign, seconds = ("-", -seconds) if seconds < 0 else ("", seconds)
    for unit, letter in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "m")):
        if seconds >= unit and (seconds >= _TWICE * unit or letter == "d"):
            return f"{sign}{int(seconds // unit)}{letter}"
    return f"{sign}{int(seconds)}s"


def duration(length: timedelta) -> str:
    """Return how long something took: ``12ms``, ``4.2s``, ``15m``."""
    seconds = length.total_seconds()
    if 0 <= seconds < 1:
        return f"{seconds * 1000:.0f}ms"
    return f"{seconds:.1f}s" if 1 <= seconds < 10 else span(length)  # noqa: PLR2004  # one figure


def utc(at: datetime) -> str:
    """Return ``2026-09-14 19:00:00Z`` of an aware UTC time."""
    return f"{at:%Y-%m-%d %H:%M:%SZ}"


def clock(at: datetime, beside: datetime | None = None) -> str:
    """Return ``00:15:00Z`` where ``beside`` is of the same day, else the whole as `utc` does."""
    same = beside is not None and at.date() == beside.date()
    return f"{at:%H:%M:%SZ}" if same else utc(at)


def local(at: datetime, zone_name: str | None, *, year: bool = False) -> str:
    """Return ``Sun 13 Sep 02:00``, the zone's time; nothing where the zone is not known."""
    try:
        there = at.astimezone(zone(zone_name)) if zone_name else None
    except ConfigError:  # a zone that another version of the data knows: UTC says enough
        there = None
    if there is None:
        return ""
    return f"{there:%a} {there.day:2} {there:%b %Y %H:%M}" if year else (
        f"{there:%a} {there.day:2} {there:%b %H:%M}"
    )  # fmt: skip


def one_line(text: str | None) -> str:
    """Return the text in one line, without what could move a terminal's cursor."""
    return _UNPRINTABLE.sub(" ", text or "").strip()


def lines(text: str | None) -> list[str]:
    """Return the text's lines, each without what could move a terminal's cursor."""
    plain = (text or "").replace("\t", "    ").splitlines()
    return [_UNPRINTABLE.sub(" ", line).rstrip() for line in plain]


def said(attempt: AttemptRow) -> str:
    """Return what a message adds to the columns beside it: no key, no outcome, no advice."""
    text = "".join(lines(attempt.message)[:1]).removeprefix(f"{attempt.key} ")
    return text.removeprefix(attempt.outcome or "").lstrip(":, ").removesuffix(_ROLLED_BACK).strip()


#: The end of a failed target's message (k8sjob/run/result.py): so it is with every failure.
_ROLLED_BACK = " Its work was rolled back, the period is free."


def ending(attempt: AttemptRow, *, alive: bool) -> str:
    """Return ``applied``, ``failed 1``, ``running`` or ``no end``; an outcome is never guessed."""
    if attempt.outcome is None:
        return "running" if alive else NO_END
    return f"{attempt.outcome} {attempt.exit_code}" if attempt.exit_code else attempt.outcome


def count(number: int, what: str) -> str:
    """Return ``1 period``, ``2 periods``."""
    return f"{number} {what}{'' if number == 1 else 's'}"
