"""Why a period is not done, as far as the cluster tells. Pure."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from k8sjob.kube.names import slot_name, slot_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from k8sjob.kube.objects import Job, Pod
    from k8sjob.ledger.watch import LastTry
    from k8sjob.period import Period
    from k8sjob.reconcile.traces import Index, Traces

#: A Pod may be pending for as long in good order.
STARTS_WITHIN = timedelta(seconds=30)


class Why(NamedTuple):
    """A code for programs and a sentence for people."""

    code: str
    reason: str


NO_JOB = Why("no-job", "no Job was created (controller down?)")
NOT_LOOKED = Why("unknown", "due, and the Jobs could not be listed to see why")


def why_not_done(  # noqa: PLR0913  # all that can tell
    period: Period,
    fire: datetime | None,
    *,
    traces: Traces | None,
    there: Index | None,
    last: LastTry | None,
    uncertain: bool = False,
    done: Mapping[Period, datetime] | None = None,
) -> Why:
    """Return why ``period`` is not done.

    ``fire`` is the instant of its last start; ``done`` is when others of the job's were done.
    """
    if there is None:
        return _of_try(last) if last else NOT_LOOKED
    if traces is None:
        return _of_try(last) if last else Why("gone", "its CronJob or its label is gone")
    jobs = traces.by_period.get(period, ())
    if jobs:
        return _of_jobs(jobs, there, last)
    if last is not None:
        return _of_try(last)
    if uncertain:
        return Why("uncertain", "schedule uncertain: it was changed around that time")
    return _of_absence(traces, there, fire, done or {})


def _of_try(last: LastTry) -> Why:
    said = (last.message or "").strip().splitlines()
    code = f" {last.exit_code}" if last.exit_code else ""
    words = _without_key(said[0], last.outcome) if said else "it left no message"
    return Why("attempt-failed", f"{last.outcome or 'no end'}{code}: {words}")


def _without_key(words: str, outcome: str | None) -> str:
    # A run begins with `KEY OUTCOME: `, which stand beside the reason already. A key has no spaces.
    key, found, rest = words.partition(f" {outcome}: ")
    return rest if found and ":" in key and " " not in key else words


# ------------------------------------------------------------------------------------ its Jobs


def _of_jobs(jobs: Sequence[Job], there: Index, last: LastTry | None) -> Why:
    job = max(jobs, key=lambda one: one.created)
    if job.is_alive and (stuck := unstarted(job, there)):
        return Why("created-never-started", f"Job {job.name}: {stuck}")
    if last is not None:
        return _of_try(last)
    if job.is_alive:
        return Why("no-attempt", f"Job {job.name} runs, and no attempt has reached the ledger")
    if job.finished == "Failed":
        words = f"{job.reason or 'no reason'}: {job.message or ''}".rstrip(": ")
        return Why("job-failed", f"Job {job.name} failed without an attempt: {words}")
    return Why(
        "unclaimed",
        f"Job {job.name} is Complete and claimed nothing (does its container start with k8sjob?)",
    )


def unstarted(job: Job, there: Index) -> str | None:
    """Return what keeps a Job from starting: its Pod pends, or it has none; None: nothing."""
    if job.finished is not None or job.ready or job.suspended:
        return None
    pods = there.pods_of.get((job.namespace, job.name), ())
    if not pods:
        return None if job.active else _no_pod(job, there)
    stuck = [_pending(pod) for pod in pods]
    return stuck[0] if all(stuck) else None


def _no_pod(job: Job, there: Index) -> str | None:
    events = there.events_of.get((job.namespace, job.name), ())
    failed = [event for event in events if event.reason == "FailedCreate"]
    return f"no Pod: FailedCreate: {failed[-1].message or ''}".rstrip(": ") if failed else None


def _pending(pod: Pod) -> str | None:
    """Return why a Pod has started nothing; None where it has, or may do so any moment."""
    if pod.phase != "Pending":
        return None
    if pod.unschedulable:
        return f"Pod {pod.name}: Unschedulable: {pod.unschedulable}"
    for container in (*pod.init_trouble, *pod.containers):
        waiting = container.waiting
        if waiting is not None and waiting.reason not in (None, "PodInitializing"):
            return f"Pod {pod.name}: {waiting.reason}: {waiting.message or ''}".rstrip(": ")
    return None


# -------------------------------------------------------------------------------- no Job at all


def _of_absence(
    traces: Traces, there: Index, fire: datetime | None, done: Mapping[Period, datetime]
) -> Why:
    cron = traces.cron
    if cron.starting_deadline_s == 0:
        return Why("deadline-zero", "startingDeadlineSeconds is 0: the controller starts nothing")
    if fire is None:
        return NO_JOB
    taken = there.jobs.get((cron.namespace, slot_name(cron.name, fire)))
    if taken is not None and taken.cronjob != cron.name:
        return Why("name-taken", f"a Job that is not the CronJob's has the name {taken.name}")
    if cron.concurrency == "Forbid" and (before := _in_the_way(traces.jobs, fire)):
        until = f"to {before.finished_at:%H:%M:%SZ}" if before.finished_at else "and runs still"
        since = before.started or before.created
        words = f"Forbid: Job {before.name} ran from {since:%H:%M:%SZ} {until}"
        return Why("forbid", words + _although(before, traces, fire, done))
    if cron.last_schedule_time is not None and cron.last_schedule_time >= fire:
        return Why("job-gone", "its Job is gone (deleted or cleaned up), or there was none")
    return NO_JOB


def _although(before: Job, traces: Traces, fire: datetime, done: Mapping[Period, datetime]) -> str:
    """Say where the Job kept the slot although its work was done: the Pod hangs, or its end is."""
    of = (period for period, jobs in traces.by_period.items() if before in jobs)
    at = next((done[period] for period in of if period in done), None)
    if at is None or at >= fire:
        return ""
    return f", though the ledger has its work as done at {at:%H:%M:%SZ}"


def _in_the_way(jobs: Sequence[Job], fire: datetime) -> Job | None:
    """Return the slot's Job that ran across ``fire``: one made by hand keeps no other waiting."""
    for job in jobs:
        if job.cronjob is None or slot_of(job.name, job.cronjob) is None:
            continue
        began = job.started or job.created
        if began < fire and (job.finished_at is None or job.finished_at > fire):
            return job
    return None
