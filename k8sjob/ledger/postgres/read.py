"""What people look up in the Postgres ledger. See :mod:`k8sjob.ledger.read`."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import errors as pg
from psycopg.rows import dict_row

from k8sjob.errors import Denied
from k8sjob.ledger.postgres.connect import connect
from k8sjob.ledger.postgres.errors import first_line, translate
from k8sjob.ledger.queries import queries
from k8sjob.ledger.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from k8sjob.key import Key

SQL = queries("postgres_reader")


class PostgresReader(Reading):
    """A connection of somebody who looks, as reader, runner or operator. See the contract."""

    def __init__(self, dsn: str) -> None:
        """Connect. Raises Unavailable, ConfigError."""
        self._conn = connect(dsn, application_name="k8sjob reader", row_factory=dict_row)
        self._conn.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        self._conn.read_only = True

    def close(self) -> None:
        """Give the connection back."""
        self._conn.close()

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        try:
            with self._conn.transaction():
                self._conn.execute(SQL["settings"])
                yield
        except pg.InsufficientPrivilege as error:
            raise Denied(
                f"the database refused to read the ledger: {first_line(error)}\n"
                "  Nothing was changed. As the ledger's owner: k8sjob migrate --grant-reader ROLE"
            ) from error
        except psycopg.Error as error:
            raise translate(error, doing="read the ledger") from error

    def _rows(self, name: str, **params: Any) -> list[dict[str, Any]]:
        found = self._conn.execute(SQL[name], params).fetchall()
        return [{column: _plain(value) for column, value in row.items()} for row in found]

    def _keys(self, keys: Sequence[Key]) -> dict[str, Any]:
        return {
            "key_jobs": [str(key.job) for key in keys],
            "key_periods": [str(key.period) for key in keys],
        }

    def _texts(self, texts: Sequence[str]) -> Any:
        return list(texts)


def _plain(value: Any) -> Any:
    return value.astimezone(UTC) if isinstance(value, datetime) else value
