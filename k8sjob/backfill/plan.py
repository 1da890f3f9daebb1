"""What is to be done for each period, and why. Pure.

``--dry-run`` and the command itself show the same lines.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from k8sjob.backfill.traces import Numbered, number
from k8sjob.key import Key
from k8sjob.ledger.read import Snapshot, Tries
from k8sjob.ledger.uuid7 import short
from k8sjob.states import State
from k8sjob.view.state import in_force, is_alive, state_of
from k8sjob.view.words import ending, one_line, utc

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from k8sjob.backfill.asked import Asked
    from k8sjob.backfill.basis import Basis
    from k8sjob.backfill.candidates import Candidate
    from k8sjob.key import JobName
    from k8sjob.kube.objects import Job
    from k8sjob.ledger.launches import Launch
    from k8sjob.ledger.read import PeriodRow
    from k8sjob.period import Period


class Action(StrEnum):
    """What is to be done for a period."""

    CREATE = "create"
    RUN = "run"
    SKIP = "skip"
    REFUSE = "refuse"
    WAIT = "wait"
    LEFT = "left"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What there is of the periods: rows, attempts and holds, Jobs noted and Jobs in the cluster.

    ``jobs`` is None where the cluster is of no concern.
    """

    ledger: Snapshot
    launches: Mapping[Key, Sequence[Launch]] = field(default_factory=dict)
    jobs: Mapping[Period, Sequence[Job]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A period (``label`` alone: a stretch of time) and what is to be done for it, and why.

    ``job`` is the name of the Job: to be created, or under way.
    """

    label: str
    action: Action
    reason: str
    period: Period | None = None
    job: str | None = None
    generation: int = 0
    try_: int = 0
    candidate: Candidate | None = field(default=None, repr=False, compare=False)

    def key_of(self, job: JobName) -> Key:
        """Return the key of a line that has a period."""
        assert self.period is not None  # noqa: S101  # only a refused stretch of time has none
        return Key(job, self.period)


@dataclass(frozen=True, slots=True)
class Plan:
    """The lines of one command, oldest period first."""

    lines: Sequence[Line]

    def of(self, action: Action) -> list[Line]:
        """Return the lines with this action."""
        return [line for line in self.lines if line.action is action]

    @property
    def counts(self) -> Counter[Action]:
        """How many lines there are of each action."""
        return Counter(line.action for line in self.lines)


def make_plan(asked: Asked, basis: Basis, candidates: Sequence[Candidate], seen: Seen) -> Plan:
    """Return what to do for the candidates; beyond --max they are left for another time."""
    lines = [judge(asked, basis, candidate, seen) for candidate in candidates]
    room = asked.most
    for n, line in enumerate(lines):
        if line.action not in (Action.CREATE, Action.RUN):
            continue
        if room <= 0:
            why = f"--max {asked.most}: the same command again goes on"
            lines[n] = replace(line, action=Action.LEFT, job=None, reason=why)
        room -= 1
    return Plan(lines)


def judge(asked: Asked, basis: Basis, candidate: Candidate, seen: Seen) -> Line:
    """Return the line of one candidate."""
    if candidate.period is None or candidate.refused:
        why = candidate.refused or ""
        return _line(candidate, Action.REFUSE, why)
    key = Key(basis.job, candidate.period)
    row, tries = seen.ledger.rows.get(key), seen.ledger.tries.get(key, Tries())
    state = state_of(row, tries, seen.ledger.now)
    settled = _settled(basis, candidate, row, state)
    if settled is not None:
        return settled
    if held := in_force(seen.ledger.holds, key, seen.ledger.now):
        until = f" until {utc(held[0].until)}" if held[0].until else ""
        return _line(candidate, Action.SKIP, f"held{until}: {one_line(held[0].reason)}")
    return _waiting(candidate, tries, seen) or _to_do(asked, basis, candidate, state, seen)


def _line(candidate: Candidate, action: Action, reason: str, **more: Any) -> Line:
    made = Line(
        label=candidate.label,
        period=candidate.period,
        action=action,
        reason=reason,
        candidate=candidate,
    )
    return replace(made, **more) if more else made


def _settled(
    basis: Basis, candidate: Candidate, row: PeriodRow | None, state: State
) -> Line | None:
    """Return the line of a period that nothing is to be done for, by its row or without one."""
    if row is not None and state in (State.DONE, State.SKIPPED, State.BLOCKED, State.AWAITING):
        return _line(candidate, Action.SKIP, _why_settled(row, state))
    floor = basis.floor
    if row is None and floor is not None and str(candidate.period) <= floor:
        why = f"expired: pruned up to {floor}, so it may have been done and is never done again"
        return _line(candidate, Action.REFUSE, why)
    if candidate.passed_over is not None and row is None:
        return _line(candidate, Action.SKIP, candidate.passed_over)
    return None


def _why_settled(row: PeriodRow, state: State) -> str:
    if state is State.DONE:
        return f"done {utc(row.done_at)}" if row.done_at else "done"
    until = f" until {utc(row.until)}" if row.until else ""
    return f"{state}{until}: {one_line(row.reason)}"


def _waiting(candidate: Candidate, tries: Tries, seen: Seen) -> Line | None:
    """Return the line of a period that somebody is at."""
    assert candidate.period is not None  # noqa: S101  # judge has looked
    for job in seen.jobs.get(candidate.period, ()):
        if job.is_under_way:
            how = "is being deleted" if job.deleting else "runs already"
            return _line(candidate, Action.WAIT, how, job=job.name)
    for attempt in tries.endless:
        if is_alive(attempt, seen.ledger.now):
            since = f"{short(attempt.id)} since {utc(attempt.started_at)}"
            where = f" in Pod {attempt.pod_name}" if attempt.pod_name else ""
            return _line(candidate, Action.WAIT, f"runs already: attempt {since}{where}")
    return None


def _to_do(asked: Asked, basis: Basis, candidate: Candidate, state: State, seen: Seen) -> Line:
    assert candidate.period is not None  # noqa: S101  # judge has looked
    key = Key(basis.job, candidate.period)
    row = seen.ledger.rows.get(key)
    why = _why(candidate, row, state, seen.ledger.tries.get(key, Tries()), seen)
    generation = row.generation if row else 0
    if asked.local or basis.cronjob is None:
        return _line(candidate, Action.RUN, why, generation=generation)
    found = number(
        basis.cronjob,
        key,
        generation,
        seen.launches.get(key, ()),
        seen.jobs.get(candidate.period, ()),
    )
    return _create(candidate, found, generation, why)


def _create(candidate: Candidate, found: Numbered, generation: int, why: str) -> Line:
    return _line(
        candidate,
        Action.CREATE,
        f"{why}; {found.before}" if found.before else why,
        job=found.name,
        generation=generation,
        try_=found.try_,
    )


def _why(
    candidate: Candidate, row: PeriodRow | None, state: State, tries: Tries, seen: Seen
) -> str:
    """Return why a period is to be done: what it is, what is said of it, and how sure that is."""
    if candidate.remark is not None:
        return candidate.remark
    one = candidate.expected
    late = one is not None and one.deadline <= seen.ledger.now
    what = "missing" if state is State.MISSING or (row is None and late) else str(State.DUE)
    uncertain = (row is not None and row.uncertain) or (one is not None and one.uncertain)
    sure = " (schedule uncertain)" if uncertain else ""
    said = one_line(row.reason) if row is not None and row.reason else _last(tries, seen)
    return f"{what}{sure}: {said}" if said else f"{what}{sure}"


def _last(tries: Tries, seen: Seen) -> str:
    last = tries.last
    return f"last attempt {ending(last, alive=is_alive(last, seen.ledger.now))}" if last else ""
