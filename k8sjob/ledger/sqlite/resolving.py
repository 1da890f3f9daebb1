"""What the SQLite ledger knows of a job, and what a Kubernetes Job stands for."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from k8sjob.errors import ConfigError, TryAgain, Unavailable
from k8sjob.key import JobName, Key
from k8sjob.ledger.known import ALIVE_FOR, Resolution, read_known
from k8sjob.ledger.sqlite.alone import Alone
from k8sjob.ledger.sqlite.claim import SQL, is_busy, key_params, now, text
from k8sjob.period import Period
from k8sjob.states import State

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from uuid import UUID

    from k8sjob.key import KeyRange
    from k8sjob.ledger.known import Known


class Resolving:
    """The part of :class:`k8sjob.ledger.contract.Ledger` that finds the period of a run."""

    conn: Any
    _file: str
    _liveness: Alone | None

    def _transaction(self, key: Key | None) -> AbstractContextManager[sqlite3.Connection]:
        raise NotImplementedError

    async def say(
        self, key: Key, state: State, reason: str, *, until: datetime | None, attempt: UUID
    ) -> State | None:
        """Block or skip the period; return its state afterwards."""
        raise NotImplementedError

    async def known(self, job: JobName) -> Known:
        """Return what is known of a job."""
        (row,) = self._rows("known", {"job": str(job.job)})
        columns = zip(("kind", "floor", "zone"), row, strict=True)
        return read_known(job.job, {"now_at": datetime.now(UTC), **dict(columns)})

    async def resolution(self, job_uid: str) -> Resolution | None:
        """Return what is kept of a Kubernetes Job."""
        # Whoever holds the file keeps no reader out, so nothing is made here.
        there = self._rows("has_resolutions", {})
        rows = self._rows("resolution", {"job_uid": job_uid}) if there else []
        return _resolution(*rows[0]) if rows else None

    async def remember(self, job_uid: str, resolution: Resolution) -> Resolution:
        """Keep it, or return what was kept before."""
        key = Key(resolution.job, resolution.period)
        params = key_params(key) | {"job_uid": job_uid, "source": resolution.source}
        params["supersedes"] = resolution.supersedes
        with self._transaction(key) as conn:
            conn.execute(SQL["make_resolutions"])
            conn.execute(SQL["remember"], params)
            row = conn.execute(SQL["resolution"], params).fetchone()
        return _resolution(*row)

    async def missing(self, job: JobName, tail: Sequence[Period]) -> Sequence[Period]:  # noqa: ARG002  # no schedule is known here
        """Return the open periods of a job that nobody is at."""
        params = {"job": str(job), "now": now(), "alive_after": _alive_after()}
        return [Period.parse(text) for (text,) in self._rows("missing", params)]

    async def lapse(self, key: Key, reason: str, attempt: UUID) -> State | None:
        """Skip the period, unless another attempt is at it."""
        self._liveness = self._liveness or Alone(self._file)
        if not self._liveness.take(str(key)):
            return None
        params = key_params(key) | {"attempt": str(attempt), "alive_after": _alive_after()}
        if self._rows("another_is_alive", params):
            return None
        return await self.say(key, State.SKIPPED, reason, until=None, attempt=attempt)

    async def supersede(self, older: KeyRange, period: Period, attempt: UUID) -> int:  # noqa: ARG002  # as in the contract
        """Refuse: nobody launches a Job that supersedes others for this ledger."""
        raise ConfigError(
            f"{older} cannot be superseded on SQLite. Nothing was changed.\n"
            "  Catch-up is for Postgres: take k8sjob.io/supersedes from this Job, or point "
            "K8SJOB_DSN at Postgres."
        )

    def _rows(self, name: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Look, without waiting for whoever writes; only a commit keeps readers out."""
        try:
            with self.conn.off():
                rows: list[tuple[Any, ...]] = self.conn.execute(SQL[name], params).fetchall()
        except sqlite3.OperationalError as error:
            failed = TryAgain if is_busy(error) else Unavailable
            raise failed(
                f"the ledger's file cannot be read: {error}. Nothing was changed."
            ) from error
        return rows


def _alive_after() -> str | None:
    return text(datetime.now(UTC) - ALIVE_FOR)


def _resolution(job: str, period: str, source: str, supersedes: str | None) -> Resolution:
    return Resolution(JobName.parse(job), Period.parse(period), source, supersedes)
