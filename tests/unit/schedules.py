"""Versions of a schedule, and what is expected by them. Times are UTC."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from k8sjob.expect import Version, expected
from k8sjob.period import Cycle

if TYPE_CHECKING:
    from k8sjob.expect import Expected

BERLIN = "Europe/Berlin"
LONG_AGO = "2020-01-01"


def at(text: str) -> datetime:
    """Read ``2026-09-13 12:00`` as UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def version(
    expr: str,
    zone: str | None = None,
    *,
    began: tuple[str, str] = (LONG_AGO, LONG_AGO),
    ended: tuple[str, str] | None = None,
    **more: Any,
) -> Version:
    """Return a version that began, and ended, in these intervals; without any, always."""
    values: dict[str, Any] = {"n": 1, "expr": expr, "zone": zone}
    values |= {"earliest_from": at(began[0]), "valid_from": at(began[1])}
    if ended is not None:
        values |= {"earliest_to": at(ended[0]), "valid_to": at(ended[1])}
    return Version(**values | more)


def found(
    versions: list[Version], cycle: Cycle, after: str, upto: str, grace_s: float | None = None
) -> list[Expected]:
    """Return what is expected of a stretch of time."""
    return list(expected(versions, cycle, after=at(after), upto=at(upto), grace_s=grace_s))


def texts(some: list[Expected]) -> list[str]:
    """Return the texts of periods, with a ``?`` where they are uncertain."""
    return [f"{one.period}{'?' * one.uncertain}" for one in some]


def noon(some: list[Version], after: str = "11:30", upto: str = "12:30") -> list[Expected]:
    """Return the scheduled periods around noon of 13 September."""
    return found(some, Cycle.SCHEDULED, f"2026-09-13 {after}", f"2026-09-13 {upto}")


def span(first: str, last: str) -> tuple[str, str]:
    """Return two times of 13 September."""
    return (f"2026-09-13 {first}", f"2026-09-13 {last}")


def edited(old: str, new: str, **more: Any) -> list[Version]:
    """Return two versions, one edited into the other at some time around noon."""
    around = span("11:50", "12:10")
    return [version(old, ended=around), version(new, n=2, began=around, **more)]
