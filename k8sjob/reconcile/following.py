"""What is unfinished is looked after: why it is, whether it is overdue, whether to start it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.kube.names import backfill_name
from k8sjob.reconcile.catch_up import plan_catch_up
from k8sjob.reconcile.state import BY
from k8sjob.reconcile.why import STARTS_WITHIN, unstarted, why_not_done

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from k8sjob.key import JobName, Key
    from k8sjob.kube.objects import Job
    from k8sjob.ledger.watch import Unfinished
    from k8sjob.reconcile.catch_up import CatchUpPlan, Launch
    from k8sjob.reconcile.seen import Named
    from k8sjob.reconcile.state import Pass
    from k8sjob.reconcile.traces import Index


def overdue(work: Pass, rows: Iterable[Unfinished]) -> None:
    """Block what awaits an effect that did not show by its deadline."""
    for row in rows:
        until = row.await_deadline
        if row.state != "awaiting" or until is None or until > work.watched.now:
            continue
        reason = f"its effect was not seen by {until:%Y-%m-%d %H:%M:%SZ}"
        with work.alone(row.key):
            if not work.writes or work.watcher.overdue(row.key, row.generation, reason, BY):
                work.report.add(row.key, "blocked", reason)


def explain(work: Pass, rows: Mapping[Key, Unfinished], running: set[Key]) -> None:
    """Say anew why a period is missing, where its Jobs tell more than they did before."""
    wanted = [row for row in rows.values() if row.key not in running and _has_jobs(work, row)]
    tries = work.last_tries([row.key for row in wanted])
    for row in wanted:
        why = why_not_done(
            row.key.period,
            row.scheduled_for,
            traces=work.traces.get(str(row.key.job)),
            there=work.there,
            last=tries.get(row.key),
            uncertain=row.uncertain,
        )
        if why == (row.reason_code, row.reason):
            continue
        with work.alone(row.key):
            if work.writes:
                work.watcher.explain(row.key, row.generation, *why)
            work.report.add(row.key, "explained", why.reason)


def _has_jobs(work: Pass, row: Unfinished) -> bool:
    traces = work.traces.get(str(row.key.job))
    mine = row.state == "open" and row.origin == "reconciler" and traces is not None
    return mine and traces is not None and bool(traces.by_period.get(row.key.period))


def note_unstarted(work: Pass, there: Index) -> None:
    """Note since when a Job stands that has started nothing: Forbid may wait for it for ever."""
    for job in work.plans:
        traces, known = work.traces.get(str(job)), work.watched.jobs.get(job)
        stuck = [one for one in traces.jobs if _is_stuck(work, one, there)] if traces else []
        first = min(stuck, key=lambda one: one.created, default=None)
        since = first.created if first else None
        if since == (known.unstarted_since if known else None):
            continue
        with work.alone(job):
            if work.writes:
                work.watcher.note_unstarted(job, since)
            if first is not None:
                why = unstarted(first, there)
                work.report.add(job, "unstarted", f"since {first.created:%H:%M:%SZ}: {why}")


def _is_stuck(work: Pass, job: Job, there: Index) -> bool:
    old = work.watched.now - job.created > STARTS_WITHIN
    return old and unstarted(job, there) is not None


def catch_up(work: Pass, rows: Iterable[Unfinished], running: set[Key]) -> None:
    """Skip or start what a job's own policy says."""
    of_job: dict[JobName, list[Unfinished]] = {}
    for row in rows:
        of_job.setdefault(row.key.job, []).append(row)
    for job, each in of_job.items():
        named, known = work.census.named.get(job), work.watched.jobs.get(job)
        traces = work.traces.get(str(job))
        if named is None or known is None or traces is None or job not in work.plans:
            continue
        plan = plan_catch_up(
            known,
            named.policy,
            sorted(each, key=lambda row: row.key),
            traces=traces,
            running=running,
            holds=work.watched.holds,
            now=work.watched.now,
        )
        _carry_out(work, named, plan)


def _carry_out(work: Pass, named: Named, plan: CatchUpPlan) -> None:
    if plan.waits:
        work.report.add(named.job, "waits", f"catch-up: {plan.waits}")
    for one in plan.skips:
        with work.alone(one.key):
            if not work.writes or work.watcher.skip(one.key, one.generation, one.reason, BY):
                work.report.add(one.key, "skipped", one.reason)
    _start(work, named, plan.launches)


def _start(work: Pass, named: Named, launches: Sequence[Launch]) -> None:
    for one in launches:
        if work.budget <= 0:
            work.report.add(one.key, "left", "this pass may start no more Jobs (--max-launches)")
            continue
        with work.alone(one.key):
            name = backfill_name(named.cron.name, one.key, one.generation, one.try_)
            if work.writes:
                name = work.launcher(named, one)
            work.budget -= 1
            more = f", supersedes {one.supersedes}" if one.supersedes else ""
            policy = named.policy.catch_up
            work.report.add(one.key, "started", f"catch-up {policy}: {name}{more}")
