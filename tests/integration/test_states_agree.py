"""Python, both schemas and the docs have the same states, moves and outcomes."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from k8sjob.key import Key
from k8sjob.ledger import settings
from k8sjob.ledger.contract import Attempt, Ending, drive
from k8sjob.ledger.open import open_ledger
from k8sjob.ledger.uuid7 import uuid7
from k8sjob.states import MOVES, STORED, Outcome, State, may_move

if TYPE_CHECKING:
    from collections.abc import Iterator

    from k8sjob.ledger.contract import Ledger
    from tests.fix_stores import Database, Store

PAGE = Path(__file__).parents[2] / "docs" / "states.md"
ALL_MOVES = {(before, after) for before, afters in MOVES.items() for after in afters}
COMPUTED = set(State) - set(STORED)
KEY = Key.parse("billing/daily-credit:2026-09-13")


def test_only_stored_states_move() -> None:
    assert set(MOVES) == {None, *STORED}
    assert {after for _, after in ALL_MOVES} == set(STORED)
    pairs = product([None, *State], State)
    assert {pair for pair in pairs if may_move(*pair)} == ALL_MOVES


# -------------------------------------------------------------------------------------- docs


def test_the_diagram_draws_the_moves() -> None:
    (diagram,) = re.findall(r"```mermaid\nstateDiagram-v2\n(.*?)```", PAGE.read_text(), re.DOTALL)
    lines = diagram.strip().splitlines()
    arrows = [re.fullmatch(r" *(\S+) --> (\S+): (.+)", line) for line in lines]
    assert all(arrows), lines
    drawn = [
        (None if arrow[1] == "[*]" else State(arrow[1]), State(arrow[2]))
        for arrow in arrows
        if arrow
    ]
    assert len(drawn) == len(set(drawn))
    assert set(drawn) == ALL_MOVES


def test_the_tables_name_each_state() -> None:
    first, second = re.findall(
        r"\| state \| meaning \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE.read_text()
    )
    assert re.findall(r"^\| `(\w+)` \|", first, re.MULTILINE) == list(STORED)
    assert set(re.findall(r"^\| `(\w+)` \|", second, re.MULTILINE)) == COMPUTED


# ----------------------------------------------------------------------------------- Postgres


def test_postgres_allows_the_same_moves(db: Database) -> None:
    words = [None, *State, "absent ", "Done", ""]
    query = """SELECT f, t FROM unnest(%s::text[]) f, unnest(%s::text[]) t
                WHERE k8sjob.may_move(f, t)"""
    assert set(db.connect("reader").execute(query, (words, words)).fetchall()) == ALL_MOVES
    unsure = "SELECT count(*) FROM unnest(%s::text[]) f WHERE k8sjob.may_move(f, 'done') IS NULL"
    assert db.connect("reader").execute(unsure, (words,)).fetchone() == (0,)


def test_postgres_records_no_other_move(db: Database) -> None:
    taken = set()
    owner = db.connect("owner", autocommit=True)
    insert = """INSERT INTO k8sjob.events (job, period, kind, from_state, to_state, by, reason)
                VALUES ('a/b', 'once', 'state', %s, %s, 'test', 'why')"""
    for pair in product([None, *State], State):
        try:
            owner.execute(insert, pair)
        except psycopg.errors.CheckViolation:
            continue
        taken.add(pair)
    assert taken == ALL_MOVES


def _check(db: Database, table: str, column: str) -> set[str]:
    """Return the words of the CHECK that lists what a column may hold."""
    query = """SELECT pg_get_constraintdef(k.oid) FROM pg_constraint k
                 JOIN pg_attribute a ON a.attrelid = k.conrelid AND k.conkey = ARRAY[a.attnum]
                WHERE k.contype = 'c' AND k.conrelid = %s::regclass AND a.attname = %s"""
    ((text,),) = db.connect("reader").execute(query, (f"k8sjob.{table}", column)).fetchall()
    assert f"({column} = ANY (ARRAY[" in text
    return set(re.findall(r"'([^']*)'", text))


def test_postgres_lists_the_same_states_and_outcomes(db: Database) -> None:
    assert _check(db, "periods", "state") == set(STORED)
    assert _check(db, "attempts", "outcome") == set(Outcome)


# ------------------------------------------------------------------------------------- SQLite


def _lite(path: Path, table: str, column: str) -> set[str]:
    with closing(sqlite3.connect(path)) as conn:
        query = "SELECT sql FROM sqlite_schema WHERE name = ?"
        (text,) = conn.execute(query, (table,)).fetchone()
    (words,) = re.findall(rf"{column} TEXT[^,]*? CHECK \({column} IN \(([^)]*)\)\)", text)
    return set(re.findall(r"'([^']*)'", words))


def test_sqlite_lists_the_same_states_and_outcomes(sqlite_path: Path) -> None:
    assert _lite(sqlite_path, "k8sjob_periods", "state") == set(STORED)
    assert _lite(sqlite_path, "k8sjob_attempts", "outcome") == set(Outcome)


# ----------------------------------------------------------------------- outcomes and counters


@pytest.fixture
def ledger(store: Store) -> Iterator[Ledger]:
    """Open the store's ledger."""
    address = settings.parse(store.dsn, "the test")
    ledger = open_ledger(address, application_name="test", lock_timeout_s=10)
    drive(ledger.open())
    yield ledger
    drive(ledger.close())


def _attempt(ledger: Ledger, outcome: Any) -> None:
    attempt = Attempt(id=uuid7(), key=KEY, mode="sql", source="--period", client="0.1.0")
    drive(ledger.start(attempt))
    ending = Ending(outcome=outcome, exit_code=0)
    drive(ledger.end(attempt.id, ending))
    drive(ledger.end(attempt.id, ending))  # once more: it counts once


def test_an_attempt_may_end_with_each_outcome_and_is_counted_once(
    store: Store, ledger: Ledger
) -> None:
    for outcome in Outcome:
        _attempt(ledger, outcome)
    counted = store.query(
        f"SELECT outcome, n FROM {store.table('counters')} WHERE job = '{KEY.job}'"
    )
    assert dict(counted) == dict.fromkeys(Outcome, 1)
    ended = store.query(f"SELECT outcome FROM {store.table('attempts')} WHERE ended_at IS NOT NULL")
    assert sorted(row[0] for row in ended) == sorted(Outcome)


def test_an_outcome_of_no_name_ends_and_counts_nothing(store: Store, ledger: Ledger) -> None:
    for wrong in ("running", "done", "Applied", ""):
        with pytest.raises(Exception, match=r"(?i)check constraint"):
            _attempt(ledger, wrong)
    assert store.query(f"SELECT count(*) FROM {store.table('counters')}") == [(0,)]
    ended = f"SELECT count(*) FROM {store.table('attempts')} WHERE ended_at IS NOT NULL"
    assert store.query(ended) == [(0,)]


FAILURES = {Outcome.FAILED, Outcome.UNPROVEN, Outcome.LOST}


def test_failures_in_a_row_are_counted_until_the_work_went_through(
    store: Store, ledger: Ledger
) -> None:
    jobs = store.table("jobs")
    row = f"SELECT consecutive_failures, last_success_at IS NOT NULL FROM {jobs}"
    failures = 0
    for outcome in set(Outcome) - {Outcome.APPLIED}:
        _attempt(ledger, outcome)
        failures += outcome in FAILURES
        if outcome is Outcome.AWAITING:  # handed over: not applied yet, and no failure
            failures = 0
        ((counted, succeeded),) = store.query(row)
        assert (counted, bool(succeeded)) == (failures, False), outcome
    _attempt(ledger, Outcome.APPLIED)
    ((counted, succeeded),) = store.query(row)
    assert (counted, bool(succeeded)) == (0, True)
