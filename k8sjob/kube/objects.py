"""What is read of CronJobs, Jobs and Events of the Kubernetes API. Pure. Pods are in `pods`.

Sources: the API reference, https://kubernetes.io/docs/reference/kubernetes-api/. Times are aware
UTC, durations seconds. All of it raises `UnreadableObject` for what is not such an object.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from k8sjob.kube import words
from k8sjob.kube.fields import Fields, UnreadableObject
from k8sjob.kube.pods import Container, Pod, Terminated, Waiting

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

__all__ = [
    "Container",
    "CronJob",
    "Event",
    "Job",
    "Managed",
    "Pod",
    "Terminated",
    "UnreadableObject",
    "Waiting",
]

#: What of a CronJob a manager can own that has to do with its periods.
Owned = Literal["schedule", "timeZone", "suspend", "enabled-label", "annotations"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Managed:
    """One entry of managedFields: who wrote last, and what of ours is theirs.

    ``time`` is the manager's last change of *any* field of its own, so it is an upper bound only
    (measured). ``annotations``: it owns at least one of ``k8sjob.io/``.
    """

    manager: str | None
    operation: str | None
    subresource: str | None
    time: datetime | None
    owns: frozenset[Owned]


@dataclass(frozen=True, slots=True, kw_only=True)
class CronJob:
    """A CronJob. ``zone`` None is Kubernetes' default, the controller's own zone.

    One that is ``deleting`` starts nothing any more; it may stand until its Jobs are gone.
    """

    namespace: str
    name: str
    uid: str
    generation: int
    created: datetime
    schedule: str
    zone: str | None = None
    suspended: bool = False
    deleting: bool = False
    concurrency: str = "Allow"
    starting_deadline_s: int | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    last_schedule_time: datetime | None = None
    managed: tuple[Managed, ...] = ()
    template: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def declared(self, variable: str) -> str | None:
        """Return the plain value of an environment variable of the template's containers.

        The first container that has one tells it; within it the last entry, as the kubelet sets it.
        What refers to others, ``$(NAME)``, is known in the Pod only.
        """
        pods = Fields(self.template, f"CronJob {self.namespace}/{self.name}", "spec.jobTemplate")
        spec = pods.under("spec", "template", "spec")
        for container in [*spec.each("initContainers"), *spec.each("containers")]:
            entries = [one for one in container.each("env") if one.text("name") == variable]
            value = entries[-1].text("value") if entries else None
            if value and "$(" not in value:
                return value
        return None

    @classmethod
    def parse(cls, raw: object) -> CronJob:
        """Read the JSON of a ``batch/v1`` CronJob."""
        whole, meta = _open(raw, "CronJob")
        spec = whole.under("spec")
        return cls(
            namespace=meta.needed("namespace"),
            name=meta.needed("name"),
            uid=meta.needed("uid"),
            generation=meta.number("generation") or 0,
            created=meta.needed_time("creationTimestamp"),
            schedule=spec.needed("schedule"),
            zone=spec.text("timeZone"),
            suspended=spec.flag("suspend"),
            deleting=meta.time("deletionTimestamp") is not None,
            concurrency=spec.text("concurrencyPolicy") or "Allow",
            starting_deadline_s=spec.number("startingDeadlineSeconds"),
            labels=meta.texts("labels"),
            annotations=meta.texts("annotations"),
            last_schedule_time=whole.under("status").time("lastScheduleTime"),
            managed=tuple(map(_managed, meta.each("managedFields"))),
            template=spec.under("jobTemplate").raw(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A Job. ``cronjob`` is its controller; ``backfill_of`` the CronJob that it is a backfill of.

    ``finished`` and the three after it are those of the terminal condition and of nothing else:
    ``failed`` counts Pods, and a Job that lost one may go on.
    """

    namespace: str
    name: str
    uid: str
    created: datetime
    cronjob: str | None = None
    cronjob_uid: str | None = None
    backfill_of: str | None = None
    annotations: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    started: datetime | None = None
    completed: datetime | None = None
    finished: Literal["Complete", "Failed"] | None = None
    reason: str | None = None
    message: str | None = None
    finished_at: datetime | None = None
    active: int = 0
    ready: int = 0
    terminating: int = 0
    failed: int = 0
    deleting: bool = False
    suspended: bool = False

    @property
    def is_alive(self) -> bool:
        """Whether it is not at its end, or has a Pod that still terminates."""
        return self.finished is None or self.terminating > 0

    @property
    def is_under_way(self) -> bool:
        """Whether it is not over: alive, or being deleted, which its Pods may outlast."""
        return self.is_alive or self.deleting

    @classmethod
    def parse(cls, raw: object) -> Job:
        """Read the JSON of a ``batch/v1`` Job."""
        whole, meta = _open(raw, "Job")
        status, labels = whole.under("status"), meta.texts("labels")
        owner, end = _controller(meta), _end(status)
        finished = end.needed("type") if end else None
        return cls(
            namespace=meta.needed("namespace"),
            name=meta.needed("name"),
            uid=meta.needed("uid"),
            created=meta.needed_time("creationTimestamp"),
            cronjob=owner.text("name") if owner else None,
            cronjob_uid=owner.text("uid") if owner else None,
            backfill_of=labels.get(words.CRONJOB) if labels.get(words.BACKFILL) == "true" else None,
            annotations=meta.texts("annotations"),
            labels=labels,
            started=status.time("startTime"),
            completed=status.time("completionTime"),
            finished="Complete" if finished == "Complete" else "Failed" if finished else None,
            reason=end.text("reason") if end else None,
            message=end.text("message") if end else None,
            finished_at=end.time("lastTransitionTime") if end else None,
            active=status.number("active") or 0,
            ready=status.number("ready") or 0,
            terminating=status.number("terminating") or 0,
            failed=status.number("failed") or 0,
            deleting=meta.time("deletionTimestamp") is not None,
            suspended=whole.under("spec").flag("suspend"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An Event (core/v1) about an object; they live for one hour."""

    namespace: str
    name: str
    kind: str | None
    about: str | None
    uid: str | None
    reason: str | None
    message: str | None
    count: int
    first: datetime | None
    last: datetime | None

    @classmethod
    def parse(cls, raw: object) -> Event:
        """Read the JSON of a ``v1`` Event, old style (count) or new (series)."""
        whole, meta = _open(raw, "Event")
        about, series = whole.under("involvedObject"), whole.under("series")
        at = whole.time("eventTime") or meta.time("creationTimestamp")
        return cls(
            namespace=meta.needed("namespace"),
            name=meta.needed("name"),
            kind=about.text("kind"),
            about=about.text("name"),
            uid=about.text("uid"),
            reason=whole.text("reason"),
            message=whole.text("message"),
            count=series.number("count") or whole.number("count") or 1,
            first=whole.time("firstTimestamp") or at,
            last=series.time("lastObservedTime") or whole.time("lastTimestamp") or at,
        )


def _open(raw: object, kind: str) -> tuple[Fields, Fields]:
    """Return an object's fields and its metadata; messages call it by its name."""
    whole = Fields(raw, f"a {kind}")
    meta = whole.under("metadata")
    name = "/".join(filter(None, (meta.text("namespace"), meta.text("name"))))
    whole = Fields(raw, f"{kind} {name}" if name else f"a {kind} without a name")
    return whole, whole.under("metadata")


def _controller(meta: Fields) -> Fields | None:
    owners = [owner for owner in meta.each("ownerReferences") if owner.flag("controller")]
    return next((owner for owner in owners if owner.text("kind") == "CronJob"), None)


def _end(status: Fields) -> Fields | None:
    ends = [c for c in status.each("conditions") if c.text("status") == "True"]
    return next((c for c in ends if c.text("type") in ("Complete", "Failed")), None)


def _managed(entry: Fields) -> Managed:
    fields = entry.under("fieldsV1")
    spec, meta = fields.under("f:spec"), fields.under("f:metadata")
    owns: set[Owned] = set()
    of_spec: tuple[Owned, ...] = ("schedule", "timeZone", "suspend")
    owns |= {name for name in of_spec if f"f:{name}" in spec.names()}
    if f"f:{words.ENABLED}" in meta.under("f:labels").names():
        owns.add("enabled-label")
    if any(name.startswith(f"f:{words.PREFIX}") for name in meta.under("f:annotations").names()):
        owns.add("annotations")
    return Managed(
        manager=entry.text("manager"),
        operation=entry.text("operation"),
        subresource=entry.text("subresource"),
        time=entry.time("time"),
        owns=frozenset(owns),
    )
