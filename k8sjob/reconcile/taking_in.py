"""A list of CronJobs is taken into the ledger: settings of jobs, versions of schedules."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from k8sjob.reconcile.seen import Span
from k8sjob.reconcile.versions import JobPlan, plan_gone, plan_seen

if TYPE_CHECKING:
    from k8sjob.key import JobName
    from k8sjob.ledger.watch import Tracked
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
        answer = _enter(work, span)
        if answer == "ok":
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


class _Overtaken(Exception):
    """The pass of another scope has changed a version that this one was planned on."""


def _enter(work: Pass, span: Span) -> str:
    try:
        with work.watcher.listing(work.scope, work.watched.last_list, span.began) as answer:
            if answer == "ok":
                _write(work, span)
    except _Overtaken:  # all of it is rolled back, so the list counts as not taken in
        return "changed"
    return answer


def keep(work: Pass) -> None:
    """Go on with the versions that are known, where there is no complete list."""
    for job, known in work.watched.jobs.items():
        if known.kind is not None and known.versions and known.blind_since is None:
            work.plans[job] = JobPlan(kind=known.kind, versions=known.versions)
    work.report.jobs = len(work.plans)


def _plan(work: Pass, span: Span) -> None:
    work.plans.clear()
    for job, named in work.census.named.items():
        known = work.watched.jobs.get(job)
        if known is None or not _is_later(known, span):
            with work.alone(job):
                work.plans[job] = plan_seen(known, named, span)
    work.report.jobs = len(work.plans)
    for job, known in work.watched.jobs.items():
        if not _is_listed(work, known) and not _is_later(known, span):
            plan = plan_gone(known, span)
            if plan is not None:
                work.plans[job] = plan
            elif known.kind is not None and known.versions:
                work.plans[job] = JobPlan(kind=known.kind, versions=known.versions)


def _is_listed(work: Pass, known: Tracked) -> bool:
    """Whether a CronJob stands for the job, be it one that cannot be read."""
    census, cronjob = work.census, str(known.settings.get("cronjob"))
    unread = (known.job.namespace, cronjob) in census.unread
    return unread or known.job in census.named or known.job in census.broken


def _is_later(known: Tracked, span: Span) -> bool:
    """Whether another scope's pass has taken a later list in for the job: then it is that one's."""
    return known.observed_at is not None and known.observed_at > span.began


def _tell(work: Pass) -> None:
    for job, plan in work.plans.items():
        if plan.words:
            work.report.add(job, "schedule", plan.words)


def _write(work: Pass, span: Span) -> None:
    seen = {job for job, known in work.watched.jobs.items() if _is_later(known, span)}
    for job, plan in list(work.plans.items()):
        del work.plans[job]  # nothing is judged by versions that are not stored
        with work.alone(job):
            if _write_one(work, job, plan, span):
                work.plans[job] = plan
                if plan.words:
                    work.report.add(job, "schedule", plan.words)
            seen.add(job)
    for job, known in work.watched.jobs.items():
        if job not in seen and known.blind_since is None and _is_listed(work, known):
            work.watcher.note_blind(job, span.last or span.began)


def _write_one(work: Pass, job: JobName, plan: JobPlan, span: Span) -> bool:
    """Write what is new of a job; False where a later list has been here for it."""
    known = job in work.watched.jobs
    if not known and not _track(work, job, plan, span):
        return False
    if plan.change is not None and not work.watcher.change_version(plan.change, span.began):
        raise _Overtaken
    # Last: its generation would tell the next pass that the change is known.
    return not known or _track(work, job, plan, span)


def _track(work: Pass, job: JobName, plan: JobPlan, span: Span) -> bool:
    settings = plan.settings
    return settings is None or work.watcher.track(job, span.began, plan.kind, settings)
