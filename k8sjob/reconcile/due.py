"""Periods that are due and have no row. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from k8sjob.expect import expected
from k8sjob.key import Key
from k8sjob.ledger.watch import Due
from k8sjob.reconcile.seen import SKEW

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime

    from k8sjob.cycle import Cycle
    from k8sjob.expect import Expected, Version
    from k8sjob.key import JobName

#: How many periods of a job one pass looks at; the next pass goes on from there.
MOST = 10_000

#: States that leave nothing to be stored.
_SETTLED = frozenset({"done", "skipped"})


@dataclass(frozen=True, slots=True, kw_only=True)
class DuePlan:
    """What to store of one job, and where its mark goes then. ``more``: there is still more."""

    job: JobName
    kind: Cycle
    due: Sequence[Due]
    mark: datetime | None
    more: bool = False


def judged(
    versions: Sequence[Version],
    kind: Cycle,
    *,
    after: datetime,
    horizon: datetime,
    grace_s: float | None,
) -> list[Expected]:
    """Return the periods whose deadline has passed at ``horizon``, at most `MOST` + 1 of them.

    ``horizon`` is when the last complete list of CronJobs began: of what came after it nobody
    knows whether it was meant. So near to it that clocks could be to blame, nothing is judged.
    """
    found = expected(versions, kind, after=after, upto=horizon - SKEW, grace_s=grace_s)
    passed = takewhile(lambda e: e.deadline <= horizon and e.last_fire <= horizon - SKEW, found)
    return list(islice(passed, MOST + 1))


def plan_due(  # noqa: PLR0913  # what is known of one job
    job: JobName,
    kind: Cycle,
    *,
    found: Sequence[Expected],
    states: Mapping[Key, str],
    running: Collection[Key],
    why: Callable[[Key, Expected], tuple[str, str]],
) -> DuePlan | None:
    """Return what to store; None where there is nothing new.

    A period that an attempt is at is not stored: its claim holds the key. The mark stays before
    it, and what comes after is stored all the same.
    """
    due: list[Due] = []
    mark: datetime | None = None
    held = False
    for one in found[:MOST]:
        key = Key(job, one.period)
        state = states.get(key)
        if state is None and key in running:
            held = True
        elif state not in _SETTLED:
            due.append(_due(key, one, *why(key, one)))
        if not held:
            mark = one.last_fire
    if mark is None and not due:
        return None
    return DuePlan(job=job, kind=kind, due=due, mark=mark, more=len(found) > MOST)


def _due(key: Key, one: Expected, code: str, reason: str) -> Due:
    return Due(
        key=key,
        scheduled_for=one.scheduled_for,
        window_end=one.window_end,
        zone=one.zone,
        version=one.version,
        deadline=one.deadline,
        uncertain=one.uncertain,
        code=code,
        reason=reason,
    )
