"""Periods that are due and have no row. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
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

_SECOND = timedelta(seconds=1)

#: States that leave nothing to be stored.
_SETTLED = frozenset({"done", "skipped"})


@dataclass(frozen=True, slots=True)
class Judged:
    """The periods that are due; ``then`` is the first fire of those that are not, None: of none.

    ``more``: at least one of those was not looked at for want of room.
    """

    periods: Sequence[Expected]
    then: datetime | None = None
    more: bool = False


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
) -> Judged:
    """Return the periods whose deadline has passed at ``horizon``, at most `MOST` of them.

    ``horizon`` is when the last complete list of CronJobs began: of what came after it nobody
    knows whether it was meant. So near to it that clocks could be to blame, nothing is judged.
    """
    due: list[Expected] = []
    for one in expected(versions, kind, after=after, upto=horizon - SKEW, grace_s=grace_s):
        passed = one.deadline <= horizon and one.last_fire <= horizon - SKEW
        if not passed or len(due) == MOST:
            return Judged(due, one.first_fire, more=passed)
        due.append(one)
    return Judged(due)


def plan_due(  # noqa: PLR0913  # what is known of one job
    job: JobName,
    kind: Cycle,
    *,
    found: Judged,
    states: Mapping[Key, str],
    running: Collection[Key],
    why: Callable[[Key, Expected], tuple[str, str]],
) -> DuePlan | None:
    """Return what to store; None where there is nothing new.

    A period that an attempt is at is not stored: its claim holds the key. The mark stays before
    it, and what comes after is stored all the same.
    """
    due: list[Due] = []
    passed: list[datetime] = []
    then = found.then
    for one in reversed(found.periods):
        key = Key(job, one.period)
        state = states.get(key)
        if state is None and key in running:
            then, passed = one.first_fire, []
            continue
        passed.append(one.last_fire)
        if state not in _SETTLED:
            due.append(_due(key, one, *why(key, one)))
    due.reverse()
    mark = _mark(passed, then)
    if mark is None and not due:
        return None
    return DuePlan(job=job, kind=kind, due=due, mark=mark, more=found.more)


def _mark(passed: Sequence[datetime], then: datetime | None) -> datetime | None:
    """Return the last of the fires that are ``passed``, and in any case an instant before ``then``.

    After a change of zone a day may begin before the one before it is over.
    """
    last = max(passed, default=None)
    return min(last, then - _SECOND) if last and then else last


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
