"""Rows that cannot be right, or that a crashed world left behind: what is known of them. Pure.

Nothing is guessed: a sentence says which two stored facts do not go together, and no more.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from k8sjob.ledger.uuid7 import short
from k8sjob.states import State
from k8sjob.view.state import has_lapsed, is_alive, time_of
from k8sjob.view.words import utc

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from k8sjob.key import Key
    from k8sjob.ledger.read import AttemptRow, PeriodRow, Snapshot

#: Two clocks may differ by so much before it is worth a word; claims allow the same (section 3).
_TOLERANCE = timedelta(minutes=5)


def oddities(seen: Snapshot, key: Key) -> Iterator[str]:
    """Yield a sentence for each thing that somebody should know before believing the rest."""
    row = seen.rows.get(key)
    if row is not None:
        yield from _of_row(seen, key, row)
    for attempt in seen.attempts:
        yield from of_attempt(attempt, seen.now)


def _of_row(seen: Snapshot, key: Key, row: PeriodRow) -> Iterator[str]:
    at, job = time_of(seen, key), seen.jobs.get(key.job.job)
    if row.done_at and at and row.done_at < at - _TOLERANCE:
        yield (
            f"done at {utc(row.done_at)}, before its own time {utc(at)}: a clock was wrong, or the "
            "period"
        )
    if row.changed_at > seen.now + _TOLERANCE:
        yield f"changed at {utc(row.changed_at)}, which is in the future: a clock was wrong"
    if has_lapsed(row, seen.now) and row.until:
        yield f"blocked until {utc(row.until)}, which has passed: an attempt takes it for open"
    if row.state == State.AWAITING and row.await_deadline and row.await_deadline <= seen.now:
        yield f"its effect was to show by {utc(row.await_deadline)}, which has passed"
    stored = row.state not in (State.DONE, State.SKIPPED)
    if stored and job is not None and job.floor is not None and str(key.period) <= job.floor:
        yield (
            f"not finished, and not above the job's floor {job.floor}: it can still be done, "
            "because its row is there"
        )


def of_attempt(attempt: AttemptRow, now: datetime) -> Iterator[str]:
    """Yield what is odd about one attempt."""
    name = f"attempt {short(attempt.id)}"
    if attempt.ended_at is not None and attempt.ended_at < attempt.started_at:
        yield (
            f"{name} ended at {utc(attempt.ended_at)}, before it started at "
            f"{utc(attempt.started_at)}: a clock was wrong, how long it took is not known"
        )
    if attempt.started_at > now + _TOLERANCE:
        yield f"{name} started at {utc(attempt.started_at)}, in the future: a clock was wrong"
    elif attempt.ended_at is None and not is_alive(attempt, now):
        sign = attempt.heartbeat_at or attempt.started_at
        yield (
            f"{name} has no end, and its last sign of life was at {utc(sign)}: whether it was "
            "killed or still works is not known"
        )
