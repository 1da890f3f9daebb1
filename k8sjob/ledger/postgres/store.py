"""The Postgres side of the ledger's contract, over a blocking or an async connection."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import errors as pg
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row
from psycopg.types.json import Jsonb

from k8sjob.errors import K8sjobError, ProtocolError, TryAgain
from k8sjob.ledger.contract import Claim, CommitInDoubt, not_applied
from k8sjob.ledger.postgres.connect import away, connect, parameters
from k8sjob.ledger.postgres.errors import translate
from k8sjob.ledger.postgres.guard import AsyncRunConnection, RunConnection
from k8sjob.ledger.postgres.resolving import Resolving
from k8sjob.ledger.postgres.rows import SQL, key_params, read_claim
from k8sjob.ledger.retry import is_retryable
from k8sjob.states import Outcome, State

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from k8sjob.key import Key
    from k8sjob.ledger.contract import Attempt, Ending, Terms
    from k8sjob.states import Awaiting


class PostgresLedger(Resolving):
    """A connection of the runner's own. See :class:`k8sjob.ledger.contract.Ledger`."""

    def __init__(
        self, dsn: str, *, application_name: str, lock_timeout_s: float, asynchronous: bool = False
    ) -> None:
        """Remember where to connect; ``asynchronous`` for targets that are coroutines."""
        self._dsn = dsn
        self._lock_timeout = f"{lock_timeout_s * 1000:.0f}ms"
        self._application_name = application_name
        self._async = asynchronous
        self._watching = False
        self._own: UUID | None = None
        self.conn: Any = None

    async def open(self) -> None:
        """Connect. Raises Unavailable, ConfigError."""
        self._watching = False
        info = parameters(self._dsn, application_name=self._application_name)
        try:
            if self._async:
                self.conn = await AsyncRunConnection.connect(
                    info, autocommit=True, prepare_threshold=None
                )
            else:
                self.conn = RunConnection.connect(info, autocommit=True, prepare_threshold=None)
        except psycopg.Error as error:
            raise away(error, self._dsn) from None

    async def close(self) -> None:
        """Give the connection back; the server rolls an open transaction back."""
        if self.conn is not None and not self.conn.closed:
            with self.conn.guard.off():
                result = self.conn.close()
                if self._async:
                    await result

    def is_alive(self) -> bool:
        """Whether the connection still stands."""
        return self.conn is not None and not (self.conn.closed or self.conn.broken)

    async def _execute(self, sql: Any, params: Any = None) -> Any:
        # Plain rows, whatever row factory the target has given to the connection.
        cursor: Any = (psycopg.AsyncCursor if self._async else psycopg.Cursor)(
            self.conn, row_factory=tuple_row
        )
        with self.conn.guard.off():
            # In binary: answers in text follow the DateStyle, which is the target's.
            result = cursor.execute(sql, params, binary=params is not None)
            return await result if self._async else result

    async def _row(self, name: str, doing: str, params: dict[str, Any]) -> tuple[Any, ...]:
        try:
            cursor = await self._execute(SQL[name], params)
            row = cursor.fetchone()
            return await row if self._async else row  # type: ignore[no-any-return]  # Any by nature
        except psycopg.Error as error:
            raise translate(error, doing=doing) from error

    async def _alone(self, name: str, doing: str, params: dict[str, Any]) -> tuple[Any, ...]:
        """Call in a transaction of its own: again where that does not serialize.

        Which it may where the database's default level is stricter than READ COMMITTED.
        """
        for _ in range(_TRIES - 1):
            try:
                return await self._row(name, doing, params)
            except TryAgain as error:
                if not is_retryable(error):
                    raise
        return await self._row(name, doing, params)

    async def start(self, attempt: Attempt) -> None:
        """Write the attempt's row and commit it."""
        params = {name: getattr(attempt, name) for name in _ATTEMPT} | key_params(attempt.key)
        params["lock_timeout"] = self._lock_timeout
        self._own = attempt.id
        await self._alone("start_attempt", f"start an attempt of {attempt.key}", params)

    async def end(self, attempt: UUID, ending: Ending) -> None:
        """Close the attempt's row, over a new connection where the old one has died."""
        if not self.is_alive():
            await self.open()
        params = {name: getattr(ending, name) for name in _ENDING} | {"id": attempt}
        await self._alone("end_attempt", "end the attempt", params)

    async def claim(self, key: Key, terms: Terms) -> Claim:
        """Begin and claim. Raises NotApplied (busy) and what :func:`translate` gives."""
        params = key_params(key) | {
            "payload_sha256": terms.payload_sha256,
            "attempt": terms.attempt,
            "scheduled_for": terms.scheduled_for,
            "window_end": terms.window_end,
            "zone": terms.zone,
            "lock_timeout": self._lock_timeout,
            "sql_file": terms.sql_file,
        }
        self.conn.guard.broken = None
        try:
            if not self._watching:
                await self._execute("BEGIN")
            self._watching = False
            return read_claim(key, await self._row("run_claim", f"claim {key}", params))
        except psycopg.Error as error:
            raise translate(error, doing=f"claim {key}") from error
        except K8sjobError as error:
            if isinstance(error.__cause__, pg.LockNotAvailable):
                await self.rollback()
                who = "; ".join(await self.holders(key)) or None
                raise not_applied(Claim(key, Outcome.BUSY, who)) from error
            raise

    async def be_alone(self, key: Key) -> bool:
        """Begin the transaction that the claim will be made in, with the key's advisory lock."""
        try:
            # A snapshot of the time of the claim, not of the command's start.
            await self._execute("BEGIN ISOLATION LEVEL READ COMMITTED")
            row = await self._row("be_alone", f"watch over {key}", key_params(key))
        except psycopg.Error as error:
            raise translate(error, doing=f"watch over {key}") from error
        self._watching = bool(row[0])
        if not self._watching:
            await self.rollback()
        return self._watching

    async def beat(self, attempt: UUID) -> None:
        """Write a sign of life, in a transaction of its own."""
        await self._row("heartbeat", "write a sign of life", {"id": attempt})

    async def execute(self, statement: str) -> None:
        """Run one statement, by the extended protocol: the server refuses two in one (53.2.3)."""
        self.conn.execute(statement, binary=True)
        self.check_transaction()

    async def commit(self, attempt: UUID) -> None:
        """Seal and commit. See the contract."""
        self.check_transaction()
        await self._row("seal", "commit", {"attempt": attempt})
        try:
            cursor = await self._execute("COMMIT")
        except psycopg.Error as error:
            if not self.is_alive():
                raise CommitInDoubt(str(error)) from error
            raise
        if cursor.statusmessage != "COMMIT":
            raise K8sjobError("the transaction was rolled back at its commit. Nothing was changed.")

    def violation(self) -> ProtocolError | None:
        """Return what the guard has refused in this transaction."""
        return self.conn.guard.broken if self.conn is not None else None

    def check_transaction(self) -> None:
        """Raise where the transaction cannot be committed any more."""
        if (violation := self.violation()) is not None:
            raise violation
        match self.conn.info.transaction_status:
            case TransactionStatus.INTRANS:
                return
            case TransactionStatus.INERROR:
                raise K8sjobError(
                    "a statement of the target failed, the target went on, and Postgres will "
                    "not commit\n"
                    "  Nothing was changed. Let the error out, or wrap the statement in "
                    "conn.transaction()."
                )
            case TransactionStatus.IDLE:
                raise ProtocolError(
                    "the target ended the transaction that k8sjob holds for it\n"
                    "  Take COMMIT and ROLLBACK out of the target."
                )
            case status:
                raise K8sjobError(f"the target left the connection in state {status.name}")

    async def rollback(self) -> None:
        """Undo what is open; where the connection is dead the server has done so."""
        self._watching = False
        if not self.is_alive():
            return
        status = self.conn.info.transaction_status
        if status == TransactionStatus.IDLE:
            return
        try:
            await self._execute("ROLLBACK")
        except psycopg.Error:
            await (
                self.close()
            )  # a cursor left half read, or a dead peer: closing undoes all the same

    async def say(
        self, key: Key, state: State, reason: str, *, until: datetime | None, attempt: UUID
    ) -> State | None:
        """Block or skip the period; return its state afterwards."""
        params = key_params(key) | {"reason": reason, "until": until, "attempt": attempt}
        name = "block" if state is State.BLOCKED else "skip"
        row = await self._alone(name, f"make {key} {state}", params)
        return State(row[0]) if row[0] else None

    async def hand_over(self, key: Key, awaiting: Awaiting, attempt: UUID) -> None:
        """Turn the claimed row to awaiting, in its transaction."""
        params = key_params(key) | {
            "reason": awaiting.reason,
            "attempt": attempt,
            "indicator": awaiting.indicator,
            "before": None if awaiting.before is None else Jsonb(awaiting.before),
            "expected_delta": awaiting.expected_delta,
            "recheck_after": awaiting.recheck_after,
            "deadline": awaiting.deadline,
        }
        await self._row("await", f"hand {key} over", params)

    async def landed(self, key: Key, attempt: UUID) -> bool:
        """Ask a new connection, which waits for whoever still holds the key."""
        params = key_params(key) | {"attempt": attempt}
        params["lock_timeout"] = self._lock_timeout
        with connect(self._dsn, application_name=self._application_name) as conn:
            try:
                row = conn.execute(SQL["landed"], params).fetchone()
            except pg.LockNotAvailable as error:
                raise not_applied(Claim(key, Outcome.BUSY)) from error
            except psycopg.Error as error:
                raise translate(error, doing=f"find out whether {key} has landed") from error
        return bool(row and row[0])

    async def holders(self, key: Key) -> list[str]:
        """Say which other attempts of the key have no end yet; empty where nobody can tell."""
        try:
            cursor = await self._execute(SQL["holders"], key_params(key))
            rows = cursor.fetchall()
            rows = await rows if self._async else rows
        except psycopg.Error:
            return []
        return [
            f"attempt {attempt} since {at.astimezone(UTC):%H:%M:%SZ}"
            + "".join(f", {x}" for x in (pod, app) if x)
            for attempt, at, pod, app in rows
            if attempt != self._own
        ]


_ATTEMPT = (
    *("id", "mode", "source", "client", "pid"),
    *("job_uid", "job_name", "pod_uid", "pod_name", "node"),
)
#: Of a transaction that only keeps the books; each rival that makes it fail has got through.
_TRIES = 10
_ENDING = ("outcome", "exit_code", "speaker", "message", "tail")
