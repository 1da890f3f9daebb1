"""Periods that are due get their rows, and attempts that are over get their ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.key import Key
from k8sjob.ledger.watch import Due, LastTry, Unfinished
from k8sjob.reconcile.due import MOST, judged, plan_due
from k8sjob.reconcile.lost import needs_connection, plan_lost
from k8sjob.reconcile.state import BY
from k8sjob.reconcile.why import why_not_done

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from k8sjob.expect import Expected
    from k8sjob.key import JobName
    from k8sjob.period import Period
    from k8sjob.reconcile.due import DuePlan, Judged
    from k8sjob.reconcile.state import Pass


def judge(work: Pass, horizon: datetime) -> dict[JobName, Judged]:
    """Return the periods of each job that its mark has not passed and that are due."""
    found: dict[JobName, Judged] = {}
    for job, plan in work.plans.items():
        if not plan.versions:
            continue
        known, named = work.watched.jobs.get(job), work.census.named.get(job)
        after = (known.done_until if known else None) or plan.versions[0].earliest_from
        grace = known.settings.get("grace_s") if known else None
        if named is not None:
            grace = named.policy.grace_s
        with work.alone(job):
            each = judged(plan.versions, plan.kind, after=after, horizon=horizon, grace_s=grace)
            if each.periods:
                found[job] = each
    return found


def close(work: Pass) -> set[UUID]:
    """End the attempts that are known to be over; return their ids."""
    if work.there is None or work.world.pods is None:
        return set()
    attempts, now = work.watched.attempts, work.watched.now
    doubtful = {one.key for one in attempts if needs_connection(one, now)}
    connected = {key for key in doubtful if work.watcher.is_connected(key)}
    closed: set[UUID] = set()
    for end in plan_lost(attempts, work.there, connected, now):
        with work.alone(end.key):
            outcome: str | None = end.outcome
            if work.writes:
                outcome = work.watcher.close_attempt(end.attempt, end.message, end.exit_code)
            elif end.outcome == "lost":
                work.lost[end.key] = LastTry(
                    outcome="lost", exit_code=end.exit_code, message=end.message
                )
            closed.add(end.attempt)
            if outcome is not None:
                work.report.add(end.key, outcome, end.message)
    return closed


def store(work: Pass, found: Mapping[JobName, Judged], running: set[Key]) -> list[Unfinished]:
    """Store what is due and has no row; return the new rows."""
    keys = [Key(job, one.period) for job, each in found.items() for one in each.periods]
    states = work.watcher.states(keys) if keys else {}
    absent = [key for key in keys if key not in states]
    tries = work.last_tries(absent)
    done = _done(work, absent)

    def why(key: Key, one: Expected) -> tuple[str, str]:
        return why_not_done(
            key.period,
            one.last_fire,
            traces=work.traces.get(str(key.job)),
            there=work.there,
            last=tries.get(key),
            uncertain=one.uncertain,
            done=done.get(key.job),
        )

    made: list[Unfinished] = []
    for job, each in found.items():
        kind = work.plans[job].kind
        plan = plan_due(job, kind, found=each, states=states, running=running, why=why)
        if plan is not None:
            with work.alone(job):
                made += _store(work, plan, states)
    return made


def _done(work: Pass, absent: Sequence[Key]) -> dict[JobName, dict[Period, datetime]]:
    """Return when the work was done of the Jobs that may have kept others from being made."""
    keys = []
    for job in dict.fromkeys(key.job for key in absent):
        traces = work.traces.get(str(job))
        if traces is not None and traces.cron.concurrency == "Forbid":
            keys += [Key(job, period) for period in traces.by_period]
    found: dict[JobName, dict[Period, datetime]] = {}
    for key, at in (work.watcher.done_at(keys) if keys else {}).items():
        found.setdefault(key.job, {})[key.period] = at
    return found


def _store(work: Pass, plan: DuePlan, states: Mapping[Key, str]) -> list[Unfinished]:
    answers: Mapping[Key, str] = {}
    if work.writes:
        answers = work.watcher.expect(plan.job, plan.kind, plan.due, plan.mark, BY)
    made = []
    for due in plan.due:
        answer = answers.get(due.key, states.get(due.key, "made"))
        if answer == "made":
            work.report.add(due.key, "uncertain" if due.uncertain else "missing", due.reason)
            made.append(_row(due))
        elif answer == "busy":
            work.report.add(due.key, "running", "a claim that is under way holds it")
    if plan.more:
        work.report.add(plan.job, "more", f"only {MOST:,} periods a pass: the next one goes on")
    return made


def rows_of(made: Sequence[Unfinished]) -> dict[Key, Unfinished]:
    """Return rows by their keys."""
    return {row.key: row for row in made}


def _row(due: Due) -> Unfinished:
    return Unfinished(
        key=due.key,
        state="open",
        generation=0,
        scheduled_for=due.scheduled_for,
        deadline_at=due.deadline,
        uncertain=due.uncertain,
        origin="reconciler",
        reason_code=due.code,
        reason=due.reason,
        until=None,
        await_deadline=None,
        tries=0,
    )
