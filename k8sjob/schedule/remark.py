"""A remark on a schedule: what surprises, and what to do instead."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


class Kind(StrEnum):
    """What a remark is about."""

    #: ``@every``: it has no instants of its own.
    EVERY = "every"
    NEVER = "never"
    #: Both day fields are restricted, so either is enough.
    EITHER_DAY = "either-day"
    #: Clocks show a time twice, and it fires twice.
    TWICE = "twice"
    #: Clocks leave out a time, and it does not fire.
    LEFT_OUT = "left-out"
    #: It does not fire at a time that exists, since clocks change before it.
    PASSED_OVER = "passed-over"
    #: It fires at a time that the schedule does not name, since clocks change before it.
    ASTRAY = "astray"


@dataclass(frozen=True, slots=True)
class Remark:
    """One surprise: a sentence that says it, and one that says what to do instead."""

    kind: Kind
    text: str
    advice: str
    #: The fires that it is about, in UTC: the second ones, or those at times not named.
    periods: tuple[datetime, ...] = ()
