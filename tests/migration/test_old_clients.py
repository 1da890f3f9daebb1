"""A client works on a newer ledger until a version's row says that it is too old."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from k8sjob import __version__
from k8sjob.errors import ClientTooOld
from k8sjob.ledger import versions

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fix_stores import Database, Store
    from tests.migration.empty import Terminal, Told

JOB, PERIOD = "billing/daily-credit", "2026-09-13"
ROW = "(version, name, applied_at, oldest_client) VALUES (999, 'later', '2026-01-01', '{}')"
LEDGER = ("jobs", "gate", "periods", "attempts", "events", "counters")


@pytest.fixture
def credit(tmp_path: Path) -> str:
    """Give a file with one credit to the test."""
    path = tmp_path / "credit.sql"
    path.write_text("UPDATE accounts SET balance = balance + 10 WHERE name = 'alice';")
    return str(path)


def _run(terminal: Terminal, store: Store, credit: str) -> Told:
    return terminal.call(store.dsn, "run", credit, "--job", JOB, "--period", PERIOD)


def _let_in(store: Store, oldest: str) -> None:
    store.query(f"INSERT INTO {store.table('migrations')} {ROW.format(oldest)}")


def test_a_newer_ledger_that_lets_it_in_is_used(
    terminal: Terminal, store: Store, credit: str
) -> None:
    _let_in(store, "0.0.1")
    told = _run(terminal, store, credit)
    assert told.code == 0, told
    assert store.query("SELECT balance FROM accounts") == [(10,)]


def test_a_newer_ledger_that_shuts_it_out_is_left_alone(
    terminal: Terminal, store: Store, credit: str
) -> None:
    _let_in(store, "99.0.0")
    told = _run(terminal, store, credit)
    assert told.code == 78, told
    assert f"this ledger takes clients from 99.0.0 on, this one is {__version__}" in told.err
    assert "Nothing was changed. Put k8sjob 99.0.0 or later into the image" in told.err
    assert store.query("SELECT balance FROM accounts") == [(0,)]
    for table in LEDGER:
        assert store.query(f"SELECT count(*) FROM {store.table(table)}") == [(0,)], table


def test_migrate_says_that_the_ledger_is_newer(db: Database, terminal: Terminal) -> None:
    _newer(db, "0.0.1")
    told = terminal.call(db.dsn("owner"), "migrate")
    assert told.code == 0
    assert told.out == ""
    assert told.err == (
        "the ledger is up to date: its version 999 is newer than this client, "
        "which it still lets in\n"
    )


def test_migrate_grants_nothing_for_a_client_that_is_too_old(
    db: Database, terminal: Terminal
) -> None:
    _newer(db, "99.0.0")
    told = terminal.call(db.dsn("owner"), "migrate", "--grant-reader", "k8sjob_runner")
    assert told.code == 78
    assert "this ledger takes clients from 99.0.0 on" in told.err
    granted = "SELECT FROM k8sjob.grants WHERE (capability, grantee) = ('reader', 'k8sjob_runner')"
    assert db.connect("admin").execute(granted).fetchall() == []


ORDER = [
    # oldest client, client, let in
    ("0.9.0", "0.9.0", True),
    ("0.9.0", "0.10.0", True),
    ("0.10.0", "0.9.0", False),
    ("0.9.10", "0.9.9", False),
    ("0.9.9", "0.9.10", True),
    ("1.0.0", "0.99.99", False),
    ("0.9.0", "1.0.0", True),
    ("0.9.0", "0.10.0.dev1", True),
    ("0.10.0", "0.10.0rc2", True),
    ("0.10.0", "nonsense", False),
]


def test_versions_are_compared_by_their_numbers(db: Database) -> None:
    _newer(db, "0.0.1")
    admin = db.connect("admin", autocommit=True)
    runner = db.connect("runner", autocommit=True)
    start = "SELECT k8sjob.start_attempt(gen_random_uuid(), %s, %s, 'sql', '--period', %s)"
    for oldest, client, let_in in ORDER:
        update = "UPDATE k8sjob.migrations SET oldest_client = %s WHERE version = 999"
        admin.execute(update, (oldest,))
        by_sql = _works(lambda c=client: runner.execute(start, (JOB, PERIOD, c)), psycopg.Error)
        by_python = _works(lambda c=client, o=oldest: versions.check_client(c, o), ClientTooOld)
        assert (by_sql, by_python) == (let_in, let_in), (oldest, client)


def test_the_oldest_row_that_asks_for_most_decides(db: Database) -> None:
    admin = db.connect("admin", autocommit=True)
    admin.execute(f"INSERT INTO k8sjob.migrations {ROW.format('99.0.0')}".encode())
    later = ROW.replace("999", "1000").format("0.2.0")
    admin.execute(f"INSERT INTO k8sjob.migrations {later}".encode())
    with pytest.raises(psycopg.Error, match=r"from 99\.0\.0 on") as caught:
        db.connect("runner").execute("SELECT k8sjob.check_client('0.2.0')")
    assert caught.value.sqlstate == "KJ016"


def test_a_version_that_is_no_version_is_not_recorded(db: Database) -> None:
    for oldest in ("1.0", "v1.0.0", "1.0.0\n", "1.0.0rc1", ""):
        with pytest.raises(psycopg.errors.CheckViolation):
            _newer(db, oldest)


def test_a_sqlite_ledger_that_shuts_it_out_keeps_migrate_out_too(
    sqlite_path: Path, terminal: Terminal
) -> None:
    with closing(sqlite3.connect(sqlite_path)) as conn, conn:
        conn.execute(f"INSERT INTO k8sjob_migrations {ROW.format('99.0.0')}")
    told = terminal.call(f"sqlite:///{sqlite_path}", "migrate")
    assert told.code == 78
    assert "this ledger takes clients from 99.0.0 on" in told.err


def _newer(db: Database, oldest: str) -> None:
    with psycopg.connect(db.dsn("admin")) as admin:
        insert = "INSERT INTO k8sjob.migrations (version, name, oldest_client) VALUES (%s, %s, %s)"
        admin.execute(insert, (999, "later", oldest))


def _works(call: Any, refusal: type[Exception]) -> bool:
    try:
        call()
    except refusal:
        return False
    return True
