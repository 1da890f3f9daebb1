"""What is old enough to go, job by job: planned here, deleted by the ledger batch by batch.

The floor never passes the mark up to which the reconciler has looked, and a day, week or month goes
only when it has ended everywhere on Earth: half a day matters to nobody here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from k8sjob.cycle import FIRST_YEAR, Cycle, first_day, first_day_around, text_at, text_of
from k8sjob.errors import ConfigError, TryAgain, UsageError
from k8sjob.people.clock import utc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from k8sjob.key import JobName
    from k8sjob.ledger.operate import JobFacts, Scope
    from k8sjob.period import Period

#: The clocks of UTC-12 show a day for the longest.
_LAST_ON_EARTH = timedelta(hours=12)


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneOrder:
    """One command. ``older_than`` or ``before`` win over what a job has as its retention."""

    scopes: Sequence[Scope]
    older_than: timedelta | None = None
    before: Period | None = None
    attempts_older_than: timedelta = timedelta(days=90)
    batch: int = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPlan:
    """What goes of one job and its parts: periods up to ``upto`` (both ends in), old attempts.

    ``why`` says where ``upto`` comes from; ``upto`` None keeps every period.
    """

    job: JobName
    upto: str | None
    why: str
    attempts_before: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """What went, or would go. ``endless``: old attempts without an end, which stay."""

    plan: JobPlan
    periods: int
    attempts: int
    endless: int = 0
    error: str | None = None


class Pruner(Protocol):
    """What a ledger has to offer for it; only Postgres does."""

    def jobs(self, scopes: Sequence[Scope]) -> tuple[datetime, list[JobFacts]]:
        """Return the ledger's time, and what is known of the jobs in these scopes."""

    def count(self, job: JobName, upto: str | None, before: datetime) -> tuple[int, int, int]:
        """Return how many periods and attempts would go, and old attempts without an end."""

    def prune_periods(self, job: JobName, upto: str, batch: int) -> int:
        """Raise the floor and delete one batch, in one transaction; return how many went."""

    def prune_attempts(self, job: JobName, before: datetime, batch: int) -> int:
        """Delete one batch of attempts, in one transaction; return how many went."""


def plan_prune(order: PruneOrder, now: datetime, jobs: Iterable[JobFacts]) -> list[JobPlan]:
    """Return what goes of each job. Raises UsageError, ConfigError."""
    known = list(jobs)
    missing = {s.job for s in order.scopes if s.job is not None} - {f.job for f in known}
    if missing:
        raise UsageError(
            f"this ledger does not know {', '.join(sorted(map(str, missing)))}. Nothing was "
            "changed.\n  Check the name: k8sjob get jobs -A"
        )
    return [_plan(order, now, facts) for facts in known]


def _plan(order: PruneOrder, now: datetime, facts: JobFacts) -> JobPlan:
    upto, why = _upto(order, now, facts)
    if upto is not None and facts.cycle and facts.tracked:
        mark = ended_before(facts.cycle, facts.done_until) if facts.done_until else None
        if mark is None or mark < upto:
            upto, why = mark, f"{why}, but nobody has looked past {_mark(facts)} yet"
    before = now - order.attempts_older_than
    return JobPlan(job=facts.job, upto=upto, why=why, attempts_before=before)


def _mark(facts: JobFacts) -> str:
    return utc(facts.done_until) if facts.done_until else "its beginning"


def _upto(order: PruneOrder, now: datetime, facts: JobFacts) -> tuple[str | None, str]:
    if facts.cycle is None or facts.cycle is Cycle.ONCE:
        return None, "nothing to prune"
    if order.before is not None:
        if order.before.cycle is not facts.cycle:
            raise ConfigError(
                f"{facts.job} has periods of kind {facts.cycle}, {order.before} is of kind "
                f"{order.before.cycle}\n  Nothing was changed. Give --before one of its kind."
            )
        return preceding(order.before), f"before {order.before}"
    if order.older_than is not None:
        return ended_before(facts.cycle, now - order.older_than), f"older than {order.older_than}"
    if facts.retention_s is None:
        return None, "kept for ever: no retention is set"
    kept = timedelta(seconds=facts.retention_s)
    return ended_before(facts.cycle, now - kept), f"retention {_days(kept)}"


def _days(kept: timedelta) -> str:
    return f"{kept.days}d" if kept == timedelta(days=kept.days) else str(kept)


def ended_before(cycle: Cycle, instant: datetime) -> str | None:
    """Return the last period of a kind that had ended everywhere at an aware ``instant``.

    Of a scheduled period only the instant counts. ``k8sjob.ended_before`` has the same rule. None
    where that lies before all periods, and for ``once``.
    """
    at = instant.astimezone(UTC)
    if at.year < FIRST_YEAR or not (cycle.on_calendar or cycle is Cycle.SCHEDULED):
        return None
    if cycle is Cycle.SCHEDULED:
        return text_at(at.replace(microsecond=0))
    return _day_before(cycle, (at - _LAST_ON_EARTH).date())


def preceding(period: Period) -> str | None:
    """Return the text of the last period that is before ``period``; None where there is none."""
    if period.cycle is Cycle.SCHEDULED:
        at = datetime.fromisoformat(period.text) - timedelta(seconds=1)
        return text_at(at) if at.year >= FIRST_YEAR else None
    return _day_before(period.cycle, first_day(period.cycle, period.text))


def _day_before(cycle: Cycle, day: date) -> str | None:
    last = first_day_around(cycle, day) - timedelta(days=1)
    text = text_of(cycle, first_day_around(cycle, last))
    return text if int(text[:4]) >= FIRST_YEAR else None


def prune(
    pruner: Pruner, order: PruneOrder, *, dry_run: bool, agree: Callable[[list[JobPlan]], None]
) -> Iterable[Pruned]:
    """Yield what went of each job that lost anything; a job that is held is told and passed over.

    ``agree`` sees the plan before anything goes, and raises where it must not. Raises UsageError,
    ConfigError, and what the ledger raises.
    """
    plans = plan_prune(order, *pruner.jobs(order.scopes))
    if not dry_run:
        agree(plans)
    for job_plan in plans:
        yield _count(pruner, job_plan) if dry_run else _delete(pruner, job_plan, order.batch)


def _count(pruner: Pruner, plan: JobPlan) -> Pruned:
    periods, attempts, endless = pruner.count(plan.job, plan.upto, plan.attempts_before)
    return Pruned(plan=plan, periods=periods, attempts=attempts, endless=endless)


def _delete(pruner: Pruner, plan: JobPlan, batch: int) -> Pruned:
    _, _, endless = pruner.count(plan.job, None, plan.attempts_before)
    periods = attempts = 0
    error = None
    try:
        while plan.upto and (gone := pruner.prune_periods(plan.job, plan.upto, batch)):
            periods += gone
        while gone := pruner.prune_attempts(plan.job, plan.attempts_before, batch):
            attempts += gone
    except TryAgain as busy:
        error = str(busy)
    return Pruned(plan=plan, periods=periods, attempts=attempts, endless=endless, error=error)


def line(pruned: Pruned) -> str:
    """Return one job in a line."""
    plan = pruned.plan
    upto = f" up to {plan.upto}" if plan.upto else ""
    parts = [f"{pruned.periods:,} periods{upto} ({plan.why})"]
    parts.append(f"{pruned.attempts:,} attempts before {utc(plan.attempts_before)}")
    if pruned.endless:
        parts.append(f"{pruned.endless:,} without an end stay")
    return f"{plan.job}  " + ", ".join(parts)
