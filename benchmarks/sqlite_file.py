"""What a claim costs on SQLite. No target: the file's own lock and sync decide there."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.pairs import block, take_turns, timed
from benchmarks.report import Line
from benchmarks.work import CREDIT, periods
from k8sjob import claim
from k8sjob.ledger.sqlite.file import migrate
from k8sjob.ledger.uuid7 import uuid7

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.scale import Scale
    from benchmarks.server import Server

_TABLES = """
CREATE TABLE accounts (name TEXT PRIMARY KEY, balance INTEGER NOT NULL);
INSERT INTO accounts VALUES ('account-0', 0);
CREATE TABLE done (
  job TEXT, period TEXT, done_at TEXT NOT NULL, attempt TEXT, PRIMARY KEY (job, period)
) STRICT;
"""
_MARK = """INSERT INTO done VALUES (?, ?, strftime('%Y-%m-%dT%H:%M:%fZ'), ?)
           ON CONFLICT DO NOTHING"""


def measure(_server: Server, scale: Scale) -> Iterator[Line]:
    """Compare the transactions one by one, in one file, as SQLite is by default."""
    with tempfile.TemporaryDirectory(prefix="k8sjob-bench-") as folder:
        file = str(Path(folder) / "ledger.db")
        migrate(file)
        with closing(sqlite3.connect(file, isolation_level=None)) as conn:
            conn.executescript(_TABLES)
            rivals = {"by hand": _by_hand(conn), "claimed": _claimed(conn)}
            blocks = {name: block(timed(do), scale.block) for name, do in rivals.items()}
            rounds = take_turns(blocks, scale.rounds)
    yield Line("SQLite: transaction by hand", rounds.of("by hand").text(".0f", " us", 1e6))
    yield Line("SQLite: claimed / by hand", rounds.ratio("claimed", "by hand").text())


def _by_hand(conn: sqlite3.Connection) -> Callable[[], object]:
    texts = periods()

    def transaction() -> None:
        conn.execute("BEGIN IMMEDIATE")
        cursor = conn.execute(_MARK, ("bench/by-hand", next(texts), str(uuid7())))
        if cursor.rowcount:
            conn.execute(CREDIT)
        conn.execute("COMMIT")

    return transaction


def _claimed(conn: sqlite3.Connection) -> Callable[[], object]:
    texts = periods()

    def transaction() -> None:
        conn.execute("BEGIN IMMEDIATE")
        claim(conn, f"bench/claimed:{next(texts)}")
        conn.execute(CREDIT)
        conn.execute("COMMIT")

    return transaction
