"""What is started, or skipped, by itself: only where the job's own policy says so. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from k8sjob.policy import CatchUp

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from k8sjob.key import Key
    from k8sjob.ledger.operate import Scope
    from k8sjob.ledger.watch import Tracked, Unfinished
    from k8sjob.period import Period
    from k8sjob.policy import Policy
    from k8sjob.reconcile.traces import Traces


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """A period that nobody will do any more."""

    key: Key
    generation: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A period to be started by a Job; ``supersedes``: the older ones that its claim ends."""

    key: Key
    generation: int
    try_: int = 1
    supersedes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CatchUpPlan:
    """What to do, and what was left for a reason (``waits``)."""

    skips: Sequence[Skip] = ()
    launches: Sequence[Launch] = ()
    waits: str | None = None


def plan_catch_up(  # noqa: PLR0913  # all that has a say
    tracked: Tracked,
    policy: Policy,
    rows: Sequence[Unfinished],
    *,
    traces: Traces,
    running: Collection[Key],
    holds: Sequence[Scope],
    now: datetime,
) -> CatchUpPlan:
    """Return what the policy does about the job's missing periods (``rows``, oldest first).

    Only of those that the reconciler itself has found missing, and found so for certain: what a
    person has opened again is that person's. Nothing that is under way in any form is touched.
    """
    if policy.catch_up is CatchUp.FLAG:
        return CatchUpPlan()
    missing = [row for row in rows if _is_missing(row, now)]
    idle = [r for r in missing if r.key not in running and not traces.is_live(r.key.period)]
    if policy.catch_up is CatchUp.SKIP:
        return CatchUpPlan(skips=[_skip(row) for row in idle])
    if not idle:
        return CatchUpPlan()
    if traces.cron.suspended:
        return CatchUpPlan(waits="the CronJob is suspended")
    if any(scope.covers(tracked.job) for scope in holds):
        return CatchUpPlan(waits="the job is held")
    oldest = now - timedelta(seconds=policy.catch_up_max_age_s)
    young = [row for row in idle if _age_from(row) > oldest]
    left = policy.catch_up_max_count - len(tracked.launches)
    if young and left <= 0:
        return CatchUpPlan(waits=f"{len(tracked.launches)} were started already, as many as may be")
    if policy.catch_up is CatchUp.LATEST:
        wanted = _latest(young, traces) if missing[-1] in idle else []  # the newest is under way
    else:
        wanted = [Launch(key=r.key, generation=r.generation) for r in young if not r.tries][:left]
    if wanted and traces.cron.concurrency != "Allow":
        if traces.is_busy:
            return CatchUpPlan(waits=f"concurrencyPolicy is {traces.cron.concurrency}, one runs")
        wanted = wanted[:1]
    return CatchUpPlan(launches=wanted)


def _is_missing(row: Unfinished, now: datetime) -> bool:
    found = row.origin == "reconciler" and row.state == "open" and row.generation == 0
    return found and not row.uncertain and row.deadline_at is not None and row.deadline_at <= now


def _age_from(row: Unfinished) -> datetime:
    at = row.scheduled_for or row.deadline_at
    assert at is not None  # noqa: S101  # _is_missing has looked
    return at


def _skip(row: Unfinished) -> Skip:
    since = f", missing since {row.deadline_at:%Y-%m-%d %H:%M:%SZ}" if row.deadline_at else ""
    return Skip(
        key=row.key,
        generation=row.generation,
        reason=f"catch-up policy skip{since}: {row.reason or 'not done'}",
    )


def _latest(young: Sequence[Unfinished], traces: Traces) -> list[Launch]:
    """Return the newest one's Job; its claim, and nothing before it, ends the older ones.

    The claim sees what an attempt is at or a person has opened, but no Job that has no attempt
    yet, so the range begins after the last period of which there is one, be it stored or not.
    """
    if not young or young[-1].tries:
        return []
    *older, newest = young
    last = max((p for p in traces.live if _is_before(p, newest.key.period)), default=None)
    free = [row.key for row in older if last is None or row.key.period > last]
    supersedes = f"{free[0].period}..{free[-1].period}" if free else None
    return [Launch(key=newest.key, generation=newest.generation, supersedes=supersedes)]


def _is_before(one: Period, other: Period) -> bool:
    return one.cycle is other.cycle and one < other
