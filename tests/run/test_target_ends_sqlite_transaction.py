from __future__ import annotations

import contextlib
import sqlite3
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.run.commandline import (
    CREDIT,
    JOB,
    PERIOD,
    CommandLine,
    assert_nothing_was_committed,
    asynchronous,
    params,
)

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEMA = """
CREATE TABLE once (id INTEGER PRIMARY KEY);
CREATE TRIGGER strict BEFORE INSERT ON once WHEN NEW.id < 0
BEGIN SELECT RAISE(ROLLBACK, 'negative'); END;
INSERT INTO once VALUES (1);
"""


@pytest.fixture
def strict(lite: CommandLine) -> CommandLine:
    """Give a store with a table that takes 1 back, and a trigger that rolls everything back."""
    assert lite.store.path
    with contextlib.closing(sqlite3.connect(lite.store.path)) as conn:
        conn.executescript(SCHEMA)
    return lite


IN_A_FILE = [
    "COMMIT", "commit", "CoMmIt TRANSACTION", "END", "end transaction", "ROLLBACK",
    "Rollback Transaction", "BEGIN", "BEGIN IMMEDIATE", "begin exclusive transaction",
    "/* done */ COMMIT", "-- done\n\tCOMMIT",
]  # fmt: skip


@pytest.mark.parametrize("end", IN_A_FILE)
def test_a_file_that_ends_the_transaction_is_not_begun(lite: CommandLine, end: str) -> None:
    told = lite.run(lite.file(f"{CREDIT};\n{end};\n{CREDIT};"))
    assert "Nothing was run." in told.err
    assert_nothing_was_committed(lite, told)


@pytest.mark.parametrize(
    "text",
    [
        f"COMMIT; {CREDIT}",
        f"{CREDIT}; COMMIT",
        f"{CREDIT};;; COMMIT ;;",
        f"{CREDIT};COMMIT;{CREDIT}",
        f"SELECT 'it''s; fine', \"balance\", [balance] FROM accounts; {CREDIT}; COMMIT",
        "CREATE TRIGGER t AFTER UPDATE ON accounts BEGIN SELECT CASE 1 WHEN 1 THEN 2 END; END; END",
        f"\ufeffCOMMIT; {CREDIT}",
    ],
)
def test_a_commit_is_found_wherever_it_stands(lite: CommandLine, text: str) -> None:
    assert_nothing_was_committed(lite, lite.run(lite.file(text)))


# --------------------------------------------------------------------------------- functions


def with_connection(conn: Any) -> None:
    with conn:
        conn.execute(CREDIT)


def rolls_back_by_conflict(conn: Any) -> None:
    with contextlib.suppress(sqlite3.IntegrityError):
        conn.execute("INSERT OR ROLLBACK INTO once VALUES (1)")


def rolls_back_by_trigger(conn: Any) -> None:
    with contextlib.suppress(sqlite3.IntegrityError):
        conn.execute("INSERT INTO once VALUES (-1)")


def begins_implicitly(conn: Any) -> None:
    conn.isolation_level = ""
    rolls_back_by_conflict(conn)


def takes_off_the_authorizer(conn: Any) -> None:
    conn.set_authorizer(None)
    conn.execute("COMMIT")


ENDS: dict[str, Callable[[Any], Any]] = {
    "commit()": lambda conn: conn.commit(),
    "rollback()": lambda conn: conn.rollback(),
    "close()": lambda conn: conn.close(),
    "with run.conn": with_connection,
    "COMMIT": lambda conn: conn.execute("COMMIT"),
    "END": lambda conn: conn.execute("/* */ end"),
    "ROLLBACK": lambda conn: conn.execute("ROLLBACK"),
    "BEGIN": lambda conn: conn.execute("BEGIN"),
    "cursor": lambda conn: conn.cursor().execute("COMMIT"),
    "executescript": lambda conn: conn.executescript(CREDIT),
    "cursor.executescript": lambda conn: conn.cursor().executescript(CREDIT),
    "executescript with COMMIT": lambda conn: conn.executescript(f"{CREDIT}; COMMIT"),
    "the driver's own commit()": sqlite3.Connection.commit,
    "the driver's own rollback()": sqlite3.Connection.rollback,
    "isolation_level = None": lambda conn: setattr(conn, "isolation_level", None),
    "isolation_level = ''": begins_implicitly,
    "OR ROLLBACK": rolls_back_by_conflict,
    "RAISE(ROLLBACK)": rolls_back_by_trigger,
    "set_authorizer": takes_off_the_authorizer,
}
if sys.version_info >= (3, 12):
    ENDS["autocommit = True"] = lambda conn: setattr(conn, "autocommit", True)


@pytest.mark.parametrize("end", **params(ENDS))
@pytest.mark.parametrize("swallowed", [False, True], ids=["raised", "swallowed"])
@pytest.mark.parametrize("wrap", [lambda work: work, asynchronous], ids=["sync", "async"])
def test_a_function_cannot_end_its_transaction(
    strict: CommandLine, end: Callable[[Any], Any], wrap: Callable[[Any], Any], *, swallowed: bool
) -> None:
    def work(run: Any) -> None:
        conn = run.conn
        with contextlib.suppress(*[Exception] * swallowed):
            conn.execute(CREDIT)
            end(conn)
            conn.execute(CREDIT)

    assert_nothing_was_committed(strict, strict.run(wrap(work)))


@pytest.mark.parametrize("last", ["OR ROLLBACK", "RAISE(ROLLBACK)"])
def test_a_rollback_from_inside_at_the_very_end_is_seen(strict: CommandLine, last: str) -> None:
    def work(run: Any) -> None:
        run.conn.execute(CREDIT)
        ENDS[last](run.conn)

    assert_nothing_was_committed(strict, strict.run(work))


@pytest.mark.parametrize(
    "statement", ["INSERT OR ROLLBACK INTO once VALUES (1)", "INSERT INTO once VALUES (-1)"]
)
def test_a_rollback_whose_error_is_let_out_is_a_failure_like_any_other(
    strict: CommandLine, statement: str
) -> None:
    told = strict.run(strict.file(f"{CREDIT}; {statement}; {CREDIT}"))
    assert_nothing_was_committed(strict, told, code=1)


@pytest.mark.parametrize("last", [True, False], ids=["last part", "more parts follow"])
def test_a_part_that_commits_and_keeps_quiet_fails_the_job(
    lite: CommandLine, *, last: bool
) -> None:
    def work(run: Any) -> None:
        for name in ("one", "two", *["three"] * (not last)):
            with contextlib.suppress(Exception), run.part(name) as part:
                part.conn.execute(CREDIT)
                if name == "two":
                    part.conn.commit()

    told = lite.run(work)
    assert told.code == 76
    assert (lite.balance(), lite.states()) == (10, {f"{JOB}/one:{PERIOD}": "done"})


def test_a_connection_kept_from_a_part_is_of_no_use_after_it(lite: CommandLine) -> None:
    def work(run: Any) -> None:
        with run.part("one") as part:
            conn = part.conn
        conn.execute(CREDIT)

    told = lite.run(work)
    assert told.code == 76
    assert (lite.balance(), lite.state()) == (0, None)
