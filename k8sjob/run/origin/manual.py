"""The period of a Job that somebody has made by hand: the job's policy decides."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from k8sjob.errors import ConfigError, NoPeriod
from k8sjob.policy import ManualRuns
from k8sjob.run.origin.case import Found
from k8sjob.run.origin.refusal import refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from k8sjob.expect import Expected
    from k8sjob.key import JobName
    from k8sjob.ledger.known import Known
    from k8sjob.period import Period
    from k8sjob.run.origin.case import Case
    from k8sjob.run.origin.kubernetes_job import KubernetesJob

#: Periods that the ledger is asked about at a time.
_BATCH = 500


def manual(case: Case, job: KubernetesJob) -> Found:
    """Return the period that the policy chooses.

    Raises NoPeriod where it refuses, ConfigError for another kind of period than the job's.
    """
    name = case.job
    known = case.known(name)
    said = case.asked.manual_runs or (known.limits.get("manual_runs") if known else None)
    policy = ManualRuns(said or ManualRuns.REFUSE)
    if policy is ManualRuns.REFUSE or known is None:
        raise refused(case, _by_hand(name, job.name, policy), _advice(name))
    _check_kind(case, name, known)
    latest = policy is ManualRuns.LATEST_MISSING
    period = _missing(case, name, known, latest=latest)
    if period is None:
        raise NoPeriod(
            f"Job {job.name} was made by hand, and of {name} no period is missing for {policy} to "
            "choose. Nothing was done.\n"
            f"  Periods whose schedule is uncertain are never chosen: k8sjob get periods {name} "
            "lists them, and --period P does one."
        )
    return Found(name, period, f"manual {policy}", cronjob=job.owner or case.asked.cronjob)


def _by_hand(name: JobName, job_name: str, policy: ManualRuns) -> str:
    why = f"manual runs of {name} are refused"
    if policy is not ManualRuns.REFUSE:
        why = f"what {policy} would choose of {name} only a ledger tells, and none is at hand"
    return f"Job {job_name} was made by hand (no slot of its CronJob, no backfill), and {why}"


def _advice(name: JobName) -> str:
    return (
        f"Pass --period P (K8SJOB_PERIOD), or make the Job with k8sjob backfill {name} --from P "
        "--to P;\n"
        "  or let each such Job do what is missing: annotation k8sjob.io/manual-runs: "
        "oldest-missing on the CronJob, or K8SJOB_MANUAL_RUNS."
    )


def _check_kind(case: Case, name: JobName, known: Known) -> None:
    kind = case.cycle(name)
    if known.cycle not in (None, kind):
        raise ConfigError(
            f"{name.job} has periods of kind {known.cycle}, and this Job asks for kind {kind}. "
            "Nothing was done.\n"
            "  The kind of a job's periods is fixed: take K8SJOB_CYCLE and the annotation "
            "k8sjob.io/cycle away, or give the job a new name."
        )


def _missing(case: Case, name: JobName, known: Known, *, latest: bool) -> Period | None:
    """Return the oldest or the latest period that is missing; None: there is none."""
    tail: Iterable[Period] = _tail(case, name, known)
    if latest:
        tail = reversed(list(tail))
    for batch in _batches(tail):
        # Each time the open ones too: they may lie among these, before or after them.
        found = case.facts.missing(name, batch)
        if found and not latest:
            return found[0]
        if found and (not batch or found[-1] >= batch[-1]):
            return found[-1]
    return None


def _tail(case: Case, name: JobName, known: Known) -> Iterator[Period]:
    """Return the periods that are past due and that no pass of the reconciler has looked at."""
    after = known.done_until or known.tracked_since
    if not known.versions or after is None:
        return iter(())
    from k8sjob.expect import expected  # noqa: PLC0415  # only where a schedule is known

    due: Iterator[Expected] = expected(
        known.versions, case.cycle(name), after=after, upto=known.now, grace_s=known.grace_s
    )
    return (e.period for e in due if e.deadline <= known.now and not e.uncertain)


def _batches(periods: Iterable[Period]) -> Iterator[list[Period]]:
    """Return them some at a time, and at last none."""
    them = iter(periods)
    while batch := list(islice(them, _BATCH)):
        yield batch
    yield []
