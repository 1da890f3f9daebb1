"""What people look up in the Postgres ledger. See :mod:`k8sjob.ledger.read`."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.rows import dict_row

from k8sjob.ledger.launches import Launch
from k8sjob.ledger.postgres.connect import connect
from k8sjob.ledger.postgres.errors import translate_reading
from k8sjob.ledger.queries import queries
from k8sjob.ledger.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from k8sjob.key import Key

SQL = {**queries("postgres_reader"), "known": queries("postgres")["known"]}


class PostgresReader(Reading):
    """A connection of somebody who looks, as reader, runner or operator. See the contract."""

    def __init__(self, dsn: str, *, timeout_s: float | None = None) -> None:
        """Connect. ``timeout_s`` bounds each query. Raises Unavailable, ConfigError."""
        self._timeout = None if timeout_s is None else f"{timeout_s * 1000:.0f}ms"
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
                self._conn.execute(SQL["settings"], {"timeout": self._timeout})
                yield
        except psycopg.Error as error:
            raise translate_reading(error) from error

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

    def _launches(self, key: Key) -> list[Launch]:
        found = self._rows("launches", job=str(key.job), period=str(key.period))
        return [Launch(key=key, **row) for row in found]


def _plain(value: Any) -> Any:
    return value.astimezone(UTC) if isinstance(value, datetime) else value
