"""Sources of a period that ask no cluster: what was passed, the context file, the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.errors import ConfigError
from k8sjob.key import KeyRange
from k8sjob.run.origin.case import Found

if TYPE_CHECKING:
    from k8sjob.key import JobName
    from k8sjob.ledger.known import Resolution
    from k8sjob.run.origin.case import Case

_BY_HAND = ("--period", "K8SJOB_PERIOD")
_WRAPPED = ("context (", "remembered (")


def origin(source: str) -> str:
    """Return the source that a context file, or the ledger, has it from."""
    for wrapped in _WRAPPED:
        if source.startswith(wrapped) and source.endswith(")"):
            return origin(source[len(wrapped) : -1])
    return source


def from_flags(case: Case) -> Found | None:
    """Return what was passed. It is not remembered: somebody may exec into a Pod."""
    asked = case.asked
    if asked.period is None or (asked.may_be_sourced and _is_the_contexts(case)):
        case.say("--period, K8SJOB_PERIOD", "absent")
        return None
    if not (asked.job or asked.cronjob):
        case.ask_cluster()  # for the job's name only
    return Found(case.job, asked.period, asked.source, kept=True, passed=True)


def _is_the_contexts(case: Case) -> bool:
    """Whether a shell has taken K8SJOB_PERIOD from the context's own ``env``."""
    try:
        context = case.facts.context(case.asked.context or "")
    except ConfigError:
        return False  # what was passed answers first
    job = case.job if case.asked.job else None
    return context.key.period == case.asked.period and job in (None, context.key.job)


def from_context(case: Case) -> Found | None:
    """Return what the context file has. Raises ConfigError where it is not this Job's."""
    if case.asked.context is None:
        case.say("K8SJOB_CONTEXT", "absent")
        return None
    where = f"the context in {case.asked.context}"
    context = case.facts.context(case.asked.context)
    mine, its = case.asked.job_uid, context.job_uid
    if mine and its and mine != its:
        raise ConfigError(
            f"{where} is another Job's: of UID {its}, and this one has {mine}. Nothing was done.\n"
            "  Let each Pod have a folder of its own for it: an emptyDir."
        )
    source = origin(context.source)
    return Found(
        job=_same_job(case, context.key.job, where),
        period=context.key.period,
        source=f"context ({source})",
        kept=source.startswith(_BY_HAND),
        zone=context.zone,
        window_end=context.window_end,
        cronjob=context.cronjob,
        supersedes=context.supersedes,
    )


def from_ledger(case: Case, job_uid: str | None) -> Found | None:
    """Return what the Job of this UID stood for before."""
    if job_uid is None:
        case.say("the ledger", "the Job's UID is not known (set K8SJOB_JOB_UID)")
        return None
    kept = case.facts.resolution(job_uid)
    if kept is None:
        case.say("the ledger", f"it keeps nothing for Job UID {job_uid}")
        return None
    return as_kept(case, kept)


def as_kept(case: Case, kept: Resolution) -> Found:
    """Return what the ledger keeps, once and for all. Raises ConfigError for another job's."""
    job = _same_job(case, kept.job, "what the ledger keeps for this Job")
    older = KeyRange.parse(f"{kept.job}:{kept.supersedes}") if kept.supersedes else None
    found = Found(job, kept.period, f"remembered ({origin(kept.source)})", kept=True)
    return found._replace(supersedes=older)


def _same_job(case: Case, job: JobName, where: str) -> JobName:
    """Return the job that was asked for: ``job``, or a part of it."""
    wanted = case.job if case.asked.job else job
    if wanted.job != job.job:
        raise ConfigError(
            f"{where} is of {job}, and this run is of {wanted}. Nothing was done.\n"
            "  One Job stands for one period of one job: take --job and K8SJOB_JOB away, or pass "
            "--period too."
        )
    return wanted
