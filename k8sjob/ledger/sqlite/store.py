"""The SQLite side of the ledger's contract. Always blocking: the file is one lock."""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from k8sjob.errors import K8sjobError, ProtocolError, TryAgain, Unavailable
from k8sjob.ledger.contract import Claim, indicator_is_taken, not_applied
from k8sjob.ledger.sqlite.alone import Alone
from k8sjob.ledger.sqlite.claim import (
    SQL,
    answer,
    is_busy,
    key_params,
    now,
    text,
    translate,
)
from k8sjob.ledger.sqlite.file import connect, make_tables
from k8sjob.ledger.sqlite.resolving import Resolving
from k8sjob.states import Outcome, State

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime, timedelta
    from uuid import UUID

    from k8sjob.key import Key
    from k8sjob.ledger.contract import Attempt, Ending, Terms
    from k8sjob.states import Awaiting

_FAILURES = (Outcome.FAILED, Outcome.UNPROVEN, Outcome.LOST)


class SqliteLedger(Resolving):
    """One connection to a file. See :class:`k8sjob.ledger.contract.Ledger`."""

    def __init__(self, file: str, *, lock_timeout_s: float) -> None:
        """Remember the file; the ledger's tables are made at the first use."""
        self._file = file
        self._lock_timeout_s = lock_timeout_s
        self._liveness: Alone | None = None
        self._own: UUID | None = None
        self.conn: Any = None

    async def open(self) -> None:
        """Open the file and make the tables where they are missing."""
        self.conn = connect(self._file, self._lock_timeout_s)
        try:
            make_tables(self.conn)
        except BaseException:
            self.conn.close()
            raise
        self.conn.guard()

    async def close(self) -> None:
        """Close the file; an open transaction is rolled back. Who was alone is so no more."""
        if self.conn is not None:
            with self.conn.off():
                self.conn.close()
            self.conn = None
        if self._liveness is not None:
            self._liveness.close()
            self._liveness = None

    def is_alive(self) -> bool:
        """Whether the file is open."""
        return self.conn is not None

    @contextmanager
    def _transaction(self, key: Key | None) -> Iterator[sqlite3.Connection]:
        with self.conn.off():
            try:
                self.conn.execute("BEGIN IMMEDIATE")
                yield self.conn
                self.conn.execute("COMMIT")
            except sqlite3.OperationalError as error:
                if key is None:
                    raise Unavailable(f"the ledger's file cannot be used: {error}") from error
                raise self._explained(error, key) from error
            finally:
                if self.conn.in_transaction:
                    self.conn.execute("ROLLBACK")

    async def start(self, attempt: Attempt) -> None:
        """Write the attempt's row and commit it."""
        params = {name: getattr(attempt, name) for name in _ATTEMPT} | key_params(attempt.key)
        self._own = attempt.id
        with self._transaction(attempt.key) as conn:
            for name in ("start_job", "make_gate", "start_attempt"):
                conn.execute(SQL[name], params | {"id": str(attempt.id)})

    async def end(self, attempt: UUID, ending: Ending) -> None:
        """Close the attempt's row and move the counters."""
        params = {name: getattr(ending, name) for name in _ENDING}
        params |= {"id": str(attempt), "now": now(), "outcome": str(ending.outcome)}
        if not self.is_alive():
            await self.open()
        with self._transaction(None) as conn:
            row = conn.execute(SQL["end_attempt"], params).fetchone()
            if row is None:
                return
            params["job"] = row[0]
            conn.execute(SQL["count"], params)
            if ending.outcome is Outcome.APPLIED:
                conn.execute(SQL["succeeded"], params)
            elif ending.outcome is Outcome.AWAITING:
                conn.execute(SQL["handed_over"], params)
            elif ending.outcome in _FAILURES:
                conn.execute(SQL["failed"], params)

    async def claim(self, key: Key, terms: Terms) -> Claim:
        """Take the file, then the key. Raises NotApplied (busy)."""
        self.conn.broken = None
        try:
            with self.conn.off():
                self.conn.execute("BEGIN IMMEDIATE")
                claim = answer(self.conn, key, terms)
        except sqlite3.OperationalError as error:
            await self.rollback()
            raise self._explained(error, key) from error
        _offer_functions(self.conn, key, terms)
        return claim

    async def be_alone(self, key: Key) -> bool:
        """Lock the key's byte of a file beside the ledger: nothing can be written meanwhile."""
        self._liveness = self._liveness or Alone(self._file)
        return self._liveness.take(str(key))

    async def beat(self, attempt: UUID) -> None:
        """Write a sign of life, in a transaction of its own."""
        with self._transaction(None) as conn:
            conn.execute(SQL["heartbeat"], {"id": str(attempt), "now": now()})

    async def execute(self, statement: str) -> None:
        """Run one statement; sqlite3 refuses two in one."""
        self.conn.execute(statement)
        self.check_transaction()

    async def commit(self, attempt: UUID) -> None:  # noqa: ARG002  # Postgres seals with it
        """Commit, if the transaction is still the one that the claim was made in."""
        self.check_transaction()
        try:
            with self.conn.off():
                self.conn.execute("COMMIT")
        except sqlite3.OperationalError as error:
            failed = TryAgain if is_busy(error) else K8sjobError  # a reader keeps the file
            raise failed(f"the commit failed: {error}. Nothing was changed.") from error

    def violation(self) -> ProtocolError | None:
        """Return what the guard has refused in this transaction."""
        return self.conn.broken if self.conn is not None else None

    def check_transaction(self) -> None:
        """Raise where the transaction is gone."""
        if (violation := self.violation()) is not None:
            raise violation
        if not self.conn.in_transaction:
            raise ProtocolError(
                "the transaction of the target was rolled back from inside (OR ROLLBACK, "
                "RAISE(ROLLBACK))\n"
                "  Nothing was committed. Use OR ABORT or RAISE(ABORT) instead."
            )

    async def rollback(self) -> None:
        """Undo what is open."""
        if self.conn is not None and self.conn.in_transaction:
            with self.conn.off():
                self.conn.execute("ROLLBACK")

    async def say(
        self, key: Key, state: State, reason: str, *, until: datetime | None, attempt: UUID
    ) -> State | None:
        """Block or skip the period; return its state afterwards."""
        params = key_params(key) | {"state": str(state), "reason": reason, "until": text(until)}
        params |= {"attempt": str(attempt), "scheduled_for": text(key.period.scheduled_for(None))}
        with self._transaction(key) as conn:
            conn.execute(SQL["make_gate"], params)
            for before, name in ((None, "insert_state"), (State.OPEN, "update_state")):
                if conn.execute(SQL[name], params).fetchone():
                    conn.execute(
                        SQL["event"], params | {"from_state": before, "to_state": str(state)}
                    )
                    return state
            row = conn.execute(SQL["period"], params).fetchone()
        return State(row[0]) if row else None

    async def hand_over(self, key: Key, awaiting: Awaiting, attempt: UUID) -> None:
        """Turn the claimed row to awaiting, in its transaction."""
        params = key_params(key) | {
            "reason": awaiting.reason,
            "attempt": str(attempt),
            "indicator": awaiting.indicator,
            "before": None if awaiting.before is None else json.dumps(awaiting.before),
            "expected_delta": None
            if awaiting.expected_delta is None
            else str(awaiting.expected_delta),
            "recheck_after": _from_now(awaiting.recheck_after),
            "deadline": _from_now(awaiting.deadline),
        }
        with self.conn.off():
            try:
                self.conn.execute(SQL["update_awaiting"], params)
            except sqlite3.IntegrityError as error:
                raise indicator_is_taken(f"hand {key} over") from error
            self.conn.execute(SQL["event"], params | {"from_state": "done", "to_state": "awaiting"})

    async def landed(self, key: Key, attempt: UUID) -> bool:
        """Look; there is no network in between that could have lost the answer."""
        with self.conn.off():
            row = self.conn.execute(SQL["landed"], key_params(key)).fetchone()
        return row is not None and row[0] == str(attempt)

    async def holders(self, key: Key) -> list[str]:
        """Say which other attempts of the key have no end yet."""
        return self._holders(key)

    def _holders(self, key: Key) -> list[str]:
        with self.conn.off():
            rows = self.conn.execute(SQL["holders"], key_params(key)).fetchall()
        others = [row for row in rows if row[0] != str(self._own)]
        return [f"attempt {i} since {at[11:19]}Z, process {pid}" for i, at, _pod, pid in others]

    def _explained(self, error: sqlite3.OperationalError, key: Key) -> K8sjobError:
        if not is_busy(error):
            return translate(error, key)
        try:
            who = "; ".join(self._holders(key)) or None
        except sqlite3.OperationalError:
            who = None  # whoever commits at this moment lets nobody look
        return not_applied(Claim(key, Outcome.BUSY, who))


_ATTEMPT = (
    *("mode", "source", "client", "pid"),
    *("job_uid", "job_name", "pod_uid", "pod_name", "node"),
)
_ENDING = ("exit_code", "speaker", "message", "tail")


def _from_now(duration: timedelta | None) -> str | None:
    from datetime import UTC, datetime  # noqa: PLC0415  # for hand-overs only

    return text(datetime.now(UTC) + duration) if duration is not None else None


def _offer_functions(conn: sqlite3.Connection, key: Key, terms: Terms) -> None:
    """Let SQL ask which period it works on, as current_period() does on Postgres."""
    values = {
        "k8sjob_current_job": str(key.job),
        "k8sjob_current_period": str(key.period),
        "k8sjob_current_attempt": str(terms.attempt),
        "k8sjob_scheduled_for": text(terms.scheduled_for),
        "k8sjob_window_end": text(terms.window_end),
    }
    for name, value in values.items():
        conn.create_function(name, 0, lambda value=value: value)
