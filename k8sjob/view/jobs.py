"""``get jobs``: what each job owes, as a table and as JSON. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from k8sjob.errors import ConfigError
from k8sjob.schedule import parse
from k8sjob.states import State
from k8sjob.view import state as st
from k8sjob.view.periods import UNTRIED, stamp
from k8sjob.view.periods import lines as period_lines
from k8sjob.view.words import NOTHING, clock, one_line, span

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from k8sjob.ledger.read import HoldRow, JobRow, Snapshot
    from k8sjob.schedule import Schedule
    from k8sjob.view.periods import Line


@dataclass(frozen=True, slots=True)
class JobLine:
    """A job and its unfinished periods, those of its parts among them, the oldest first."""

    job: JobRow
    unfinished: Sequence[Line]
    holds: Sequence[HoldRow]
    next: datetime | None

    def counts(self) -> dict[State, int]:
        """Return how many there are of each unfinished state that there is."""
        found = Counter(line.state for line in self.unfinished)
        return {state: found[state] for state in st.UNFINISHED if found[state]}


def lines(seen: Snapshot, states: frozenset[State] | None = None) -> list[JobLine]:
    """Return the jobs by name; with ``states`` only those with a period in one of them."""
    owed: dict[str, list[Line]] = {}
    for line in period_lines(seen, frozenset(st.UNFINISHED)):
        owed.setdefault(str(line.key.job.job), []).append(line)
    made = []
    for name, job in sorted(seen.jobs.items()):
        found = sorted(owed.get(str(name), []), key=lambda x: st.oldest_first(seen, x.key))
        if states is None or any(line.state in states for line in found):
            holds = [h for h in seen.holds if h.covers(name) and not st.is_over(h, seen.now)]
            made.append(JobLine(job, found, holds, next_of(job, seen.now)))
    return made


def next_of(job: JobRow, now: datetime) -> datetime | None:
    """Return when the newest known schedule fires next; None where that is not known."""
    if job.schedule is None or job.suspended or job.gone_at is not None:
        return None
    try:
        return _parsed(job.schedule, job.schedule_zone or "Etc/UTC").next(now)
    except ConfigError:  # a schedule that no controller takes, or an @every without instants
        return None


@lru_cache(maxsize=4096)  # reading one takes ten times as long as asking it
def _parsed(text: str, zone: str) -> Schedule:
    return parse(text, zone)


HEADER = ("NAMESPACE", "NAME", "SCHEDULE", "UNFINISHED", "OLDEST", "LAST DONE", "NEXT")
WIDE = (
    *("KIND", "TIME ZONE", "FLOOR", "FAILED IN A ROW", "HELD"),
    *("OWNER", "SEVERITY", "CATCH-UP"),
)


def cells(
    seen: Snapshot, found: Sequence[JobLine], *, wide: bool
) -> tuple[list[str], list[list[str]]]:
    """Return header and rows."""
    rows = [_cells(seen, line) + (_wide(line) if wide else []) for line in found]
    return [*HEADER, *(WIDE if wide else ())], rows


def _cells(seen: Snapshot, line: JobLine) -> list[str]:
    job = line.job
    return [
        job.job.namespace,
        job.job.name,
        schedule(job),
        ", ".join(f"{n} {state}" for state, n in line.counts().items()) or NOTHING,
        oldest(line.unfinished[0]) if line.unfinished else NOTHING,
        job.last_done or NOTHING,
        upcoming(line, seen.now),
    ]


def _wide(line: JobLine) -> list[str]:
    job = line.job
    return [
        str(job.kind or NOTHING),
        job.zone or NOTHING,
        job.floor or NOTHING,
        str(job.consecutive_failures),
        one_line(line.holds[0].reason) if line.holds else NOTHING,
        one_line(job.owner) or NOTHING,
        one_line(job.severity) or NOTHING,
        (job.catch_up if job.is_tracked else None) or NOTHING,
    ]


def schedule(job: JobRow) -> str:
    """Return the schedule and its zone as they are known."""
    return " ".join(filter(None, (job.schedule, job.schedule_zone))) or NOTHING


def upcoming(line: JobLine, now: datetime) -> str:
    """Return ``in 5h``, or why there is no next one."""
    if line.job.gone_at is not None:
        return "gone"
    if line.job.suspended:
        return "suspended"
    return f"in {span(line.next - now)}" if line.next else NOTHING


def oldest(line: Line) -> str:
    """Return ``2026-09-11 (2d late, why)``; a part's period has the part before it."""
    part = line.key.job.part
    told = [_lateness(line)]
    if line.reason and not (line.state is State.DUE and line.deadline and line.reason == UNTRIED):
        told.append(line.reason)
    return f"{f'{part}:' if part else ''}{line.key.period} ({', '.join(told)})"


def _lateness(line: Line) -> str:
    if line.state is State.DUE and line.deadline:
        return f"due {clock(line.deadline, line.at)}"
    return f"{line.age} late" if line.state in (State.MISSING, State.DUE) else line.age


def as_json(line: JobLine) -> dict[str, Any]:
    """Return the stable form; ``docs/reference.md`` lists its fields."""
    job, first = line.job, line.unfinished[0] if line.unfinished else None
    counts = line.counts()
    return {
        "job": str(job.job),
        "namespace": job.job.namespace,
        "name": job.job.name,
        "kind": job.kind,
        "time_zone": job.zone,
        "schedule": job.schedule,
        "suspended": job.suspended,
        "gone_at": stamp(job.gone_at),
        "next": stamp(line.next),
        "unfinished": {str(state): counts.get(state, 0) for state in st.UNFINISHED},
        "oldest_key": str(first.key) if first else None,
        "oldest_state": str(first.state) if first else None,
        "oldest_scheduled_for": stamp(first.at) if first else None,
        "oldest_reason": (first.reason or None) if first else None,
        "last_done": job.last_done,
        "last_success_at": stamp(job.last_success_at),
        "consecutive_failures": job.consecutive_failures,
        "floor": job.floor,
        "holds": [hold.reason for hold in line.holds],
        "tracked_since": stamp(job.tracked_since),
        "done_until": stamp(job.done_until),
        "catch_up": job.catch_up if job.is_tracked else None,
        "owner": job.owner,
        "severity": job.severity,
        "runbook": job.runbook,
    }
