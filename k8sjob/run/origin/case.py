"""One search for a period: what is asked of whom, and what has been said so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from k8sjob.cycle import Cycle
from k8sjob.errors import K8sjobError, UsageError
from k8sjob.run.origin.kubernetes_job import read_job
from k8sjob.run.origin.refusal import unresolved

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from k8sjob.key import JobName, KeyRange
    from k8sjob.ledger.known import Known, Resolution
    from k8sjob.period import Period
    from k8sjob.run.origin.context_file import Context
    from k8sjob.run.origin.kubernetes_job import KubernetesJob
    from k8sjob.run.origin.sources import Asked


class Facts(Protocol):
    """What has to be asked, one thing at a time. What it raises is that source's trouble."""

    @property
    def ledger_away(self) -> K8sjobError | None:
        """Why there is no ledger although one is set; None: it is there, or none is set."""

    def context(self, path: str) -> Context:
        """Return the context file. Raises ConfigError."""

    def resolution(self, job_uid: str) -> Resolution | None:
        """Return what a Kubernetes Job stands for; None without a ledger."""

    def remember(self, job_uid: str, resolution: Resolution) -> Resolution | None:
        """Keep what a Kubernetes Job stands for, return what is kept; None without a ledger."""

    def known(self, job: JobName) -> Known | None:
        """Return what is known of a job; None without a ledger."""

    def missing(self, job: JobName, tail: Sequence[Period]) -> Sequence[Period]:
        """Return what is missing of a job. See `Ledger.missing`."""

    def namespace(self) -> str | None:
        """Return the Pod's own namespace; None where this is no Pod, or it is not told."""

    def kubernetes_job(self, namespace: str, name: str) -> dict[str, Any] | None:
        """Return a Job from the API; None where this is no Pod. Raises Trouble."""

    def now(self) -> datetime:
        """Return the time by this machine's clock, for where there is no ledger."""


class Found(NamedTuple):
    """What a source has said. ``kept``: it is not to be remembered, or is so already.

    ``passed``: a person says so, and nobody has looked yet whether it is on the schedule.
    """

    job: JobName
    period: Period
    source: str
    kept: bool = False
    passed: bool = False
    zone: str | None = None
    fire: datetime | None = None
    window_end: datetime | None = None
    cronjob: str | None = None
    supersedes: KeyRange | None = None


class Case:
    """What flags and environment say, whom to ask, and what the sources in vain had to say."""

    def __init__(self, asked: Asked, facts: Facts) -> None:
        """Ask nobody yet."""
        self.asked, self.facts = asked, facts
        self.said: list[str] = []
        self.trouble: K8sjobError | None = None
        self.kubernetes_job: KubernetesJob | None = None
        self._known: dict[JobName, Known | None] = {}

    def say(self, source: str, what: str) -> None:
        """Note why a source does not answer."""
        self.said.append(f"{source}: {what}")

    @property
    def job(self) -> JobName:
        """The job. Raises UsageError where nothing names it, InvalidKey for a wrong name.

        Where the API might have named it, what its trouble means for another try. A CronJob may
        give its job another name by an annotation of its own, which is on no Job: the ledger knows.
        """
        name = self._named
        if self.asked.job or (self.kubernetes_job and self.kubernetes_job.job):
            return name
        known = self.known(name)
        return (known.called if known else None) or name

    @property
    def _named(self) -> JobName:
        found, asked = self.kubernetes_job, self.asked
        named = asked.namespace or "/" in (asked.job or "")
        try:
            return asked.job_of(
                name=found.job if found else None,
                owner=found.owner if found else None,
                namespace=None if named else self.facts.namespace(),
            )
        except UsageError:
            if self.trouble is None:
                raise
        raise unresolved(self)  # the API may tell it later

    @property
    def job_uid(self) -> str | None:
        """The UID of the Kubernetes Job."""
        found = self.kubernetes_job
        return self.asked.job_uid or (found.uid if found else None)

    def known(self, job: JobName) -> Known | None:
        """Return what the ledger knows of the job; it is asked once."""
        if job.job not in self._known:
            self._known[job.job] = self.facts.known(job.job)
        return self._known[job.job]

    def zone(self, job: JobName) -> str | None:
        """Return the job's zone: what was passed, else what the ledger knows."""
        known = None if self.asked.zone else self.known(job)
        return self.asked.zone or (known.zone if known else None)

    def cycle(self, job: JobName) -> Cycle:
        """Return the kind of its periods: as set, as annotated, as known, else scheduled."""
        if self.asked.cycle:
            return self.asked.cycle
        known = self.known(job)
        if known is None:
            return Cycle.SCHEDULED
        return Cycle(known.limits.get("cycle") or known.cycle or Cycle.SCHEDULED)

    def now(self, job: JobName) -> datetime:
        """Return the time, by the ledger's clock where there is one."""
        known = self.known(job)
        return known.now if known else self.facts.now()

    def ask_cluster(self) -> KubernetesJob | None:
        """Get the Job from the API; None where it is not to be had."""
        name = self.asked.job_name
        if not name:
            self.say("the Kubernetes API", "the Job's name is not known (set K8SJOB_JOB_NAME)")
            return None
        namespace = self.asked.pod_namespace or self.facts.namespace()
        if not namespace:
            self.say("the Kubernetes API", "the namespace is not known (set K8SJOB_NAMESPACE)")
            return None
        try:
            raw = self.facts.kubernetes_job(namespace, name)
            if raw is None:
                self.say("the Kubernetes API", "not asked, this is no Pod of a cluster")
            else:
                self.kubernetes_job = read_job(raw, name, self.asked.job_uid)
        except K8sjobError as error:
            self.trouble = error
            self.say("the Kubernetes API", getattr(error, "what", None) or str(error))
        return self.kubernetes_job
