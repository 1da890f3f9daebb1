from __future__ import annotations

import sqlite3
import sys
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from k8sjob import NotApplied, Outcome, claim, try_claim
from k8sjob.errors import ProtocolError, SchemaAbsent, Unavailable
from tests.integration.callers import KEY, NEXT_DAY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CREDIT = "UPDATE accounts SET balance = balance + 10"

# Where the driver begins a transaction by itself before the claim's first statement.
BEGUN_BY_THE_DRIVER: dict[str, dict[str, Any]] = {
    "deferred": {"isolation_level": ""},
    "immediate": {"isolation_level": "IMMEDIATE"},
    "exclusive": {"isolation_level": "EXCLUSIVE"},
}
# Where there is none unless the caller begins one.
BEGUN_BY_THE_CALLER: dict[str, dict[str, Any]] = {"none": {"isolation_level": None}}
if sys.version_info >= (3, 12):  # PEP 249's way, beside the old one
    BEGUN_BY_THE_DRIVER["not-autocommit"] = {"autocommit": False}
    BEGUN_BY_THE_CALLER["autocommit"] = {"autocommit": True}

by_driver = pytest.mark.parametrize(
    "mode", BEGUN_BY_THE_DRIVER.values(), ids=list(BEGUN_BY_THE_DRIVER)
)
by_caller = pytest.mark.parametrize(
    "mode", BEGUN_BY_THE_CALLER.values(), ids=list(BEGUN_BY_THE_CALLER)
)


@contextmanager
def connected(path: Path, **mode: Any) -> Iterator[sqlite3.Connection]:
    """Connect, and wait for no lock."""
    with closing(sqlite3.connect(path, timeout=0, **mode)) as conn:
        yield conn


def seen(path: Path) -> tuple[int, list[str]]:
    """Return balance and done periods as another connection sees them."""
    with connected(path) as conn:
        (balance,) = conn.execute("SELECT balance FROM accounts").fetchone()
        done = conn.execute("SELECT period FROM k8sjob_periods WHERE state = 'done'").fetchall()
    return balance, [period for (period,) in done]


@by_driver
def test_claim_and_work_commit_together_where_the_driver_begins(
    sqlite_path: Path, mode: dict[str, Any]
) -> None:
    with connected(sqlite_path, **mode) as conn:
        assert claim(conn, KEY)
        conn.execute(CREDIT)
        assert conn.in_transaction
        conn.commit()
        assert try_claim(conn, KEY).outcome is Outcome.DUPLICATE
        conn.rollback()
    assert seen(sqlite_path) == (10, ["2024-09-13"])


@by_driver
def test_claim_and_work_are_rolled_back_together_where_the_driver_begins(
    sqlite_path: Path, mode: dict[str, Any]
) -> None:
    with connected(sqlite_path, **mode) as conn:
        claim(conn, KEY)
        conn.execute(CREDIT)
        conn.rollback()
    assert seen(sqlite_path) == (0, [])


@by_caller
def test_a_claim_is_refused_where_nobody_has_begun(sqlite_path: Path, mode: dict[str, Any]) -> None:
    with connected(sqlite_path, **mode) as conn:
        for ask in (claim, try_claim):
            with pytest.raises(ProtocolError) as refusal:
                ask(conn, KEY)
            happened, meaning = str(refusal.value).split("\n")
            assert f"the claim of {KEY} would commit alone" in happened
            assert "Nothing was changed." in meaning
            assert 'conn.execute("BEGIN IMMEDIATE")' in meaning
            assert not conn.in_transaction
    assert seen(sqlite_path) == (0, [])


@by_caller
@pytest.mark.parametrize("begin", ["BEGIN", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_claim_and_work_commit_together_where_the_caller_begins(
    sqlite_path: Path, mode: dict[str, Any], begin: str
) -> None:
    with connected(sqlite_path, **mode) as conn:
        conn.execute(begin)
        assert claim(conn, KEY)
        conn.execute(CREDIT)
        assert conn.in_transaction
        conn.execute("COMMIT")
    assert seen(sqlite_path) == (10, ["2024-09-13"])


@by_caller
def test_claim_and_work_are_rolled_back_together_where_the_caller_begins(
    sqlite_path: Path, mode: dict[str, Any]
) -> None:
    with connected(sqlite_path, **mode) as conn:
        conn.execute("BEGIN")
        claim(conn, KEY)
        conn.execute(CREDIT)
        conn.execute("ROLLBACK")
    assert seen(sqlite_path) == (0, [])


def test_a_claim_whose_savepoint_is_rolled_back_frees_the_key(sqlite_path: Path) -> None:
    with connected(sqlite_path, isolation_level=None) as conn:
        conn.execute("BEGIN")
        conn.execute("SAVEPOINT before_the_claim")
        claim(conn, KEY)
        conn.execute("ROLLBACK TO before_the_claim")
        assert claim(conn, KEY)


def test_of_two_connections_the_second_is_busy_until_the_first_has_ended(
    sqlite_path: Path,
) -> None:
    with connected(sqlite_path) as first, connected(sqlite_path) as second:
        claim(first, KEY)
        for key in (KEY, NEXT_DAY):  # the file is one lock
            with pytest.raises(NotApplied, match="another transaction holds it") as refusal:
                claim(second, key)
            assert refusal.value.outcome is Outcome.BUSY
            second.rollback()
        first.rollback()
        assert claim(second, KEY)
        second.commit()
        assert try_claim(first, KEY).outcome is Outcome.DUPLICATE


@pytest.mark.parametrize("journal", ["DELETE", "WAL"])
def test_a_transaction_that_has_read_before_a_rivals_commit_is_busy_and_applies_nothing(
    sqlite_path: Path, journal: str
) -> None:
    with (
        connected(sqlite_path, isolation_level=None) as old,
        connected(sqlite_path, isolation_level=None) as rival,
    ):
        old.execute(f"PRAGMA journal_mode = {journal}").fetchall()
        old.execute("BEGIN")
        old.execute("SELECT count(*) FROM accounts").fetchall()
        rival.execute("BEGIN IMMEDIATE")
        claim(rival, KEY)
        if journal == "WAL":  # else the rival cannot commit past the reader, as SQLite has it
            rival.execute("COMMIT")
        with pytest.raises(NotApplied) as refusal:
            claim(old, KEY)
        assert refusal.value.outcome is Outcome.BUSY


def as_set(_cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> set[Any]:
    """Make rows that have no order."""
    return set(row)


def test_rows_and_texts_are_plain_whatever_the_connections_factories_are(
    sqlite_path: Path,
) -> None:
    with connected(sqlite_path) as conn:
        conn.row_factory = as_set
        conn.text_factory = bytes
        given = claim(conn, KEY, payload="x")
        told = try_claim(conn, KEY, payload="x")
        assert (told.outcome, told.attempt) == (Outcome.DUPLICATE, given.attempt)
        assert told.done_at == given.done_at
        assert (conn.row_factory, conn.text_factory) == (as_set, bytes)


def test_a_subclass_of_sqlite3s_connection_will_do(sqlite_path: Path) -> None:
    class Own(sqlite3.Connection):
        pass

    with connected(sqlite_path, factory=Own) as conn:
        assert claim(conn, KEY)


def test_a_second_claim_in_one_transaction_is_a_duplicate(sqlite_path: Path) -> None:
    with connected(sqlite_path) as conn:
        claim(conn, KEY)
        conn.execute(CREDIT)
        with pytest.raises(NotApplied) as refusal:
            claim(conn, KEY)
        assert refusal.value.outcome is Outcome.DUPLICATE
        conn.commit()
    assert seen(sqlite_path) == (10, ["2024-09-13"])


def test_a_file_without_a_ledger_says_so(tmp_path: Path) -> None:
    with connected(tmp_path / "empty.db") as conn, pytest.raises(SchemaAbsent) as refusal:
        claim(conn, KEY)
    assert "k8sjob migrate" in str(refusal.value)


def test_a_file_that_takes_no_writes_is_unavailable(sqlite_path: Path) -> None:
    with (
        closing(sqlite3.connect(f"file:{sqlite_path}?mode=ro", uri=True)) as conn,
        pytest.raises(Unavailable, match="cannot be used"),
    ):
        claim(conn, KEY)
