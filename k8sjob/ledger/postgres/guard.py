"""The connection that a target gets: it does everything but end the transaction it is lent."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import psycopg
from psycopg.pq import TransactionStatus

from k8sjob.errors import ProtocolError
from k8sjob.ledger.sqlstates import ENDED_IT
from k8sjob.ledger.statements import first_transaction_end

if TYPE_CHECKING:
    from collections.abc import Iterator

_ADVICE = (
    "  Nothing was committed. k8sjob commits the work together with the claim when the target "
    "returns, and rolls both back when it raises; use conn.transaction() for a savepoint."
)


class Guard:
    """Stands between the target and its connection, but for what the runner itself does."""

    def __init__(self) -> None:
        """Begin on; remember what was refused."""
        self.on = True
        self.broken: ProtocolError | None = None

    @contextmanager
    def off(self) -> Iterator[None]:
        """Let the runner do what a target may not."""
        before, self.on = self.on, False
        try:
            yield
        finally:
            self.on = before

    def refuse(self, what: str) -> NoReturn:
        """Raise and remember: a target that swallows the error does not get away with it."""
        self.broken = ProtocolError(
            f"the target {what} on the connection that k8sjob lends it\n"
            "  Nothing was committed. k8sjob commits the work together with the claim when the "
            "target returns, and rolls both back when it raises; use conn.transaction() for a "
            "savepoint."
        )
        raise self.broken

    def check(self, call: str) -> None:
        """Refuse the method ``call``."""
        if self.on:
            self.refuse(f"called {call}")

    def check_query(self, query: Any, conn: Any) -> None:
        """Refuse a statement that ends the transaction."""
        if self.on and (found := first_transaction_end(_text(query, conn))):
            self.refuse(f"ran {found[0]}")

    def check_transaction(self, conn: Any) -> None:
        """Refuse to do anything outside of a transaction: it would commit alone."""
        if self.on and conn.info.transaction_status == TransactionStatus.IDLE:
            self.refuse("ended the transaction, and went on,")

    def note(self, error: psycopg.Error) -> None:
        """Remember what the server refused, as :meth:`refuse` does."""
        if self.on and error.sqlstate in ENDED_IT:
            self.broken = ProtocolError(f"{error.diag.message_primary}\n{_ADVICE}")


def _text(query: Any, conn: Any) -> str:
    if isinstance(query, str):
        return query
    if isinstance(query, bytes):
        return query.decode("utf-8", "replace")
    if isinstance(query, psycopg.sql.Composable):
        return query.as_string(conn)
    # A template string (Python 3.14): its literal parts hold every keyword.
    return " ? ".join(getattr(query, "strings", (str(query),)))


class RunCursor(psycopg.Cursor[Any]):
    """A cursor that asks the guard before each statement."""

    def execute(self, query: Any, *args: Any, **kwargs: Any) -> RunCursor:  # noqa: D102
        self.connection.guard.check_query(query, self.connection)  # type: ignore[attr-defined]
        super().execute(query, *args, **kwargs)
        return self

    def executemany(self, query: Any, *args: Any, **kwargs: Any) -> None:  # noqa: D102
        self.connection.guard.check_query(query, self.connection)  # type: ignore[attr-defined]
        super().executemany(query, *args, **kwargs)

    def stream(self, query: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:  # noqa: D102
        self.connection.guard.check_query(query, self.connection)  # type: ignore[attr-defined]
        return super().stream(query, *args, **kwargs)

    def copy(self, statement: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: D102
        self.connection.guard.check_query(statement, self.connection)  # type: ignore[attr-defined]
        return super().copy(statement, *args, **kwargs)


class RunConnection(psycopg.Connection[Any]):
    """A blocking connection with a guard."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: D107
        super().__init__(*args, **kwargs)
        self.guard = Guard()
        self.cursor_factory = RunCursor

    def wait(self, *args: Any, **kwargs: Any) -> Any:
        """Do what every kind of cursor, savepoint and copy comes down to."""
        self.guard.check_transaction(self)
        try:
            return super().wait(*args, **kwargs)
        except psycopg.Error as error:
            self.guard.note(error)
            raise

    def commit(self) -> None:  # noqa: D102
        self.guard.check("commit()")
        super().commit()

    def rollback(self) -> None:  # noqa: D102
        self.guard.check("rollback()")
        super().rollback()

    def close(self) -> None:  # noqa: D102
        self.guard.check("close()")
        super().close()


class AsyncRunCursor(psycopg.AsyncCursor[Any]):
    """The async cursor that asks the guard before each statement."""

    async def execute(self, query: Any, *args: Any, **kwargs: Any) -> AsyncRunCursor:  # noqa: D102
        self.connection.guard.check_query(query, self.connection)  # type: ignore[attr-defined]
        await super().execute(query, *args, **kwargs)
        return self

    async def executemany(self, query: Any, *args: Any, **kwargs: Any) -> None:  # noqa: D102
        self.connection.guard.check_query(query, self.connection)  # type: ignore[attr-defined]
        await super().executemany(query, *args, **kwargs)

    def stream(self, query: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: D102
        self.connection.guard.check_query(query, self.connection)  # type: ignore[attr-defined]
        return super().stream(query, *args, **kwargs)

    def copy(self, statement: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: D102
        self.connection.guard.check_query(statement, self.connection)  # type: ignore[attr-defined]
        return super().copy(statement, *args, **kwargs)


class AsyncRunConnection(psycopg.AsyncConnection[Any]):
    """An async connection with a guard."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: D107
        super().__init__(*args, **kwargs)
        self.guard = Guard()
        self.cursor_factory = AsyncRunCursor

    async def wait(self, *args: Any, **kwargs: Any) -> Any:
        """Do what every kind of cursor, savepoint and copy comes down to."""
        self.guard.check_transaction(self)
        try:
            return await super().wait(*args, **kwargs)
        except psycopg.Error as error:
            self.guard.note(error)
            raise

    async def commit(self) -> None:  # noqa: D102
        self.guard.check("commit()")
        await super().commit()

    async def rollback(self) -> None:  # noqa: D102
        self.guard.check("rollback()")
        await super().rollback()

    async def close(self) -> None:  # noqa: D102
        self.guard.check("close()")
        await super().close()
