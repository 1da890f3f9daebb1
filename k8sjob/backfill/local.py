"""Run periods in this process, one after the other, as ``k8sjob run --period`` does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from k8sjob.backfill.plan import Action
from k8sjob.errors import K8sjobError
from k8sjob.run.origin.sources import Resolved
from k8sjob.view.words import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from k8sjob.backfill.basis import Basis
    from k8sjob.backfill.plan import Line, Plan

#: Stored with each attempt.
SOURCE = "backfill --local"

#: 128 + the number of HUP, INT, QUIT and TERM: somebody wants all of it to end.
_STOPPED = frozenset({129, 130, 131, 143})


@dataclass(frozen=True, slots=True)
class Ran:
    """A line that was run, and its exit code. ``error``: it could not even be started."""

    line: Line
    exit_code: int
    error: K8sjobError | None = None


def resolved(basis: Basis, line: Line, reason: str | None) -> Resolved:
    """Return what ``run`` has to know of the period of a line."""
    assert line.period is not None  # noqa: S101  # what is to be run has one
    one = line.candidate.expected if line.candidate else None
    off = f", off schedule: {reason}" if reason else ""
    return Resolved(
        job=basis.job,
        period=line.period,
        source=SOURCE + off,
        zone=(one.zone if one else None) or basis.zone,
        window_end=one.window_end if one and line.period.scheduled_for(None) else None,
        off_schedule=reason is not None,
    )


def run_all(plan: Plan, run_one: Callable[[Line], int], *, keep_going: bool) -> Iterator[Ran]:
    """Run the lines, oldest first; stop at the first failure, and at a stop signal in any case."""
    for line in plan.of(Action.RUN):
        try:
            ran = Ran(line, run_one(line))
        except K8sjobError as error:
            ran = Ran(line, int(error.exit_code), error)
        yield ran
        if ran.exit_code in _STOPPED or (ran.exit_code and not keep_going):
            return


def exit_code(ran: Sequence[Ran]) -> int:
    """Return the code of the first failure; 0 where there was none."""
    return next((one.exit_code for one in ran if one.exit_code), 0)


def closing(plan: Plan, ran: Sequence[Ran]) -> str:
    """Return ``3 of 5 periods ran well, 1 failed (2026-09-12: exit 1), 1 was not begun``."""
    planned = plan.counts[Action.RUN]
    failed = [one for one in ran if one.exit_code]
    parts = [f"{len(ran) - len(failed)} of {count(planned, 'period')} ran well"]
    if failed:
        which = ", ".join(f"{one.line.label}: exit {one.exit_code}" for one in failed)
        parts.append(f"{len(failed)} failed ({which})")
    if left := planned - len(ran):
        parts.append(f"{left} {'was' if left == 1 else 'were'} not begun")
    return ", ".join(parts)
