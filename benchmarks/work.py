"""The rivals: the same business transaction, once claimed and once guarded by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from k8sjob import Key, claim
from k8sjob.ledger.contract import Attempt, Ending, Terms, drive
from k8sjob.ledger.known import Resolution
from k8sjob.ledger.postgres.store import PostgresLedger
from k8sjob.ledger.uuid7 import uuid7
from k8sjob.states import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.server import Connection, Database

CREDIT = "UPDATE accounts SET balance = balance + 10 WHERE name = 'account-0'"
MARK = """INSERT INTO done (job, period, done_at, attempt)
          VALUES (%s, %s, clock_timestamp(), %s) ON CONFLICT DO NOTHING"""
_START = datetime(1990, 1, 1, tzinfo=UTC)


def periods(first: int = 0) -> Iterator[str]:
    """Yield scheduled periods, a minute apart; none comes twice."""
    for minute in count(first):
        yield (_START + timedelta(minutes=minute)).strftime("%Y-%m-%dT%H:%M:%SZ")


class ByHand:
    """What people write: a row that can be there once, then the work."""

    def __init__(self, conn: Connection, job: str) -> None:
        """Take a connection that is not in autocommit."""
        self._conn, self._job, self._periods = conn, job, periods()

    def __call__(self) -> None:
        """Do the next period."""
        cursor = self._conn.execute(MARK, (self._job, next(self._periods), uuid7()))
        if cursor.rowcount:
            self._conn.execute(CREDIT)
        self._conn.commit()


class Claimed:
    """The same with k8sjob.claim."""

    def __init__(self, conn: Connection, job: str) -> None:
        """Take a connection that is not in autocommit."""
        self._conn, self._job, self._periods = conn, job, periods()

    def __call__(self) -> None:
        """Do the next period."""
        claim(self._conn, f"{self._job}:{next(self._periods)}")
        self._conn.execute(CREDIT)
        self._conn.commit()


class ClaimedInSql:
    """The same with the SQL function, as another language calls it."""

    def __init__(self, conn: Connection, job: str) -> None:
        """Take a connection that is not in autocommit."""
        self._conn, self._job, self._periods = conn, job, periods()

    def __call__(self) -> None:
        """Do the next period."""
        self._conn.execute("SELECT k8sjob.claim(%s, %s)", (self._job, next(self._periods)))
        self._conn.execute(CREDIT)
        self._conn.commit()


class AsTheRunner:
    """All that ``k8sjob run`` sends, over a connection that stays: start row to end row.

    ``in_a_job``: it also keeps which Kubernetes Job stood for the period, as in a Pod.
    """

    def __init__(
        self, database: Database, job: str, synchronous_commit: str, *, in_a_job: bool = False
    ) -> None:
        """Connect."""
        self._in_a_job = in_a_job
        dsn = f"{database.dsn()}?options=-c%20synchronous_commit%3D{synchronous_commit}"
        self._ledger = PostgresLedger(dsn, application_name="bench", lock_timeout_s=30)
        self._job, self._periods = job, periods()
        drive(self._ledger.open())

    def __call__(self) -> None:
        """Do the next period."""
        ledger, attempt = self._ledger, uuid7()
        key = Key.parse(f"{self._job}:{next(self._periods)}")
        start: dict[str, Any] = {"mode": "sql", "source": "--period", "client": "0.1.0"}
        if self._in_a_job:
            uid = str(uuid4())
            drive(ledger.remember(uid, Resolution(key.job, key.period, "scheduled-timestamp")))
            name = str(key.job).rpartition("/")[2] + "-29712345"
            start |= {"job_uid": uid, "job_name": name, "pod_name": f"{name}-x7k2p"}
            start |= {"pod_uid": str(uuid4()), "node": "node-1.example.com"}
        drive(ledger.start(Attempt(id=attempt, key=key, **start)))
        drive(ledger.claim(key, Terms(attempt=attempt, sql_file=True)))
        drive(ledger.execute(CREDIT))
        drive(ledger.commit(attempt))
        drive(ledger.end(attempt, Ending(outcome=Outcome.APPLIED, exit_code=0)))

    def close(self) -> None:
        """Give the connection back."""
        drive(self._ledger.close())
