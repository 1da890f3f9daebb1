"""Which Jobs were made for a period, on Postgres. See :mod:`k8sjob.ledger.launches`."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import errors as pg

from k8sjob.errors import Denied
from k8sjob.key import Key
from k8sjob.ledger.launches import Launch
from k8sjob.ledger.postgres.connect import connect
from k8sjob.ledger.postgres.errors import first_line, translate
from k8sjob.ledger.queries import queries

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from k8sjob.key import JobName

SQL = queries("postgres_launches")


class PostgresLaunches:
    """A connection of whoever makes Jobs. See the contract."""

    def __init__(self, dsn: str) -> None:
        """Connect. Raises Unavailable, ConfigError."""
        self._conn = connect(dsn, application_name="k8sjob backfill")

    def close(self) -> None:
        """Give the connection back."""
        self._conn.close()

    def cronjob(self, job: JobName) -> str | None:
        """Return the name of the job's CronJob, as the reconciler saw it last."""
        with self._transaction("look a job up"):
            rows = self._rows("cronjob", job=str(job))
        return rows[0][0] if rows else None

    def launched(self, keys: Sequence[Key]) -> Mapping[Key, Sequence[Launch]]:
        """Return the Jobs noted for these keys, by generation and try."""
        found: dict[Key, list[Launch]] = {}
        jobs, periods = [str(key.job) for key in keys], [str(key.period) for key in keys]
        with self._transaction("look up which Jobs were made"):
            for row in self._rows("launched", jobs=jobs, periods=periods):
                launch = _launch(*row)
                found.setdefault(launch.key, []).append(launch)
        return found

    def note(self, launch: Launch) -> None:
        """Note a Job, for good when this returns."""
        with self._transaction(f"note a Job of {launch.key}"):
            self._rows(
                "note",
                job=str(launch.key.job),
                period=str(launch.key.period),
                generation=launch.generation,
                try_=launch.try_,
                k8s_name=launch.name,
                reason=launch.reason,
                uid=launch.uid,
            )

    @contextmanager
    def _transaction(self, doing: str) -> Iterator[None]:
        try:
            with self._conn.transaction():
                yield
        except pg.InsufficientPrivilege as error:
            raise Denied(
                f"the database refused to {doing}: {first_line(error)}\n"
                "  As the ledger's owner: k8sjob migrate --grant-operator ROLE"
            ) from error
        except psycopg.Error as error:
            raise translate(error, doing=doing) from error

    def _rows(self, query: str, **params: Any) -> list[tuple[Any, ...]]:
        return self._conn.execute(SQL[query], params).fetchall()


def _launch(job: str, period: str, *rest: Any) -> Launch:
    generation, number, name, reason, uid, noted_at = rest
    return Launch(
        key=Key.of(job, period),
        generation=generation,
        try_=number,
        name=name,
        reason=reason,
        uid=uid,
        noted_at=noted_at.astimezone(UTC),
    )
