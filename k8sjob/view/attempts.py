"""``get attempts``: one line a try, as a table and as JSON. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from k8sjob.ledger.uuid7 import short
from k8sjob.view.periods import stamp
from k8sjob.view.state import is_alive
from k8sjob.view.words import NO_END, NOTHING, duration, said, utc

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from k8sjob.ledger.read import AttemptRow

HEADER = ("PERIOD", "STARTED", "DURATION", "OUTCOME", "EXIT", "POD", "MESSAGE")
WIDE = ("GENERATION", "MODE", "SOURCE", "NODE", "DB USER", "HEARTBEAT")


def cells(
    found: Sequence[AttemptRow], now: datetime, *, wide: bool, with_job: bool
) -> tuple[list[str], list[list[str]]]:
    """Return header and rows; ``wide`` has whole ids."""
    job = ["JOB"] if with_job else []
    header = ["ATTEMPT", *job, *HEADER, *(WIDE if wide else ())]
    return header, [_cells(a, now, wide=wide, with_job=with_job) for a in found]


def _cells(attempt: AttemptRow, now: datetime, *, wide: bool, with_job: bool) -> list[str]:
    row = [
        str(attempt.id) if wide else short(attempt.id),
        *([str(attempt.key.job)] if with_job else []),
        str(attempt.key.period),
        utc(attempt.started_at),
        took(attempt, now),
        outcome(attempt, now),
        NOTHING if attempt.exit_code is None else str(attempt.exit_code),
        attempt.pod_name or NOTHING,
        message(attempt, now),
    ]
    return row + _wide(attempt) if wide else row


def _wide(attempt: AttemptRow) -> list[str]:
    return [
        str(attempt.generation),
        attempt.mode,
        attempt.source,
        attempt.node or NOTHING,
        attempt.db_user or NOTHING,
        utc(attempt.heartbeat_at) if attempt.heartbeat_at else NOTHING,
    ]


def outcome(attempt: AttemptRow, now: datetime) -> str:
    """Return the outcome that was written; else ``running`` or ``no end``."""
    return attempt.outcome or ("running" if is_alive(attempt, now) else NO_END)


def took(attempt: AttemptRow, now: datetime) -> str:
    """Return how long it took, or has been under way; ``-`` where that cannot be told."""
    until = attempt.ended_at or (now if is_alive(attempt, now) else None)
    if until is None or until < attempt.started_at:
        return NOTHING
    return duration(until - attempt.started_at)


def message(attempt: AttemptRow, now: datetime) -> str:
    """Return its message; where there is no end, that none was written."""
    if attempt.ended_at is None and not is_alive(attempt, now):
        return "no end was written (killed?)"
    return said(attempt)


def as_json(attempt: AttemptRow, now: datetime) -> dict[str, Any]:
    """Return the stable form; ``docs/reference.md`` lists its fields."""
    return {
        "attempt": str(attempt.id),
        "key": str(attempt.key),
        "job": str(attempt.key.job),
        "period": str(attempt.key.period),
        "generation": attempt.generation,
        "started_at": stamp(attempt.started_at),
        "heartbeat_at": stamp(attempt.heartbeat_at),
        "ended_at": stamp(attempt.ended_at),
        "alive": is_alive(attempt, now),
        "outcome": attempt.outcome,
        "exit_code": attempt.exit_code,
        "mode": attempt.mode,
        "source": attempt.source,
        "pod": attempt.pod_name,
        "node": attempt.node,
        "db_user": attempt.db_user,
        "message": attempt.message,
        "output": attempt.tail,
    }
