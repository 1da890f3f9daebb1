"""Who is asked for the facts of a period: the ledger, the Kubernetes API, the Pod's files."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from k8sjob.kube.inside import Inside
from k8sjob.ledger.contract import drive

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from k8sjob.errors import K8sjobError
    from k8sjob.key import JobName
    from k8sjob.ledger.contract import Ledger
    from k8sjob.ledger.known import Known, Resolution
    from k8sjob.period import Period
    from k8sjob.run.origin.context_file import Context


class AskedFacts:
    """The facts of one process. See :class:`k8sjob.run.origin.case.Facts`.

    ``ledger`` is connected, and closed by whoever has opened it; None: there is none, and ``away``
    is why, if one is set.
    """

    def __init__(
        self, ledger: Ledger | None, env: Mapping[str, str], away: K8sjobError | None = None
    ) -> None:
        """Ask nobody yet."""
        self._ledger, self.ledger_away = ledger, away
        self._inside = Inside.find(env)

    def context(self, path: str) -> Context:
        """Return the context file. Raises ConfigError."""
        from k8sjob.run.origin.context_file import read_context  # noqa: PLC0415  # where there is one

        return read_context(path)

    def resolution(self, job_uid: str) -> Resolution | None:
        """Return what a Kubernetes Job stands for; None without a ledger."""
        return drive(self._ledger.resolution(job_uid)) if self._ledger else None

    def remember(self, job_uid: str, resolution: Resolution) -> Resolution | None:
        """Keep what a Kubernetes Job stands for, return what is kept; None without a ledger."""
        return drive(self._ledger.remember(job_uid, resolution)) if self._ledger else None

    def known(self, job: JobName) -> Known | None:
        """Return what is known of a job; None without a ledger."""
        return drive(self._ledger.known(job)) if self._ledger else None

    def missing(self, job: JobName, tail: Sequence[Period]) -> Sequence[Period]:
        """Return what is missing of a job."""
        return drive(self._ledger.missing(job, tail)) if self._ledger else []

    def namespace(self) -> str | None:
        """Return the Pod's own namespace; None where this is no Pod, or it is not told."""
        return self._inside.namespace if self._inside else None

    def kubernetes_job(self, namespace: str, name: str) -> dict[str, Any] | None:
        """Return a Job from the API; None where this is no Pod. Raises Trouble."""
        return self._inside.get_job(namespace, name) if self._inside else None

    def now(self) -> datetime:
        """Return the time by this machine's clock."""
        return datetime.now(UTC)
