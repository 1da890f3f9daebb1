"""``get periods``: what each period is, as a table and as JSON. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from k8sjob.ledger.read import Tries
from k8sjob.ledger.uuid7 import short
from k8sjob.states import State
from k8sjob.view import state as st
from k8sjob.view.words import NOTHING, ending, local, one_line, said, span

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from k8sjob.key import Key
    from k8sjob.ledger.read import PeriodRow, Snapshot

#: The reason where nothing tells one.
UNTRIED = "no attempt is known"
#: The origin of a period that has no row and no attempt: its schedule names it.
COMPUTED = "computed"


@dataclass(frozen=True, slots=True)
class Line:
    """A period, its row (None: tried, or only worked out) and what it is at the moment."""

    key: Key
    row: PeriodRow | None
    tries: Tries
    state: State
    zone: str | None
    at: datetime | None
    deadline: datetime | None
    age: str
    reason: str


def lines(seen: Snapshot, states: frozenset[State]) -> list[Line]:
    """Return the periods in one of ``states``: by job, within it the oldest first."""
    made = [line_of(seen, key) for key in seen.rows]
    wanted = [line for line in made if line.state in states]
    return sorted(wanted, key=lambda line: (str(line.key.job), st.oldest_first(seen, line.key)))


def cut(seen: Snapshot, found: list[Line], limit: int) -> list[Line]:
    """Leave the oldest finished ones out first, then the newest of the unfinished."""

    def rank(line: Line) -> tuple[bool, float]:
        at = st.age_from(seen, line.key).timestamp()
        late = line.state in st.UNFINISHED
        return (not late, at if late else -at)

    kept = {line.key for line in sorted(found, key=rank)[:limit]}
    return [line for line in found if line.key in kept]


def line_of(seen: Snapshot, key: Key) -> Line:
    """Return what one period is."""
    row, tries = seen.rows[key], seen.tries.get(key, Tries())
    state = st.state_of(row, tries, seen.now, seen.slots.get(key))
    return Line(
        key=key,
        row=row,
        tries=tries,
        state=state,
        zone=st.zone_of(seen, key),
        at=st.time_of(seen, key),
        deadline=st.deadline_of(seen, key),
        age=span(seen.now - st.age_from(seen, key)),
        reason=_reason(seen, key, state),
    )


def _reason(seen: Snapshot, key: Key, state: State) -> str:
    """Return why it is as it is: a person's or policy's word, else the last attempt's."""
    row, tries = seen.rows[key], seen.tries.get(key, Tries())
    if state in (State.DONE, State.UPCOMING, State.RUNNING):
        return one_line(row.reason if row else None)
    if state is State.SUSPENDED:
        return "the CronJob was suspended"
    holds = st.in_force(seen.holds, key, seen.now)
    if holds and state in (State.DUE, State.MISSING):
        return f"held: {one_line(holds[0].reason)}"
    if row is not None and row.reason:
        lapsed = " (its time is up)" if st.has_lapsed(row, seen.now) else ""
        return one_line(row.reason) + lapsed
    return _why_not_done(tries, uncertain=st.is_uncertain(seen, key))


def _why_not_done(tries: Tries, *, uncertain: bool) -> str:
    last = tries.last
    if last is None:
        return "schedule uncertain" if uncertain else UNTRIED
    if last.ended_at is None:
        return "no end was written (killed?)"
    return said(last)


HEADER = ("STATE", "ATTEMPTS", "LAST", "AGE", "REASON")
WIDE = ("GENERATION", "ATTEMPT", "DONE AT", "DEADLINE", "ORIGIN")


def cells(
    seen: Snapshot, found: Sequence[Line], *, wide: bool, with_job: bool
) -> tuple[list[str], list[list[str]]]:
    """Return header and rows. One zone stands in the header, several in the cells."""
    zones = {line.zone for line in found if line.zone}
    only = zones.pop() if len(zones) == 1 else None
    header = ["JOB"] if with_job else []
    header += ["PERIOD", f"SCHEDULED ({only})" if only else "SCHEDULED", *HEADER]
    rows = [_cells(seen, line, wide=wide, with_job=with_job, only=only) for line in found]
    return header + (list(WIDE) if wide else []), rows


def _cells(
    seen: Snapshot, line: Line, *, wide: bool, with_job: bool, only: str | None
) -> list[str]:
    there = local(line.at, line.zone) if line.at else ""
    last = line.tries.last
    row = [str(line.key.job)] if with_job else []
    row += [
        str(line.key.period),
        (there if only or not there else f"{there} {line.zone}") or NOTHING,
        str(line.state),
        str(line.tries.count),
        ending(last, alive=st.is_alive(last, seen.now)) if last else NOTHING,
        line.age,
        line.reason,
    ]
    return row + _wide(line, origin_of(seen, line.key)) if wide else row


def _wide(line: Line, origin: str | None) -> list[str]:
    row = line.row
    return [
        str(row.generation) if row else NOTHING,
        short(row.attempt) if row and row.attempt else NOTHING,
        (stamp(row.done_at) if row else None) or NOTHING,
        stamp(line.deadline) or NOTHING,
        origin or NOTHING,
    ]


def origin_of(seen: Snapshot, key: Key) -> str | None:
    """Return who made the row; ``computed`` where there is none and the schedule names it."""
    row = seen.rows.get(key)
    return row.origin if row else COMPUTED if key in seen.slots else None


def stamp(at: datetime | None) -> str | None:
    """Return ``2026-09-13T00:00:07Z``, for a program."""
    return f"{at:%Y-%m-%dT%H:%M:%SZ}" if at else None


def as_json(seen: Snapshot, line: Line) -> dict[str, Any]:
    """Return the stable form; ``docs/reference.md`` lists its fields."""
    row, last = line.row, line.tries.last
    return {
        "key": str(line.key),
        "job": str(line.key.job),
        "period": str(line.key.period),
        "state": str(line.state),
        "stored": row.state if row else None,
        "unfinished": line.state in st.UNFINISHED,
        "scheduled_for": stamp(line.at),
        "time_zone": line.zone,
        "deadline": stamp(line.deadline),
        "uncertain": st.is_uncertain(seen, line.key),
        "reason": line.reason or None,
        "until": stamp(row.until) if row else None,
        "generation": row.generation if row else 0,
        "attempt": str(row.attempt) if row and row.attempt else None,
        "done_at": stamp(row.done_at) if row else None,
        "changed_at": stamp(row.changed_at) if row else None,
        "origin": origin_of(seen, line.key),
        "superseded_by": row.superseded_by if row else None,
        "attempts": line.tries.count,
        "alive": any(st.is_alive(a, seen.now) for a in line.tries.endless),
        "last_attempt": str(last.id) if last else None,
        "last_outcome": last.outcome if last else None,
        "last_exit_code": last.exit_code if last else None,
    }
