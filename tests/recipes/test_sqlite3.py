from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

import k8sjob
from examples.recipes.sqlite3_file import credit
from tests.recipes.clients import KEY

if TYPE_CHECKING:
    from pathlib import Path

TOO_MUCH = 2**63  # more than an integer of SQLite holds: the work fails, after the claim


def seen(path: Path) -> tuple[int, list[str]]:
    with closing(sqlite3.connect(path)) as conn:
        (balance,) = conn.execute("SELECT balance FROM accounts").fetchone()
        done = conn.execute("SELECT job || ':' || period FROM k8sjob_periods WHERE state = 'done'")
        return balance, [key for (key,) in done]


def test_a_second_run_is_a_duplicate_without_an_effect(sqlite_path: Path) -> None:
    credit(str(sqlite_path), KEY, 10)
    assert seen(sqlite_path) == (10, [str(KEY)])

    with pytest.raises(k8sjob.NotApplied) as refusal:
        credit(str(sqlite_path), KEY, 10)
    assert refusal.value.outcome == "duplicate"
    assert seen(sqlite_path) == (10, [str(KEY)])


def test_work_that_fails_leaves_neither_row_nor_effect(sqlite_path: Path) -> None:
    with pytest.raises(OverflowError):
        credit(str(sqlite_path), KEY, TOO_MUCH)
    assert seen(sqlite_path) == (0, [])

    credit(str(sqlite_path), KEY, 10)
    assert seen(sqlite_path) == (10, [str(KEY)])


def test_another_payload_is_a_conflict(sqlite_path: Path) -> None:
    credit(str(sqlite_path), KEY, 10)
    with pytest.raises(k8sjob.NotApplied) as refusal:
        credit(str(sqlite_path), KEY, 11)
    assert refusal.value.outcome == "conflict"
    assert seen(sqlite_path) == (10, [str(KEY)])


def test_a_claim_that_would_commit_alone_is_refused(sqlite_path: Path) -> None:
    with (
        closing(sqlite3.connect(sqlite_path, isolation_level=None)) as conn,
        pytest.raises(k8sjob.ProtocolError),
    ):
        k8sjob.claim(conn, KEY)
    assert seen(sqlite_path) == (0, [])


def test_a_transaction_begun_by_hand_is_the_callers(sqlite_path: Path) -> None:
    with closing(sqlite3.connect(sqlite_path, isolation_level=None)) as conn:
        conn.execute("BEGIN IMMEDIATE")
        assert k8sjob.claim(conn, KEY)
        conn.execute("ROLLBACK")
    assert seen(sqlite_path) == (0, [])
