"""One line of what the doctor says. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Each check and what it looks at. docs/doctor.md says more of each, and a test compares the two.
CHECKS: Final[Mapping[str, str]] = {
    "dsn": "where the ledger's address comes from",
    "reached": "whether the server lets this login in",
    "version": "whether the server is new enough",
    "writable": "whether the ledger takes writes",
    "schema": "whether the ledger's schema is there, and fits this client",
    "grants": "whether the login may do what it is for, and no more",
    "transactions": "whether several statements are one transaction",
    "pooler": "whether a pooler is between, and in which mode",
    "timeouts": "whether the server cuts work short",
    "keepalives": "how soon the server notices a client that is gone",
    "durability": "whether a commit outlives a crash of the server",
    "clock": "whether this clock and the ledger's agree",
    "file": "whether the file of a SQLite ledger can be used",
    "rbac": "whether the service account may do what it is for",
    "zones": "whether the rules of time zones are there",
    "environment": "whether a run learns here what it is for",
    "settings": "whether the K8SJOB_ variables can be read",
}


class Status(StrEnum):
    """``warn``: it works, but. ``fail``: what it is for cannot be done, or not safely."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Line:
    """What was seen and what to do about it; ``ledger`` where it is about one."""

    status: Status
    check: str
    seen: str
    do: str = ""
    ledger: str | None = None

    @property
    def text(self) -> str:
        """Both, on one line."""
        return "; ".join(filter(None, (one_line(self.seen), one_line(self.do))))

    def of(self, ledger: str) -> Line:
        """Return the line with its ledger's name."""
        return replace(self, ledger=ledger)


def ok(check: str, seen: str) -> Line:
    """Return a line about what is as it should be."""
    return Line(Status.OK, check, seen)


def warn(check: str, seen: str, do: str) -> Line:
    """Return a line about what works, but."""
    return Line(Status.WARN, check, seen, do)


def fail(check: str, seen: str, do: str) -> Line:
    """Return a line about what has to be repaired."""
    return Line(Status.FAIL, check, seen, do)


def one_line(text: str) -> str:
    """Return the text without line breaks."""
    return " ".join(text.split())


def seconds(value: float) -> str:
    """Return a duration in words: ``3 ms``, ``12.5 s``, ``40 min``, ``2 h 11 min``."""
    if value < 1:
        return f"{value * 1000:.0f} ms"
    if value < 120:  # noqa: PLR2004  # below that a person counts in seconds
        return f"{value:.3g} s"
    hours, minutes = divmod(round(value / 60), 60)
    return " ".join(
        filter(None, (f"{hours} h" if hours else "", f"{minutes} min" if minutes else ""))
    )
