"""Opening the file, and making the ledger's tables in it."""

from __future__ import annotations

import os
import sqlite3
from importlib import resources
from typing import TYPE_CHECKING

from k8sjob.errors import Unavailable
from k8sjob.ledger.sqlite.claim import now
from k8sjob.ledger.sqlite.guard import RunConnection
from k8sjob.ledger.versions import check_client
from k8sjob.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator


def connect(file: str, lock_timeout_s: float) -> RunConnection:
    """Open the file. Transactions are ours to begin. Raises Unavailable."""
    try:
        conn = sqlite3.connect(
            file,
            timeout=lock_timeout_s,
            isolation_level=None,
            cached_statements=0,  # each statement is prepared anew, so the authorizer sees each
            factory=RunConnection,
        )
        conn.execute("PRAGMA foreign_keys = ON")
    except sqlite3.Error as error:
        folder = os.path.dirname(file) or "."  # noqa: PTH120  # no pathlib at start
        raise Unavailable(
            f"the ledger's file {file} cannot be opened: {error}\n"
            f"  Nothing was changed. Does the folder {folder} exist, and may this user write there?"
        ) from None
    return conn


def migrate(file: str, lock_timeout_s: float = 30.0) -> bool:
    """Make the ledger's tables where they are missing; tell whether they were."""
    conn = connect(file, lock_timeout_s)
    try:
        return make_tables(conn)
    finally:
        conn.close()


def make_tables(conn: sqlite3.Connection) -> bool:
    """Make them where they are missing; tell whether they were. Raises Unavailable."""
    exists = "SELECT 1 FROM sqlite_schema WHERE name = 'k8sjob_migrations'"
    try:
        if conn.execute(exists).fetchone():
            for (oldest,) in conn.execute("SELECT oldest_client FROM k8sjob_migrations"):
                check_client(__version__, oldest)
            return False
        conn.execute("BEGIN IMMEDIATE")
        made = not conn.execute(exists).fetchone()
        if made:
            schema = (resources.files("k8sjob.ledger.sqlite") / "schema.sql").read_text("utf-8")
            for statement in _statements(schema):
                conn.execute(statement)
            row = (1, "ledger", now(), "0.1.0")
            conn.execute("INSERT INTO k8sjob_migrations VALUES (?, ?, ?, ?)", row)
        conn.execute("COMMIT")
    except sqlite3.Error as error:
        raise Unavailable(f"the ledger's tables cannot be made: {error}") from None
    return made


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
