"""What the Postgres ledger knows of a job, and what a Kubernetes Job stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from k8sjob.key import JobName, Key
from k8sjob.ledger.known import ALIVE_FOR, Resolution, read_known
from k8sjob.ledger.postgres.rows import key_params
from k8sjob.period import Period
from k8sjob.states import State

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from k8sjob.key import KeyRange
    from k8sjob.ledger.known import Known

#: The columns of the query ``known``.
KNOWN = (
    *("kind", "floor", "zone", "limits", "grace_s"),
    *("tracked_since", "done_until", "now_at", "versions", "called"),
)


class Resolving:
    """The part of :class:`k8sjob.ledger.contract.Ledger` that finds the period of a run."""

    _lock_timeout: str

    async def _row(self, name: str, doing: str, params: dict[str, Any]) -> tuple[Any, ...]:
        raise NotImplementedError

    async def _alone(self, name: str, doing: str, params: dict[str, Any]) -> tuple[Any, ...]:
        raise NotImplementedError

    async def known(self, job: JobName) -> Known:
        """Return what is known of a job."""
        row = await self._alone("known", f"look up {job.job}", {"job": str(job.job)})
        return read_known(job.job, dict(zip(KNOWN, row, strict=True)))

    async def resolution(self, job_uid: str) -> Resolution | None:
        """Return what is kept of a Kubernetes Job."""
        doing = f"look up what Job {job_uid} stands for"
        (found,) = await self._alone("resolution", doing, {"job_uid": job_uid})
        return _resolution(*found) if found else None

    async def remember(self, job_uid: str, resolution: Resolution) -> Resolution:
        """Keep it, or return what was kept before."""
        key = Key(resolution.job, resolution.period)
        params = key_params(key) | {"job_uid": job_uid, "source": resolution.source}
        params["supersedes"] = resolution.supersedes
        row = await self._alone("remember", f"keep that Job {job_uid} stands for {key}", params)
        return _resolution(*row)

    async def missing(self, job: JobName, tail: Sequence[Period]) -> Sequence[Period]:
        """Return the periods of a job that are missing."""
        params = {"job": str(job), "tail": [str(p) for p in tail], "alive_for": ALIVE_FOR}
        (found,) = await self._alone("missing", f"look up what {job} is missing", params)
        return [Period.parse(text) for text in found]

    async def lapse(self, key: Key, reason: str, attempt: UUID) -> State | None:
        """Skip the period, unless another attempt is at it."""
        params = key_params(key) | {"reason": reason, "attempt": attempt}
        params |= {"alive_for": ALIVE_FOR, "lock_timeout": self._lock_timeout}
        (state,) = await self._alone("lapse", f"make {key} skipped", params)
        return State(state) if state and state != "busy" else None

    async def supersede(self, older: KeyRange, period: Period, attempt: UUID) -> int:
        """Skip the older periods, in the transaction of the claim."""
        params = {"job": str(older.job), "period": str(period), "attempt": attempt}
        params |= {"first": str(older.first), "last": str(older.last)}
        (count,) = await self._row("supersede", f"skip {older}", params)
        return int(count)


def _resolution(job: str, period: str, source: str, supersedes: str | None) -> Resolution:
    return Resolution(JobName.parse(job), Period.parse(period), source, supersedes)
