"""What a period is at a moment, computed from what is stored. Pure; ``now`` is an argument."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from k8sjob.errors import ConfigError
from k8sjob.ledger.read import Tries
from k8sjob.states import State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from k8sjob.key import Key
    from k8sjob.ledger.read import AttemptRow, HoldRow, PeriodRow, Snapshot

#: A long run's heartbeat comes once a minute: after three without a word nobody knows any more.
ALIVE_FOR = timedelta(minutes=3)

#: What has to be done or decided, in the order in which it is counted.
UNFINISHED = (State.MISSING, State.BLOCKED, State.AWAITING, State.RUNNING, State.DUE)
#: All that a period in a list can be.
LISTED = (*UNFINISHED, State.UPCOMING, State.DONE, State.SKIPPED)


def is_alive(attempt: AttemptRow, now: datetime) -> bool:
    """Whether an attempt is under way as far as is known: no end, and a sign of life just now."""
    signs = [at for at in (attempt.started_at, attempt.heartbeat_at) if at is not None]
    return attempt.ended_at is None and any(abs(now - at) < ALIVE_FOR for at in signs)


def state_of(row: PeriodRow | None, tries: Tries, now: datetime) -> State:
    """Return the state: the stored one unless it is open, or a block whose time is up."""
    stored = State(row.state) if row else State.OPEN
    if row is not None and has_lapsed(row, now):
        stored = State.OPEN
    if stored is not State.OPEN:
        return stored
    if any(is_alive(attempt, now) for attempt in tries.endless):
        return State.RUNNING
    if row is None:
        return State.DUE
    return _of_open(row, now)


def _of_open(row: PeriodRow, now: datetime) -> State:
    if row.scheduled_for is not None and row.scheduled_for > now:
        return State.UPCOMING
    if row.deadline_at is not None:
        return State.MISSING if row.deadline_at <= now else State.DUE
    return State.MISSING if row.origin == "reconciler" else State.DUE


def has_lapsed(row: PeriodRow, now: datetime) -> bool:
    """Whether it is blocked until a time that has passed: claims take it for open."""
    return row.state == State.BLOCKED and row.until is not None and row.until <= now


def in_force(holds: Sequence[HoldRow], key: Key, now: datetime) -> list[HoldRow]:
    """Return the holds that stop a claim of ``key`` now."""
    return [h for h in holds if h.covers(key.job) and not is_over(h, now) and h.from_at <= now]


def is_over(hold: HoldRow, now: datetime) -> bool:
    """Whether a hold's time has passed, though nobody has lifted it."""
    return hold.until is not None and hold.until <= now


def zone_of(seen: Snapshot, key: Key) -> str | None:
    """Return the name of the zone in which the period counts, where it is known."""
    row, job = seen.rows.get(key), seen.jobs.get(key.job.job)
    return (row.zone if row else None) or (job.zone if job else None)


def time_of(seen: Snapshot, key: Key) -> datetime | None:
    """Return the period's nominal instant, aware UTC; None for ``once`` and unknown zones."""
    row = seen.rows.get(key)
    if row is not None and row.scheduled_for is not None:
        return row.scheduled_for
    try:
        return key.period.scheduled_for(zone_of(seen, key))
    except ConfigError:  # a zone that another version of the data knows
        return None


def age_from(seen: Snapshot, key: Key) -> datetime:
    """Return the instant that a period's age is counted from, the best one that is known."""
    at = time_of(seen, key) or key.period.scheduled_for("Etc/UTC")
    row, last = seen.rows.get(key), seen.tries.get(key, Tries()).last
    return at or (row.changed_at if row else None) or (last.started_at if last else seen.now)


def oldest_first(seen: Snapshot, key: Key) -> tuple[datetime, Key]:
    """Return what sorts periods by time."""
    return age_from(seen, key).astimezone(UTC), key
