"""A list of CronJobs is taken into the ledger: settings of jobs, versions of schedules."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from k8sjob.reconcile.seen import Span
from k8sjob.reconcile.versions import JobPlan, plan_gone, plan_seen

if TYPE_CHECKING:
    from k8sjob.key import JobName
    from k8sjob.reconcile.state import Pass

#: Other passes may take lists in between; each time all is planned anew.
_TRIES = 5


def take_in(work: Pass, span: Span) -> bool:
    """Plan and write what the list changes; False where a later list was here before."""
    if work.tells_broken:
        for job, why in work.census.broken.items():
            work.report.add(job, "broken", why)
    for _ in range(_TRIES):
        told = len(work.report.lines)
        _plan(work, span)
        if not work.writes:
            _tell(work)
            return True
        with work.watcher.listing(work.scope, work.watched.last_list, span.began) as answer:
            if answer == "ok":
                _write(work, span)
                return True
        if answer == "stale":
            break
        # Another pass took an earlier list in meanwhile: plan on what it left. Attempts stay those
        # that were read before the Pods were.
        del work.report.lines[told:]
        seen = work.watcher.look(work.scope, work.namespaces)
        work.watched = replace(seen, attempts=work.watched.attempts)
        span = Span(began=span.began, ended=span.ended, last=seen.last_list)
    work.report.add(work.scope, "stale", "a pass with a later list was here: nothing was done")
    return False


def keep(work: Pass) -> None:
    """Go on with the versions that are known, where there is no complete list."""
    for job, known in work.watched.jobs.items():
        if known.kind is not None and known.versions:
            work.plans[job] = JobPlan(kind=known.kind, versions=known.versions)
    work.report.jobs = len(work.plans)


def _plan(work: Pass, span: Span) -> None:
    work.plans.clear()
    for job, named in work.census.named.items():
        with work.alone(job):
            work.plans[job] = plan_seen(work.watched.jobs.get(job), named, span)
    work.report.jobs = len(work.plans)
    for job, known in work.watched.jobs.items():
        if job not in work.census.named and job not in work.census.broken:
            plan = plan_gone(known, span)
            if plan is not None:
                work.plans[job] = plan
            elif known.kind is not None and known.versions:
                work.plans[job] = JobPlan(kind=known.kind, versions=known.versions)


def _tell(work: Pass) -> None:
    for job, plan in work.plans.items():
        if plan.words:
            work.report.add(job, "schedule", plan.words)


def _write(work: Pass, span: Span) -> None:
    for job, plan in list(work.plans.items()):
        with work.alone(job):
            if not _write_one(work, job, plan, span):
                del work.plans[job]  # another pass was here for this job: it is that one's
            elif plan.words:
                work.report.add(job, "schedule", plan.words)


def _write_one(work: Pass, job: JobName, plan: JobPlan, span: Span) -> bool:
    if plan.settings is not None and not work.watcher.track(
        job, span.began, plan.kind, plan.settings
    ):
        return False
    return plan.change is None or work.watcher.change_version(plan.change, span.began)
