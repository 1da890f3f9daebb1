"""The SQLite connection that a target gets: its transaction cannot be ended from inside.

An authorizer sees every statement before it runs, the COMMIT that ``executescript`` sends on its
own among them (https://www.sqlite.org/c3ref/set_authorizer.html).
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from k8sjob.errors import ProtocolError

if TYPE_CHECKING:
    from collections.abc import Iterator

_ADVICE = (
    "  Nothing was committed. k8sjob commits the work together with the claim when the target "
    "returns, and rolls both back when it raises; use SAVEPOINT where a part may fail."
)


class RunConnection(sqlite3.Connection):
    """Refuses to end its transaction while it is lent to a target."""

    guarded = False
    broken: ProtocolError | None = None

    def guard(self) -> None:
        """Refuse from now on what ends the transaction, and any statement outside of one."""
        self.set_authorizer(self._authorize)
        self.guarded = True

    @contextmanager
    def off(self) -> Iterator[None]:
        """Let the runner do what a target may not, and read rows as it expects them."""
        before = self.guarded, self.row_factory, self.text_factory
        self.guarded, self.row_factory, self.text_factory = False, None, str
        try:
            yield
        finally:
            self.guarded, self.row_factory, self.text_factory = before

    def _authorize(
        self,
        action: int,
        first: str | None,
        _second: str | None,
        _db: str | None,
        _trigger: str | None,
    ) -> int:
        if not self.guarded:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_TRANSACTION:
            self._remember(first or "COMMIT")
            return sqlite3.SQLITE_DENY
        if not self.in_transaction:
            # INSERT OR ROLLBACK, or a trigger's RAISE(ROLLBACK): what follows would commit alone.
            self._remember("a statement outside of the transaction")
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK

    def _remember(self, what: str) -> ProtocolError:
        self.broken = ProtocolError(
            f"the target ran {what} on the connection that k8sjob lends it\n{_ADVICE}"
        )
        return self.broken

    def _refuse(self, call: str) -> NoReturn:
        raise self._remember(call)

    def commit(self) -> None:  # noqa: D102
        if self.guarded:
            self._refuse("commit()")
        super().commit()

    def rollback(self) -> None:  # noqa: D102
        if self.guarded:
            self._refuse("rollback()")
        super().rollback()

    def close(self) -> None:  # noqa: D102
        if self.guarded:
            self._refuse("close()")
        super().close()

    def set_authorizer(self, *args: Any, **kwargs: Any) -> None:  # noqa: D102
        if self.guarded:
            self._refuse("set_authorizer()")
        super().set_authorizer(*args, **kwargs)

    def executescript(self, script: str) -> Any:  # noqa: D102
        if self.guarded:
            self._refuse("executescript(), which commits first,")
        return super().executescript(script)
