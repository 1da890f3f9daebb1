"""What an exporter reads of the Postgres ledger. See :mod:`k8sjob.ledger.scrape`."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import psycopg

from k8sjob.cycle import Cycle
from k8sjob.expect import Version
from k8sjob.ledger.postgres.connect import connect
from k8sjob.ledger.postgres.errors import translate_reading
from k8sjob.ledger.queries import queries
from k8sjob.ledger.scrape import Alive, Counted, Facts, JobFacts, PassFacts, Undated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from k8sjob.ledger.scrape import Beyond, PeriodId, WorkOut

SQL = queries("postgres_scrape")

_VERSION = (
    *("n", "expr", "zone", "suspended"),
    *("earliest_from", "valid_from", "earliest_to", "valid_to", "direct"),
)


class PostgresScraper:
    """A connection that an exporter keeps from one scrape to the next.

    ``timeout_s`` bounds each query: a scrape that takes longer is no scrape.
    """

    def __init__(self, dsn: str, *, timeout_s: float = 8.0) -> None:
        """Connect. Raises Unavailable, ConfigError."""
        self._timeout = f"{timeout_s * 1000:.0f}ms"
        self._conn = connect(dsn, application_name="k8sjob exporter")
        self._conn.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        self._conn.read_only = True

    @property
    def is_broken(self) -> bool:
        """Whether the connection is gone."""
        return self._conn.closed

    def close(self) -> None:
        """Give the connection back."""
        self._conn.close()

    def read(self, work_out: WorkOut) -> Facts:
        """Return one snapshot. Raises Unavailable, Denied, SchemaAbsent, TryAgain."""
        try:
            with self._conn.transaction():
                self._rows("settings", timeout=self._timeout)
                return self._facts(work_out)
        except psycopg.Error as error:
            raise translate_reading(error) from error

    def _rows(self, name: str, **params: Any) -> list[tuple[Any, ...]]:
        # In binary: no text of thousands of instants has to be read.
        return self._conn.execute(SQL[name], params, binary=True).fetchall()

    def _facts(self, work_out: WorkOut) -> Facts:
        now, schema, pending, dead, oldest = self._rows("head")[0]
        alive = [Alive(*row) for row in self._rows("alive", now=now)]
        jobs = self._jobs(now, alive)
        beyond = work_out(jobs, now)
        return Facts(
            now=now,
            schema_version=schema,
            jobs=jobs,
            counted=[Counted(*row) for row in self._rows("counted", now=now)],
            undated=[Undated(*row) for row in self._rows("undated", now=now)],
            alive=alive,
            beyond=beyond,
            stored=self._stored(beyond),
            counters={(job, outcome): n for job, outcome, n in self._rows("counters")},
            passes=[PassFacts(*row) for row in self._rows("passes")],
            outbox={"pending": pending, "dead": dead},
            outbox_oldest=oldest,
        )

    def _jobs(self, now: datetime, alive: Sequence[Alive]) -> list[JobFacts]:
        versions = {
            job: [Version(**dict(zip(_VERSION, row[1:], strict=True))) for row in rows]
            for job, rows in groupby(self._rows("versions"), lambda row: row[0])
        }
        holds = self._rows("holds", now=now)
        running = _first_starts(alive)
        made = []
        for job, kind, *rest in self._rows("jobs"):
            held = _held(job, holds) if holds else None
            more = (running.get(job), held, versions.get(job, ()))
            made.append(JobFacts._make((job, Cycle(kind), *rest, *more)))
        return made

    def _stored(self, beyond: Beyond) -> frozenset[PeriodId]:
        keys = [(job, one.period.text) for job, each in beyond.fired.items() for one in each]
        params = {"jobs": [job for job, _ in keys], "periods": [text for _, text in keys]}
        return frozenset((job, period) for job, period in self._rows("stored", **params))


def _first_starts(alive: Sequence[Alive]) -> Mapping[str, datetime]:
    starts: dict[str, datetime] = {}
    for one in alive:
        starts[one.whole] = min(one.since, starts.get(one.whole, one.since))
    return starts


def _held(job: str, holds: Sequence[tuple[Any, ...]]) -> datetime | None:
    namespace = job.partition("/")[0]
    mine = [
        at for space, held, at in holds if held == job or (not held and space in (None, namespace))
    ]
    return min(mine, default=None)
