"""Times and texts as the pages show them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from k8sjob.states import State
from k8sjob.view.words import clock, local, one_line, span, utc

if TYPE_CHECKING:
    from datetime import datetime

    from k8sjob.view.periods import Line

#: Characters of a reason in a table; the job's page has all of it.
_LONGEST = 160


class When(NamedTuple):
    """An instant: for a program, in UTC, in the job's zone, and how far off it is.

    ``local`` is empty where the zone is UTC, or not known.
    """

    iso: str
    utc: str
    local: str
    off: str


def when(at: datetime, zone: str | None, now: datetime) -> When:
    """Return how an instant is shown at ``now``."""
    there = "" if zone in _UTC else local(at, zone)
    off = f"in {span(at - now)}" if at > now else f"{span(now - at)} ago"
    return When(f"{at:%Y-%m-%dT%H:%M:%SZ}", utc(at), f"{there} {zone}" if there else "", off)


def maybe_when(at: datetime | None, zone: str | None, now: datetime) -> When | None:
    """Return how an instant is shown, where there is one."""
    return when(at, zone, now) if at else None


_UTC = frozenset({None, "UTC", "Etc/UTC"})


def lateness(line: Line) -> str:
    """Return ``2d late``, ``due by 00:15:00Z`` or ``3h old``."""
    if line.state is State.MISSING:
        return f"{line.age} late"
    if line.state is State.DUE:
        return f"due by {clock(line.deadline, line.at)}" if line.deadline else f"{line.age} late"
    return f"{line.age} old"


def short(text: str | None) -> str:
    """Return a text in one line that fits into a table."""
    plain = one_line(text)
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 1].rstrip()}…"


def name_of(line: Line) -> str:
    """Return the text of a period; a part's has the part before it."""
    part = line.key.job.part
    return f"{part}:{line.key.period}" if part else str(line.key.period)
