"""Sources of a period that a cluster gives: the Job, by the API, the downward API or its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.errors import ConfigError, InvalidKey
from k8sjob.key import Key, KeyRange
from k8sjob.kube import words
from k8sjob.kube.names import is_backfill_name
from k8sjob.period import Period
from k8sjob.run.origin.case import Found
from k8sjob.run.origin.kubernetes_job import NotBelieved, believed_name, believed_timestamp
from k8sjob.run.origin.passed_on import from_ledger

if TYPE_CHECKING:
    from datetime import datetime

    from k8sjob.key import JobName
    from k8sjob.run.origin.case import Case
    from k8sjob.run.origin.kubernetes_job import KubernetesJob

# Sources that say when a schedule fired: a run that has its period from one can be too late.
BY_API, BY_DOWNWARD_API, BY_NAME = "scheduled-timestamp", "downward-api", "job-name"
FIRED = (BY_API, BY_DOWNWARD_API, BY_NAME)


def from_api(case: Case) -> Found | None:
    """Return what the Job itself tells; None where the API does not give it.

    A Job that is no slot of its CronJob and no backfill is manual: a policy decides, or NoPeriod.
    """
    job = case.ask_cluster()
    if job is None:
        return None
    remembered = None if case.asked.job_uid else from_ledger(case, job.uid)
    return remembered or _annotated(case, job) or _scheduled(case, job) or _manual(case, job)


def _annotated(case: Case, job: KubernetesJob) -> Found | None:
    text, what = job.annotations.get(words.PERIOD), f"annotation {words.PERIOD}"
    if not text:
        case.say(what, "absent")
        return None
    job_name = case.job
    try:
        key = Key(job_name.job, Period.parse(text))
    except InvalidKey:
        case.say(what, f"not believed, {text[:60]!r} is no period")
        return None
    cronjob = job.labels.get(words.CRONJOB) or case.asked.cronjob
    if not cronjob:
        case.say(what, f"not believed, there is no label {words.CRONJOB}")
        return None
    if not is_backfill_name(job.name, cronjob, key):
        case.say(what, f"{text} is not believed, backfill calls no Job of it {job.name}")
        return None
    older = _older(key, job.annotations.get(words.SUPERSEDES))
    found = Found(job_name, key.period, "backfill-annotation", cronjob=cronjob)
    return found._replace(supersedes=older)


def _older(key: Key, text: str | None) -> KeyRange | None:
    if not text:
        return None
    try:
        older = KeyRange.parse(f"{key.job}:{text}")
        if older.last < key.period:
            return older
        error = f"{older.last} is not before {key.period}"
    except (InvalidKey, TypeError) as wrong:
        error = str(wrong)
    raise ConfigError(
        f"annotation {words.SUPERSEDES} of the Job of {key} does not parse: {error}. Nothing was "
        "done.\n  Write FIRST..LAST, two older periods of the job."
    )


def _scheduled(case: Case, job: KubernetesJob) -> Found | None:
    text, what = job.annotations.get(words.TIMESTAMP), f"annotation {words.TIMESTAMP}"
    cronjob = job.owner or case.asked.cronjob
    if text and not cronjob:
        case.say(what, "not believed, no CronJob controls this Job (set K8SJOB_CRONJOB)")
        return None
    return _fired(case, what, BY_API, (text, job.name, cronjob))


def _manual(case: Case, job: KubernetesJob) -> Found:
    from k8sjob.run.origin.manual import manual  # noqa: PLC0415  # few Jobs come this far

    return manual(case, job)


def from_downward_api(case: Case) -> Found | None:
    """Return what the environment has of the Job's annotation. An absent one arrives empty."""
    asked = case.asked
    told = (asked.scheduled_timestamp, asked.job_name, asked.cronjob)
    return _fired(case, "K8SJOB_SCHEDULED_TIMESTAMP", BY_DOWNWARD_API, told)


def _fired(
    case: Case, what: str, source: str, told: tuple[str | None, str | None, str | None]
) -> Found | None:
    """Believe a scheduled timestamp if the Job is called as the controller calls it."""
    text, job_name, cronjob = told
    if not text:
        case.say(what, "absent")
        return None
    try:
        fire = believed_timestamp(text, job_name, cronjob)
    except NotBelieved as error:
        case.say(what, f"not believed, {error}")
        return None
    return _of_fire(case, case.job, fire, source, cronjob)


def from_name(case: Case) -> Found | None:
    """Return what the Job's name says, where the CronJob's name is known."""
    name, cronjob = case.asked.job_name, case.asked.cronjob
    if not name or not cronjob:
        lacking = "K8SJOB_CRONJOB" if name else "K8SJOB_JOB_NAME"
        case.say("the Job's name", f"absent (set {lacking})")
        return None
    job = case.job
    try:
        slot = believed_name(name, cronjob, case.now(job))
    except NotBelieved as error:
        case.say("the Job's name", f"not believed, {error}")
        return None
    return _of_fire(case, job, slot, BY_NAME, cronjob)


def _of_fire(
    case: Case, job: JobName, fire: datetime, source: str, cronjob: str | None
) -> Found | None:
    zone = case.zone(job)
    period = Period.of(case.cycle(job), fire, zone)
    return Found(job, period, source, zone=zone, fire=fire, cronjob=cronjob)
