"""What an exporter reads of the Postgres ledger. See :mod:`k8sjob.ledger.scrape`."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import psycopg

from k8sjob.cycle import Cycle
from k8sjob.expect import Version
from k8sjob.ledger.postgres.connect import connect
from k8sjob.ledger.postgres.errors import translate
from k8sjob.ledger.queries import queries
from k8sjob.ledger.scrape import Facts, JobFacts, Owed, PassFacts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from k8sjob.ledger.scrape import Tail

SQL = queries("postgres_scrape")

_JOB = (
    *("job", "kind", "schedule", "zone", "suspended", "gone", "catch_up", "owner", "severity"),
    *("grace_s", "max_duration_s", "tracked_since", "done_until", "last_done", "last_success_at"),
    *("consecutive_failures", "unstarted_since", "running_since"),
    *("last_duration_s", "last_start_delay_s"),
)
_OWED = ("job", "state", "count", "oldest", "deadline", "changed", "await_deadline")
_VERSION = (
    *("n", "expr", "zone", "suspended"),
    *("earliest_from", "valid_from", "earliest_to", "valid_to"),
)


class PostgresScraper:
    """A connection that an exporter keeps from one scrape to the next.

    ``timeout_s`` bounds each query: a scrape that takes longer is no scrape.
    """

    def __init__(self, dsn: str, *, timeout_s: float = 8.0) -> None:
        """Connect. Raises Unavailable, ConfigError."""
        self._timeout = f"{timeout_s * 1000:.0f}ms"
        self._conn = connect(dsn, application_name="k8sjob exporter")

    def close(self) -> None:
        """Give the connection back."""
        self._conn.close()

    def read(self, tail: Tail) -> Facts:
        """Return one snapshot. Raises Unavailable, Denied, SchemaAbsent, TryAgain."""
        try:
            with self._conn.transaction():
                self._conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                self._rows("begin", timeout=self._timeout)
                return self._facts(tail)
        except psycopg.Error as error:
            raise translate(error, doing="read the ledger") from error

    def _rows(self, name: str, **params: Any) -> list[tuple[Any, ...]]:
        # In binary: no text of a thousand instants to be read.
        return self._conn.execute(SQL[name], params, binary=True).fetchall()

    def _facts(self, tail: Tail) -> Facts:
        now, schema, pending, dead, oldest = self._rows("head")[0]
        jobs = self._jobs()
        wanted = tail(jobs, now)
        columns = {"jobs": [job for job, _ in wanted], "periods": [text for _, text in wanted]}
        found = self._rows("tail", **columns) if wanted else []
        return Facts(
            now=now,
            schema_version=schema,
            jobs=jobs,
            owed=[Owed(**dict(zip(_OWED, row, strict=True))) for row in self._rows("owed")],
            counters={(job, outcome): n for job, outcome, n in self._rows("counters")},
            passes=[
                PassFacts(scope=scope, last_success_at=at, duration_s=took, failing=failing)
                for scope, at, took, failing in self._rows("passes")
            ],
            outbox={"pending": pending, "dead": dead},
            outbox_oldest=oldest,
            stored=frozenset((job, period) for job, period, stored, _ in found if stored),
            alive=frozenset((job, period) for job, period, _, alive in found if alive),
        )

    def _jobs(self) -> list[JobFacts]:
        versions = {
            job: [Version(**dict(zip(_VERSION, row[1:], strict=True))) for row in rows]
            for job, rows in groupby(self._rows("versions"), lambda row: row[0])
        }
        holds = self._rows("holds")
        jobs = [_job(row, versions) for row in self._rows("jobs")]
        if not holds:
            return jobs
        return [replace(job, held_since=_held(job.job, holds)) for job in jobs]


def _job(row: tuple[Any, ...], versions: Mapping[str, list[Version]]) -> JobFacts:
    values = dict(zip(_JOB, row, strict=True))
    values["kind"] = Cycle(values["kind"])
    return JobFacts(**values, versions=versions.get(row[0], ()))


def _held(job: str, holds: Sequence[tuple[str | None, str | None, datetime]]) -> datetime | None:
    namespace = job.partition("/")[0]
    mine = [
        at for space, held, at in holds if held == job or (not held and space in (None, namespace))
    ]
    return min(mine, default=None)
