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
    from k8sjob.ledger.tail import Slot

#: A long run's heartbeat comes each half minute: after three minutes without a word nobody knows.
ALIVE_FOR = timedelta(minutes=3)

#: What has to be done or decided, in the order in which it is counted.
UNFINISHED = (State.MISSING, State.BLOCKED, State.AWAITING, State.RUNNING, State.DUE)
#: All that a period in a list can be.
LISTED = (*UNFINISHED, State.UPCOMING, State.SUSPENDED, State.DONE, State.SKIPPED)


def is_alive(attempt: AttemptRow, now: datetime) -> bool:
    """Whether an attempt is under way as far as is known: no end, and a sign of life just now."""
    signs = [at for at in (attempt.started_at, attempt.heartbeat_at) if at is not None]
    return attempt.ended_at is None and any(abs(now - at) < ALIVE_FOR for at in signs)


def state_of(row: PeriodRow | None, tries: Tries, now: datetime, slot: Slot | None = None) -> State:
    """Return the state: the stored one unless it is open, or a block whose time is up.

    ``slot`` is what the job's schedule says of a period beyond the job's mark.
    """
    stored = State(row.state) if row else State.OPEN
    if row is not None and has_lapsed(row, now):
        stored = State.OPEN
    if stored is not State.OPEN:
        return stored
    if any(is_alive(attempt, now) for attempt in tries.endless):
        return State.RUNNING
    if row is None:
        return _of_slot(slot, tries, now) if slot else State.DUE
    return _of_open(row, now, slot)


def _of_slot(slot: Slot, tries: Tries, now: datetime) -> State:
    if slot.suspended and not tries.count:  # at resume Kubernetes starts the last one of them
        return State.SUSPENDED
    if slot.expected.first_fire > now:
        return State.UPCOMING
    return State.MISSING if slot.deadline is not None and slot.deadline <= now else State.DUE


def _of_open(row: PeriodRow, now: datetime, slot: Slot | None) -> State:
    if row.scheduled_for is not None and row.scheduled_for > now:
        return State.UPCOMING
    deadline = row.deadline_at or (slot.deadline if slot else None)
    if deadline is not None:
        return State.MISSING if deadline <= now else State.DUE
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
    row, slot, job = seen.rows.get(key), seen.slots.get(key), seen.jobs.get(key.job.job)
    told = (row.zone if row else None) or (slot.expected.zone if slot else None)
    return told or (job.zone if job else None)


def time_of(seen: Snapshot, key: Key) -> datetime | None:
    """Return the period's nominal instant, aware UTC; None for ``once`` and unknown zones."""
    row, slot = seen.rows.get(key), seen.slots.get(key)
    if row is not None and row.scheduled_for is not None:
        return row.scheduled_for
    if slot is not None:
        return slot.expected.scheduled_for
    try:
        return key.period.scheduled_for(zone_of(seen, key))
    except ConfigError:  # a zone that another version of the data knows
        return None


def deadline_of(seen: Snapshot, key: Key) -> datetime | None:
    """Return from when on the period is missing, aware UTC; None where it is not known."""
    row, slot = seen.rows.get(key), seen.slots.get(key)
    return (row.deadline_at if row else None) or (slot.deadline if slot else None)


def is_uncertain(seen: Snapshot, key: Key) -> bool:
    """Whether it is not known if the job had the schedule that names the period."""
    row, slot = seen.rows.get(key), seen.slots.get(key)
    return row.uncertain if row else bool(slot and slot.expected.uncertain and not slot.suspended)


def age_from(seen: Snapshot, key: Key) -> datetime:
    """Return the instant that a period's age is counted from, the best one that is known."""
    at = time_of(seen, key) or key.period.scheduled_for("Etc/UTC")
    row, last = seen.rows.get(key), seen.tries.get(key, Tries()).last
    return at or (row.changed_at if row else None) or (last.started_at if last else seen.now)


def oldest_first(seen: Snapshot, key: Key) -> tuple[datetime, str]:
    """Return what sorts periods by time; they may be of several kinds."""
    return age_from(seen, key).astimezone(UTC), str(key)
