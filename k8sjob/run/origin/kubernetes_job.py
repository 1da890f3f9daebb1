"""What tells a period on a Kubernetes Job, and when it is to be believed. Pure.

A jobTemplate's labels and annotations reach every Job that is made from it, by the controller, by
a person or by backfill. A name does not: the guards compare the two.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from k8sjob.errors import NoPeriod
from k8sjob.kube import words
from k8sjob.kube.fields import Fields
from k8sjob.kube.names import slot_name, slot_of

if TYPE_CHECKING:
    from collections.abc import Mapping

#: A Job older than this has been gone for long: a name that says so is somebody's own.
OLDEST = timedelta(days=400)
#: By how much clocks may differ.
AHEAD = timedelta(minutes=5)

# As Go writes RFC 3339 for whole seconds, which is all that the controller knows.
_RFC3339 = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(Z|[+-][0-9]{2}:[0-9]{2})")


class NotBelieved(Exception):  # internal: a source has something to say that is not taken
    """Why it is not taken, as the rest of a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesJob:
    """What is read of a Job. ``owner`` is the CronJob that its controller reference names."""

    name: str
    uid: str
    owner: str | None = None
    annotations: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def job(self) -> str | None:
        """The job that it is of by its annotation, with or without a namespace."""
        return self.annotations.get(words.JOB) or None


def read_job(raw: object, name: str, uid: str | None) -> KubernetesJob:
    """Read the JSON of the Job called ``name``, of this ``uid`` if that is known.

    Raises UnreadableObject; NoPeriod where a Job of that name was made anew: what stands on it is
    the other one's, and this Pod is a remnant.
    """
    meta = Fields(raw, f"Job {name}").under("metadata")
    found = meta.needed("uid")
    if uid is not None and found != uid:
        raise NoPeriod(f"Job {name} is another one by now: of UID {found}, and not {uid}")
    return KubernetesJob(
        name=meta.needed("name"),
        uid=found,
        owner=_owner(meta),
        annotations=meta.texts("annotations"),
        labels=meta.texts("labels"),
    )


def _owner(meta: Fields) -> str | None:
    for owner in meta.each("ownerReferences"):
        group, _, _ = (owner.text("apiVersion") or "").partition("/")
        if owner.flag("controller") and (group, owner.text("kind")) == ("batch", "CronJob"):
            return owner.text("name")
    return None


def believed_timestamp(text: str, job_name: str | None, cronjob: str | None) -> datetime:
    """Return the instant in ``text``, if the Job's name is the one that the controller gives it.

    Where the CronJob's name is not known, only the minutes at the end count. Raises NotBelieved.
    """
    instant = _instant(text)
    if not job_name:
        raise NotBelieved("the Job's name is not known (set K8SJOB_JOB_NAME)")
    wanted = slot_name(cronjob or job_name.rpartition("-")[0] or "CRONJOB", instant)
    if job_name != wanted:
        raise NotBelieved(f"{text} would be of a Job called {wanted}, and this one is {job_name}")
    return instant


def _instant(text: str) -> datetime:
    wrong = NotBelieved(f"{text[:60]!r} is no time such as 2026-09-13T00:00:00Z")
    if not _RFC3339.fullmatch(text):
        raise wrong
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise wrong from None


def believed_name(job_name: str, cronjob: str, now: datetime) -> datetime:
    """Return the slot in a Job's name; seconds, which ``@every`` has, are lost. Raises NotBelieved.

    ``now`` is aware; a slot is at most `OLDEST` before it and `AHEAD` after it.
    """
    slot = slot_of(job_name, cronjob)
    if slot is None:
        raise NotBelieved(f"{job_name} is not {cronjob}- and the eight digits of a slot")
    if not -OLDEST <= slot - now <= AHEAD:
        raise NotBelieved(f"{job_name} would be of {slot:%Y-%m-%dT%H:%M:%SZ}, far from now")
    return slot
