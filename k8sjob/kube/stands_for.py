"""Which period a Job stands for, by its name and its annotations. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from k8sjob.errors import K8sjobError
from k8sjob.key import Key
from k8sjob.kube import words
from k8sjob.kube.names import is_backfill_name, is_slot_name, slot_of
from k8sjob.period import Period

if TYPE_CHECKING:
    from k8sjob.cycle import Cycle
    from k8sjob.key import JobName
    from k8sjob.kube.objects import CronJob, Job


def period_of(
    job: Job, cronjob: CronJob, *, name: JobName, cycle: Cycle | None, zone: str
) -> Period | None:
    """Return the period of the job ``name`` that a Job stands for; None for those made by hand.

    Annotations are believed only where the Job's name agrees, as the entrypoint does. A controller
    older than Kubernetes 1.32 writes none: then the name alone tells the slot.
    """
    if cronjob.name not in (job.cronjob, job.backfill_of):
        return None
    period = _annotated(job)
    if period and is_backfill_name(job.name, cronjob.name, Key(name, period)):
        return period
    if job.cronjob is None or cycle is None:
        return None
    at = _timestamp(job.annotations.get(words.TIMESTAMP))
    if at is None or not is_slot_name(job.name, cronjob.name, at):
        at = slot_of(job.name, cronjob.name)
    try:
        return None if at is None else Period.of(cycle, at, zone)
    except K8sjobError:  # an instant, or a zone, of which no period is known
        return None


def _annotated(job: Job) -> Period | None:
    text = job.annotations.get(words.PERIOD)
    try:
        return Period.parse(text) if text else None
    except K8sjobError:  # a text that a template has put there
        return None


def _timestamp(text: str | None) -> datetime | None:
    try:
        at = datetime.fromisoformat(text or "")
        return at.astimezone(UTC) if at.utcoffset() is not None else None
    except (ValueError, OverflowError):  # the year 1, in the east
        return None
