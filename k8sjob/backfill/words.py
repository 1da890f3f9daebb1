"""A plan as a table, its count, and what to say at the end. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from k8sjob.backfill.plan import Action
from k8sjob.view.words import NOTHING, count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from k8sjob.backfill.apply import Step
    from k8sjob.backfill.asked import Asked
    from k8sjob.backfill.plan import Line, Plan

_PLANNED = {
    Action.CREATE: "to create",
    Action.RUN: "to run",
    Action.SKIP: "skipped",
    Action.REFUSE: "refused",
    Action.WAIT: "under way",
    Action.LEFT: "left for another time",
}

#: For somebody who may create Jobs and may not write into the ledger.
UNNOTED = (
    "this user may not note Jobs in the ledger; they were numbered by the Jobs that are to be seen"
)


def cells(
    plan: Plan, beside: Mapping[str, str], *, local: bool
) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the table; a run in this process has no Jobs to name."""
    header = ["PERIOD", "ACTION", "REASON"] if local else ["PERIOD", "ACTION", "JOB", "REASON"]
    return header, [_cells(line, beside.get(line.label), local=local) for line in plan.lines]


def _cells(line: Line, note: str | None, *, local: bool) -> list[str]:
    reason = f"{line.reason}  ← {note}" if note else line.reason
    job = [] if local else [line.job or NOTHING]
    return [line.label, str(line.action), *job, reason]


def summary(counts: Counter[Action], *, dry_run: bool = False) -> str:
    """Return ``2 to create, 2 skipped, 1 refused``, with what a dry run has done: nothing."""
    parts = [f"{counts[action]} {words}" for action, words in _PLANNED.items() if counts[action]]
    told = ", ".join(parts) or "nothing to do"
    return f"{told} (dry run: nothing was created)" if dry_run else told


def result(plan: Plan, steps: Sequence[Step], *, waited: bool) -> str:
    """Return ``2 created, 2 skipped, 1 refused; 1 done, 1 not done``."""
    made = sum(step.what in ("created", "exists") for step in steps)
    settled = [step for step in steps if step.what == "changed" and not step.bad]
    counts = plan.counts - Counter({Action.CREATE: plan.counts[Action.CREATE]})
    counts[Action.SKIP] += len(settled)
    parts = [f"{made} created"] if made or plan.of(Action.CREATE) else []
    told = ", ".join([*parts, *([summary(counts)] if counts.total() else [])]) or "nothing to do"
    if not waited and not any(step.bad for step in steps):
        return told
    ended = [step for step in steps if step.what == "ended"]
    good = sum(not step.bad for step in ended)
    bad = sum(step.bad for step in steps)
    return f"{told}; {good} done, {bad} not done"


def go_on(asked: Asked, flags: Sequence[str]) -> str:
    """Return how to go on with what is not done: the same command, which knows what is."""
    return "To go on: " + " ".join([asked.again, *flags])


def stopped(created: int, planned: int) -> str:
    """Say what a command that was stopped leaves behind."""
    they = "it goes on by itself" if created == 1 else "they go on by themselves"
    left = f"; {they}" if created else ""
    return f"stopped: {created} of {count(planned, 'Job')} created{left}"
