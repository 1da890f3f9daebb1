"""What people look up in the SQLite ledger. See :mod:`k8sjob.ledger.read`."""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from k8sjob.errors import SchemaAbsent, TryAgain, Unavailable
from k8sjob.ledger.queries import queries
from k8sjob.ledger.reading import Reading
from k8sjob.ledger.sqlite.claim import is_busy, now, text
from k8sjob.ledger.sqlite.file import connect

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from k8sjob.key import Key

SQL = {**queries("sqlite_reader"), "known": queries("sqlite")["known"]}
#: Readers wait only for a commit that is being written.
_WAIT_S = 10.0
_TIMES = frozenset({"until", "scheduled_for", "await_deadline", "at", "done_until"})
_IDS = frozenset({"attempt", "id"})


class SqliteReader(Reading):
    """A connection of somebody who looks at a file. See the contract."""

    def __init__(self, file: str) -> None:
        """Open the file; what is not there is not made. Raises Unavailable, SchemaAbsent."""
        if not Path(file).exists():
            raise Unavailable(
                f"there is no ledger in the file {file}: it does not exist\n"
                "  Nothing was changed. The first k8sjob run makes it; check K8SJOB_DSN."
            )
        self._conn: sqlite3.Connection = connect(file, _WAIT_S)
        self._conn.execute("PRAGMA query_only = ON")
        self._conn.row_factory = sqlite3.Row

    def close(self) -> None:
        """Close the file."""
        self._conn.close()

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        try:
            self._conn.execute("BEGIN DEFERRED")
            yield
        except sqlite3.Error as error:
            raise _explain(error) from error
        finally:
            if self._conn.in_transaction:
                self._conn.execute("ROLLBACK")

    def _rows(self, name: str, **params: Any) -> list[dict[str, Any]]:
        if name == "now":
            return [{"now_at": datetime.fromisoformat(now())}]
        if name == "tries":
            params = {"keys": params["keys"]}
        given = {k: text(v) if isinstance(v, datetime) else v for k, v in params.items()}
        found = self._conn.execute(SQL[name], given).fetchall()
        return [{column: _plain(column, row[column]) for column in row.keys()} for row in found]  # noqa: SIM118  # a Row is no mapping

    def _keys(self, keys: Sequence[Key]) -> dict[str, Any]:
        return {"keys": json.dumps([[str(key.job), str(key.period)] for key in keys])}

    def _texts(self, texts: Sequence[str]) -> Any:
        return json.dumps(list(texts))


def _plain(column: str, value: Any) -> Any:
    if isinstance(value, str) and (column in _TIMES or column.endswith("_at")):
        return datetime.fromisoformat(value)
    return UUID(value) if isinstance(value, str) and column in _IDS else value


def _explain(error: sqlite3.Error) -> TryAgain | SchemaAbsent | Unavailable:
    if is_busy(error):
        return TryAgain(
            "the ledger's file is being written\n  Nothing was changed. Run the same command again."
        )
    if "no such table" in str(error):
        return SchemaAbsent(
            f"the file holds no ledger: {error}\n"
            "  Nothing was changed. The first k8sjob run makes its tables; check K8SJOB_DSN."
        )
    return Unavailable(f"the ledger's file cannot be read: {error}. Nothing was changed.")
