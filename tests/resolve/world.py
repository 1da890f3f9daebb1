"""A cluster and a ledger as data, at the seam where facts are asked; Jobs as the API has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from k8sjob.errors import ConfigError
from k8sjob.kube import words
from k8sjob.kube.inside_trouble import Kind, Trouble
from k8sjob.ledger.known import Known
from k8sjob.run.origin.resolve import resolve
from k8sjob.run.origin.sources import read_asked
from k8sjob.run.request import Flags

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from k8sjob.errors import K8sjobError
    from k8sjob.key import JobName
    from k8sjob.ledger.known import Resolution
    from k8sjob.period import Period
    from k8sjob.run.origin.context_file import Context
    from k8sjob.run.origin.sources import Resolved

#: The slot of the examples, a minute before now, and the names that go with it.
SLOT = "2026-09-13T00:00:00Z"
AT = datetime(2026, 9, 13, tzinfo=UTC)
NOW = AT + timedelta(minutes=1)
CRONJOB, JOB = "daily-credit", "billing/daily-credit"
SLOT_NAME = f"{CRONJOB}-29820960"
BACKFILL_NAME = f"{CRONJOB}-bf-20260911-0-1"
UID = "0f3a5d1e-4a7a-4c8e-9a53-6c1d3b1f0a01"

#: What the chart gives to every Pod.
POD = {
    "K8SJOB_NAMESPACE": "billing",
    "K8SJOB_CRONJOB": CRONJOB,
    "K8SJOB_JOB_NAME": SLOT_NAME,
    "K8SJOB_JOB_UID": UID,
}

DENIED = Trouble(Kind.DENIED, "the API does not let this Pod read Job x", "kubectl create role …")
GONE = Trouble(Kind.NOT_FOUND, "the API has no Job x", "It may have been deleted.")
AWAY = Trouble(Kind.TIMEOUT, "the API did not answer within 15 s")


def job(
    name: str = SLOT_NAME,
    *,
    uid: str = UID,
    owner: str | None = CRONJOB,
    labels: Mapping[str, str] | None = None,
    **annotations: str,
) -> dict[str, Any]:
    """Return a Job; ``annotations`` by their names in words.py, such as TIMESTAMP."""
    owners = [
        {"apiVersion": "apps/v1", "kind": "CronJob", "name": "other", "controller": True},
        {"apiVersion": "batch/v1", "kind": "CronJob", "name": owner, "controller": True},
    ]
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": "billing",
            "uid": uid,
            "labels": dict(labels or {}),
            "annotations": {getattr(words, word): text for word, text in annotations.items()},
            "ownerReferences": owners if owner else [],
        },
    }


def scheduled(timestamp: str = SLOT, name: str = SLOT_NAME, **more: Any) -> dict[str, Any]:
    """Return a Job as the controller makes it."""
    return job(name, TIMESTAMP=timestamp, **more)


def backfill(period: str = "2026-09-11T00:00:00Z", name: str = BACKFILL_NAME, **more: Any) -> Any:
    """Return a Job as backfill makes it."""
    labels = {words.BACKFILL: "true", words.CRONJOB: CRONJOB}
    return job(name, owner=None, labels=labels, PERIOD=period, JOB=JOB, **more)


@dataclass
class World:
    """What everybody would say; ``asked`` is who was asked, in order. No ``known``: no ledger."""

    job: dict[str, Any] | K8sjobError | None = None
    known_of: dict[str, Known] | None = None
    kept: dict[str, Resolution] = field(default_factory=dict)
    missing_of: list[Period] = field(default_factory=list)
    rows: list[Period] = field(default_factory=list)
    contexts: dict[str, Context] = field(default_factory=dict)
    pod_namespace: str | None = None
    ledger_away: K8sjobError | None = None
    asked: list[str] = field(default_factory=list)

    @property
    def has_ledger(self) -> bool:
        """Whether there is one."""
        return self.known_of is not None

    def context(self, path: str) -> Context:
        """Return the file of that name."""
        self.asked.append("context")
        if path not in self.contexts:
            raise ConfigError(f"there is no {path}")
        return self.contexts[path]

    def resolution(self, job_uid: str) -> Resolution | None:
        """Return what is kept."""
        self.asked.append("resolution")
        return self.kept.get(job_uid) if self.has_ledger else None

    def remember(self, job_uid: str, resolution: Resolution) -> Resolution | None:
        """Keep it, unless it is kept already."""
        self.asked.append("remember")
        if not self.has_ledger:
            return None
        return self.kept.setdefault(job_uid, resolution)

    def known(self, job: JobName) -> Known | None:
        """Return what is known of a job, by the ledger's clock."""
        self.asked.append("known")
        if self.known_of is None:
            return None
        return self.known_of.get(str(job), Known(job=job, now=NOW))

    def missing(self, job: JobName, tail: Sequence[Period]) -> Sequence[Period]:  # noqa: ARG002  # one job
        """Return the open periods, and those of the tail without a row."""
        self.asked.append("missing")
        return sorted({*self.missing_of, *(p for p in tail if p not in self.rows)})

    def namespace(self) -> str | None:
        """Return what the Pod's file says."""
        return self.pod_namespace

    def kubernetes_job(self, namespace: str, name: str) -> dict[str, Any] | None:
        """Return the Job, or raise the trouble."""
        self.asked.append(f"GET {namespace}/{name}")
        if isinstance(self.job, Exception):
            raise self.job
        return self.job

    def now(self) -> datetime:
        """Return this machine's clock."""
        return NOW


def find(world: World, env: Mapping[str, str] | None = None, **flags: Any) -> Resolved:
    """Resolve as a Pod with this environment would."""
    return resolve(read_asked(Flags(**flags), POD if env is None else env), world)


def ledger(**facts: Any) -> dict[str, Known]:
    """Return what a ledger knows of the job of the examples."""
    from k8sjob.key import JobName

    return {JOB: Known(**{"job": JobName.parse(JOB), "now": NOW, **facts})}


def without(*names: str, **more: str) -> dict[str, str]:
    """Return the Pod's environment without some of it."""
    return {k: v for k, v in POD.items() if k not in names} | more
