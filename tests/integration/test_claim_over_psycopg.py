from __future__ import annotations

import os
from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import psycopg
import pytest
from psycopg.pq import TransactionStatus
from psycopg.rows import class_row, dict_row, namedtuple_row, scalar_row

from k8sjob import NotApplied, Outcome, claim, try_claim
from k8sjob.errors import (
    ConfigError,
    Denied,
    K8sjobError,
    ProtocolError,
    SchemaAbsent,
    Unavailable,
    UsageError,
)
from tests.integration.callers import KEY, NEXT_DAY

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fix_stores import Database

CREDIT = "UPDATE app.accounts SET balance = balance + 10"
GIVEN, FROM_ENV, OF_THE_RUN = (UUID(f"01990000-0000-7000-8000-00000000000{n}") for n in (1, 2, 3))


def balance(db: Database) -> object:
    return db.connect("admin").execute("SELECT balance FROM app.accounts").fetchall()[0][0]


# ----------------------------------------------------------- the transaction is the caller's


def test_claim_and_work_are_committed_by_the_caller_and_not_before(db: Database) -> None:
    conn = db.connect()
    assert claim(conn, KEY)
    conn.execute(CREDIT)
    assert conn.info.transaction_status == TransactionStatus.INTRANS
    assert balance(db) == 0
    conn.commit()
    assert balance(db) == 10
    assert try_claim(conn, KEY).outcome is Outcome.DUPLICATE


def test_a_refused_claim_rolls_nothing_back_of_what_was_done_before_it(db: Database) -> None:
    with db.connect() as first:
        claim(first, KEY)
    with db.connect() as conn:
        conn.execute(CREDIT)
        with pytest.raises(NotApplied):
            claim(conn, KEY)
        conn.execute(CREDIT)
    assert balance(db) == 20


def test_an_error_that_leaves_the_block_rolls_claim_and_work_back(db: Database) -> None:
    conn = db.connect(autocommit=True)

    def work() -> None:
        with conn.transaction():
            claim(conn, KEY)
            conn.execute(CREDIT)
            raise ZeroDivisionError

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            work()
    assert balance(db) == 0
    with conn.transaction():
        assert claim(conn, KEY)


def test_a_transaction_that_has_failed_before_is_not_repaired(db: Database) -> None:
    conn = db.connect()
    with pytest.raises(psycopg.errors.DivisionByZero):
        conn.execute("SELECT 1/0")
    with pytest.raises(K8sjobError, match="current transaction is aborted"):
        claim(conn, KEY)
    assert conn.info.transaction_status == TransactionStatus.INERROR


def test_autocommit_is_refused_with_advice_and_nothing_is_begun(db: Database) -> None:
    conn = db.connect(autocommit=True)
    with pytest.raises(ProtocolError) as refusal:
        claim(conn, KEY)
    happened, meaning = str(refusal.value).split("\n")
    assert f"the claim of {KEY} would commit alone" in happened
    assert "Nothing was changed." in meaning
    assert "with conn.transaction():" in meaning
    assert conn.info.transaction_status == TransactionStatus.IDLE


# --------------------------------------------------------------------- kinds of connection


@pytest.mark.parametrize(
    "factory",
    [dict_row, namedtuple_row, scalar_row, class_row(dict)],
    ids=["dict", "namedtuple", "scalar", "class"],
)
def test_the_row_factory_of_the_connection_plays_no_part(
    db: Database, factory: Callable[..., Any]
) -> None:
    conn = db.connect(row_factory=factory)
    given = claim(conn, KEY, payload="x", attempt=GIVEN)
    assert (given.outcome, given.attempt, given.generation) == ("applied", GIVEN, 0)
    assert try_claim(conn, KEY, payload="x").attempt == GIVEN


@pytest.mark.parametrize("cursor", [psycopg.ClientCursor, psycopg.RawCursor])
def test_the_cursor_factory_of_the_connection_plays_no_part(
    db: Database, cursor: type[psycopg.Cursor[Any]]
) -> None:
    assert claim(db.connect(cursor_factory=cursor), KEY)


def test_a_subclass_of_psycopgs_connection_will_do(db: Database) -> None:
    class Own(psycopg.Connection[Any]):
        pass

    with closing(Own.connect(db.dsn())) as conn:
        assert claim(conn, KEY)


def test_a_claim_is_made_in_the_middle_of_a_pipeline(db: Database) -> None:
    with db.connect() as conn, conn.pipeline():
        conn.execute(CREDIT)
        assert claim(conn, KEY)
        conn.execute(CREDIT)
        assert try_claim(conn, KEY).outcome is Outcome.DUPLICATE
    assert balance(db) == 20


def test_times_are_in_utc_whatever_the_zone_of_the_session_is(db: Database) -> None:
    conn = db.connect()
    conn.execute("SET TIME ZONE 'Asia/Kolkata'")
    given = claim(conn, KEY)
    told = try_claim(conn, KEY)
    assert given.done_at == told.done_at
    for answer in (given, told):
        assert answer.done_at
        assert answer.done_at.utcoffset() == timedelta(0)
    with pytest.raises(NotApplied, match=f"done {told.done_at:%Y-%m-%d %H:%M:%SZ}"):
        claim(conn, KEY)


@pytest.mark.parametrize(
    "what", [object(), "postgresql://localhost/db", None], ids=["object", "text", "none"]
)
def test_what_is_no_connection_is_refused_with_advice(what: Any) -> None:
    with pytest.raises(
        UsageError, match=r"cannot claim over a .+\. Nothing was changed"
    ) as refusal:
        claim(what, KEY)
    for driver in ("SQLAlchemy", "Django", "SELECT k8sjob.claim(job, period)"):
        assert driver in str(refusal.value)


def test_a_cursor_is_refused_as_it_is_no_connection(db: Database) -> None:
    with pytest.raises(UsageError, match=r"cannot claim over a psycopg\.Cursor"):
        claim(db.connect().cursor(), KEY)  # type: ignore[call-overload]  # people may pass one all the same


# ------------------------------------------------------------------ databases that cannot


def test_a_role_without_the_right_is_denied(db: Database) -> None:
    with pytest.raises(Denied, match=f"claim {KEY}.*") as refusal:
        claim(db.connect("reader"), KEY)
    assert "--grant-runner" in str(refusal.value)


def test_a_database_without_a_ledger_says_so(db: Database) -> None:
    with db.connect("admin", autocommit=True) as admin:
        admin.execute("DROP SCHEMA k8sjob CASCADE")
    with pytest.raises(SchemaAbsent, match="k8sjob migrate"):
        claim(db.connect(), KEY)


def test_a_transaction_that_takes_no_writes_is_unavailable(db: Database) -> None:
    conn = db.connect()
    conn.read_only = True
    with pytest.raises(Unavailable, match="takes no writes"):
        claim(conn, KEY)


def test_a_connection_that_has_died_is_unavailable(db: Database) -> None:
    conn = db.connect()
    conn.execute("SELECT 1")
    kill = "SELECT pg_terminate_backend(%s)"
    db.connect("admin", autocommit=True).execute(kill, (conn.info.backend_pid,))
    with pytest.raises(Unavailable, match="connection to the ledger failed"):
        claim(conn, KEY)


# ----------------------------------------------------------------------------- the attempt


def test_the_attempt_is_the_one_that_is_given(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K8SJOB_ATTEMPT", str(FROM_ENV))
    conn = db.connect()
    conn.execute("SELECT set_config('k8sjob.attempt', %s, true)", (str(OF_THE_RUN),))
    assert claim(conn, KEY, attempt=GIVEN).attempt == GIVEN
    assert try_claim(conn, KEY).attempt == GIVEN


def test_the_attempt_is_else_the_one_of_the_parent_process(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K8SJOB_ATTEMPT", str(FROM_ENV))
    assert claim(db.connect(), KEY).attempt == FROM_ENV


def test_the_attempt_is_else_the_one_of_the_run_that_the_transaction_belongs_to(
    db: Database,
) -> None:
    conn = db.connect()
    conn.execute("SELECT set_config('k8sjob.attempt', %s, true)", (str(OF_THE_RUN),))
    assert claim(conn, KEY).attempt == OF_THE_RUN


def test_the_attempt_is_else_a_new_one_each_time(db: Database) -> None:
    conn = db.connect()
    first, second = claim(conn, KEY).attempt, claim(conn, NEXT_DAY).attempt
    assert first
    assert second
    assert (first.version, second.version) == (7, 7)
    assert first != second


def test_an_attempt_in_the_environment_that_is_none_is_refused(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K8SJOB_ATTEMPT", "yesterday's")
    with pytest.raises(ConfigError, match='K8SJOB_ATTEMPT="yesterday\'s"'):
        claim(db.connect(), KEY)
    assert os.environ["K8SJOB_ATTEMPT"] == "yesterday's"
