"""Eight processes that are killed, what they leave behind, and the ordinary run that follows."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from k8sjob.ledger.settings import parse
from k8sjob.ledger.uuid7 import uuid7
from k8sjob.run.entry import attempt_once
from k8sjob.run.request import Flags, make_request
from k8sjob.run.stop import StopSignals
from tests.acceptance.processes import TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.acceptance.processes import Child, Processes
    from tests.fix_stores import Store

JOB = "billing/daily-credit"
CREDIT = "tests.acceptance.child:credit_own"
PERIODS = [f"2026-09-{day}" for day in range(13, 21)]
DAY = PERIODS[0]

#: What a process that is killed there leaves of its effect, before anybody has tried again.
LEFT = {"started": 0, "claimed": 0, "worked": 0, "committing": 0, "sent": 10, "committed": 10}

OURS = """SELECT count(*) FROM pg_stat_activity
           WHERE datname = current_database() AND application_name LIKE 'k8sjob %'"""


@dataclass
class Scene:
    """A store, the processes of the test, and what can be seen of both."""

    store: Store
    processes: Processes

    def hold(self, period: str = DAY, target: str = CREDIT) -> Child:
        """Start a process that stops at each point."""
        return self.processes.hold(*_args(target, period), env={"K8SJOB_DSN": self.store.dsn})

    def started(self, periods: Sequence[str], targets: Sequence[str] = [CREDIT] * 8) -> list[Child]:
        """Start a process for each period; all have written that they start when this returns."""
        children = [
            self.hold(period, target) for period, target in zip(periods, targets, strict=True)
        ]
        for child in children:
            child.wait_for("started")
        return children

    def start(self, period: str = DAY, target: str = CREDIT) -> Child:
        """Start an ordinary process."""
        return self.processes.start(*_args(target, period), env={"K8SJOB_DSN": self.store.dsn})

    def retry(self, periods: Sequence[str]) -> list[str]:
        """Run each period in the ordinary way, but in this process; return the outcomes."""
        address = parse(self.store.dsn, "the test")
        requests = [make_request(CREDIT, Flags(job=JOB, period=period)) for period in periods]
        results = [attempt_once(r, address, uuid7(), StopSignals()) for r in requests]
        assert [result.exit_code for result in results] == [0] * len(periods), results
        return [str(result.outcome) for result in results]

    # ------------------------------------------------------------------------------- looking

    def effects(self) -> dict[str, int]:
        """Return the balance of each period's account, read over a connection of its own."""
        rows = self.store.query("SELECT name, balance FROM accounts WHERE name <> 'alice'")
        return dict(rows)

    def done(self) -> dict[str, str]:
        """Return the state of each row in the ledger."""
        return dict(self.store.query(f"SELECT period, state FROM {self.store.table('periods')}"))

    def attempts(self) -> dict[int, str | None]:
        """Return the outcome of each attempt by its process; None for one that has no end."""
        rows = self.store.query(
            f"SELECT pid, outcome, ended_at IS NOT NULL FROM {self.store.table('attempts')}"
        )
        assert all((outcome is not None) == bool(ended) for _, outcome, ended in rows)
        return {pid: outcome for pid, outcome, _ in rows}

    def without_end(self) -> set[int]:
        """Return the processes whose attempts have no end."""
        return {pid for pid, outcome in self.attempts().items() if outcome is None}

    # ------------------------------------------------------------------------------- waiting

    def wait_until_they_wait(self, number: int) -> None:
        """Return once so many sessions wait for another one."""
        if self.store.kind == "sqlite":
            self._see_the_file_locked()
        else:
            self.wait_for(f"{OURS} AND wait_event_type = 'Lock' HAVING count(*) = {number}")

    def wait_until_the_server_knows(self) -> None:
        """Return once the server has ended the sessions of all that were killed."""
        if self.store.kind == "postgres":  # SQLite's locks ended with their processes
            self.wait_for(f"{OURS} HAVING count(*) = 0")

    def wait_for(self, query: str) -> Any:
        """Return what the query finds, once it finds something."""
        assert self.store.db
        give_up = time.monotonic() + TIMEOUT
        with psycopg.connect(self.store.db.dsn("admin"), autocommit=True) as admin:
            while (row := admin.execute(query.encode()).fetchone()) is None:
                assert time.monotonic() < give_up, f"nothing was found: {query}"
                threading.Event().wait(0.01)
            return row[0]

    def _see_the_file_locked(self) -> None:
        """See that nobody can write; who waits for a file cannot be seen from outside."""
        assert self.store.path
        with (
            closing(sqlite3.connect(self.store.path, timeout=0)) as conn,
            pytest.raises(sqlite3.OperationalError, match="database is locked"),
        ):
            conn.execute("BEGIN IMMEDIATE")


def _args(target: str, period: str) -> tuple[str, ...]:
    return "run", target, "--job", JOB, "--period", period
