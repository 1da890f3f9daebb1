"""Rows of what the reconciler asks, as values, and values as parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from k8sjob.expect import Version
from k8sjob.key import JobName, Key
from k8sjob.ledger.operate import Scope
from k8sjob.ledger.watch import OpenAttempt, Unfinished
from k8sjob.period import Period

if TYPE_CHECKING:
    from collections.abc import Sequence

    from k8sjob.ledger.watch import Due


def key_of(job: str, period: str) -> Key:
    """Return the key of a row."""
    return Key(JobName.parse(job), Period.parse(period))


def keys_params(keys: Sequence[Key]) -> dict[str, list[str]]:
    """Return keys as two arrays."""
    return {"jobs": [str(k.job) for k in keys], "periods": [str(k.period) for k in keys]}


def version_of(row: Sequence[Any]) -> Version:
    """Return a version of a schedule from its row."""
    n, expr, zone, suspended, earliest_from, valid_from, earliest_to, valid_to, direct = row
    return Version(
        n=n,
        expr=expr,
        zone=zone,
        suspended=suspended,
        earliest_from=earliest_from,
        valid_from=valid_from,
        earliest_to=earliest_to if valid_to is None else earliest_to or valid_to,
        valid_to=valid_to,
        direct=direct,
    )


_UNFINISHED = (
    *("state", "generation", "scheduled_for", "deadline_at", "uncertain", "origin"),
    *("reason_code", "reason", "until", "await_deadline", "tries"),
)
_ATTEMPT = (
    *("mode", "job_uid", "job_name", "pod_uid", "pod_name"),
    *("started_at", "heartbeat_at", "came_to"),
)


def unfinished_of(row: tuple[Any, ...]) -> Unfinished:
    """Return an unfinished period from its row."""
    job, period, *rest = row
    return Unfinished(key=key_of(job, period), **dict(zip(_UNFINISHED, rest, strict=True)))


def attempt_of(row: tuple[Any, ...]) -> OpenAttempt:
    """Return an attempt without an end from its row."""
    attempt, job, period, *rest = row
    return OpenAttempt(
        id=attempt, key=key_of(job, period), **dict(zip(_ATTEMPT, rest, strict=True))
    )


def scope_of(namespace: str | None, job: str | None) -> Scope:
    """Return what a hold is about."""
    return Scope(namespace, JobName.parse(job) if job else None)


def due_params(due: Due) -> dict[str, Any]:
    """Return a due period as JSON has it."""
    return {
        "period": str(due.key.period),
        "scheduled_for": due.scheduled_for and due.scheduled_for.isoformat(),
        "window_end": due.window_end and due.window_end.isoformat(),
        "zone": due.zone,
        "schedule_n": due.version,
        "deadline_at": due.deadline.isoformat(),
        "uncertain": due.uncertain,
        "reason_code": due.code,
        "reason": due.reason,
    }
