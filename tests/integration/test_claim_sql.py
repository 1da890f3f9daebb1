from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from uuid import UUID

import psycopg
import pytest

from k8sjob import Key, Outcome, State
from k8sjob.ledger.sqlstates import ERRORS, OUTCOMES
from tests.integration.callers import KEY

if TYPE_CHECKING:
    from tests.fix_stores import Connection, Database

JOB, PERIOD = str(KEY.job), str(KEY.period)
MINE = UUID("01990000-0000-7000-8000-000000000001")
OTHER = UUID("01990000-0000-7000-8000-000000000002")


@pytest.fixture
def conn(db: Database) -> Connection:
    """Connect as the runner, with a transaction begun at the first statement."""
    return db.connect()


def ask(conn: Connection, call: str, *params: object) -> Any:
    """Call a function; return its one value."""
    row = conn.execute(f"SELECT k8sjob.{call}".encode(), params).fetchone()
    assert row
    return row[0]


def refused(conn: Connection, call: str, *params: object) -> psycopg.Error:
    """Return the error of a call, in a savepoint of its own."""
    with pytest.raises(psycopg.Error) as refusal, conn.transaction():
        ask(conn, call, *params)
    return refusal.value


def put(db: Database, state: State) -> None:
    """Give KEY a row in this state, as an operator would have left it."""
    with db.connect("admin", autocommit=True) as admin:
        admin.execute(
            """INSERT INTO k8sjob.periods (job, period, state, origin, reason)
               VALUES (%s, %s, %s, 'test', 'ask the bank')""",
            (JOB, PERIOD, state),
        )


def set_floor(db: Database) -> None:
    with db.connect("admin", autocommit=True) as admin:
        admin.execute("INSERT INTO k8sjob.gate VALUES (%s, 'day', %s)", (JOB, PERIOD))


# ---------------------------------------------------------------- the SQLSTATEs of outcomes


def test_each_outcome_has_its_own_sqlstate_and_says_in_three_parts_what_to_do(
    db: Database, conn: Connection
) -> None:
    raised = {
        Outcome.FUTURE: refused(conn, "claim(%s, '2999-01-01')", JOB),
        Outcome.DUPLICATE: refused(
            conn, "claim(%s, %s) || k8sjob.claim(%s, %s)", *[JOB, PERIOD] * 2
        ),
    }
    ask(conn, "claim(%s, %s, 'a')", JOB, PERIOD)
    raised[Outcome.CONFLICT] = refused(conn, "claim(%s, %s, 'b')", JOB, PERIOD)
    conn.rollback()
    for state in (State.BLOCKED, State.AWAITING, State.SKIPPED):
        put(db, state)
        raised[Outcome(state)] = refused(conn, "claim(%s, %s)", JOB, PERIOD)
        conn.rollback()
        with db.connect("admin", autocommit=True) as admin:
            admin.execute("DELETE FROM k8sjob.periods")
    set_floor(db)
    raised[Outcome.EXPIRED] = refused(conn, "claim(%s, %s)", JOB, PERIOD)
    assert {error.sqlstate: outcome for outcome, error in raised.items()} == OUTCOMES
    for outcome, error in raised.items():
        key = f"{JOB}:2999-01-01" if outcome is Outcome.FUTURE else str(KEY)
        assert (error.diag.message_primary or "").startswith(f"{key} ")
        assert (error.diag.message_detail or "").startswith("Nothing was changed")
        assert error.diag.message_hint


def test_the_messages_of_a_duplicate_and_a_conflict_name_the_attempts_and_the_digests(
    conn: Connection,
) -> None:
    ask(conn, "claim(%s, %s, 'a', %s)", JOB, PERIOD, OTHER)
    duplicate = refused(conn, "claim(%s, %s, 'a', %s)", JOB, PERIOD, MINE)
    assert f"by attempt {OTHER}" in str(duplicate)
    conflict = refused(conn, "claim(%s, %s, 'b', %s)", JOB, PERIOD, MINE)
    assert f"(attempt {OTHER})" in str(conflict)
    for text in (b"a", b"b"):
        assert f"sha256:{sha256(text).hexdigest()}" in str(conflict)
    assert "sha256:(none)" in str(refused(conn, "claim(%s, %s)", JOB, PERIOD))


@pytest.mark.parametrize("state", [State.BLOCKED, State.AWAITING, State.SKIPPED])
def test_the_message_of_a_period_that_stands_still_has_its_reason(
    db: Database, conn: Connection, state: State
) -> None:
    put(db, state)
    assert "ask the bank" in str(refused(conn, "claim(%s, %s)", JOB, PERIOD))


# ------------------------------------------------------- the SQLSTATEs of what callers get wrong


@pytest.mark.parametrize(
    ("job", "period"),
    [("nightly", PERIOD), ("a/b:c", PERIOD), (None, PERIOD), (JOB, "13.9.2024"), (JOB, None)],
)
def test_a_bad_key_is_kj011(conn: Connection, job: str | None, period: str | None) -> None:
    error = refused(conn, "claim(%s, %s)", job, period)
    assert error.sqlstate == "KJ011"
    assert "Write " in (error.diag.message_hint or "")


def test_a_period_of_another_kind_is_kj012(conn: Connection) -> None:
    ask(conn, "claim(%s, %s)", JOB, PERIOD)
    error = refused(conn, "claim(%s, '2024-09')", JOB)
    assert (error.sqlstate, error.diag.message_detail) == ("KJ012", "Nothing was changed.")


def test_a_claim_alone_is_kj013(db: Database) -> None:
    alone = db.connect(autocommit=True)
    with pytest.raises(psycopg.Error) as refusal:
        ask(alone, "claim(%s, %s)", JOB, PERIOD)
    assert refusal.value.sqlstate == "KJ013"


def test_the_end_of_a_runners_transaction_without_its_seal_is_kj014(conn: Connection) -> None:
    conn.execute(
        "SELECT k8sjob.run_claim(%s, %s, NULL, %s, NULL, NULL, NULL, '30s', false)",
        (JOB, PERIOD, MINE),
    )
    with pytest.raises(psycopg.Error) as refusal:
        conn.commit()
    assert refusal.value.sqlstate == "KJ014"


def test_a_state_without_a_reason_is_kj015(conn: Connection) -> None:
    for call in ("block(%s, %s, '')", "skip(%s, %s, ' ')", "await(%s, %s, NULL)"):
        assert refused(conn, call, JOB, PERIOD).sqlstate == "KJ015"


def test_a_client_that_is_too_old_is_kj016(conn: Connection) -> None:
    error = refused(conn, "check_client('0.0.1')")
    assert error.sqlstate == "KJ016"


def test_python_knows_every_sqlstate_that_the_functions_raise_and_no_other(db: Database) -> None:
    source = "SELECT prosrc FROM pg_proc WHERE pronamespace = 'k8sjob'::regnamespace"
    bodies = "".join(body for (body,) in db.connect("admin").execute(source))
    internal = {"KJ000"}  # caught where it is raised
    assert set(re.findall(r"\bKJ\d{3}\b", bodies)) - internal == {*OUTCOMES, *ERRORS}


# ------------------------------------------------------------------------------ the functions


def test_claim_says_applied(conn: Connection) -> None:
    assert ask(conn, "claim(%s, %s)", JOB, PERIOD) == "applied"


def test_a_text_payload_counts_as_its_utf8_bytes(db: Database, conn: Connection) -> None:
    assert ask(conn, "claim_text(%s, %s, %s)", JOB, PERIOD, "10 € to Zoë") == "applied"
    conn.commit()
    stored = db.connect("admin").execute("SELECT payload_sha256 FROM k8sjob.periods").fetchone()
    assert stored == (sha256("10 € to Zoë".encode()).digest(),)
    again = refused(conn, "claim(%s, %s, %s)", JOB, PERIOD, "10 € to Zoë".encode())
    assert again.sqlstate == "KJ001"
    assert refused(conn, "claim_text(%s, %s, 'x')", JOB, PERIOD).sqlstate == "KJ002"


def test_a_text_payload_counts_as_its_utf8_bytes_whatever_the_clients_encoding_is(
    conn: Connection,
) -> None:
    conn.execute("SET client_encoding = 'LATIN1'")
    ask(conn, "claim_text(%s, %s, %s)", JOB, PERIOD, "Zoë")
    again = refused(conn, "claim(%s, %s, %s)", JOB, PERIOD, "Zoë".encode())
    assert again.sqlstate == "KJ001"


def test_no_text_is_no_payload(conn: Connection) -> None:
    ask(conn, "claim_text(%s, %s)", JOB, PERIOD)
    assert refused(conn, "claim(%s, %s)", JOB, PERIOD).sqlstate == "KJ001"
    assert refused(conn, "claim_text(%s, %s, '')", JOB, PERIOD).sqlstate == "KJ002"


def outcome(conn: Connection, period: str = PERIOD, payload: str | None = None) -> tuple[Any, ...]:
    """Return outcome and reason as try_claim answers them."""
    query = "SELECT outcome, reason FROM k8sjob.try_claim(%s, %s, %s::text::bytea)"
    row: tuple[Any, ...] | None = conn.execute(query, (JOB, period, payload)).fetchone()
    assert row
    return row


def test_try_claim_answers_applied_and_then_duplicate(conn: Connection) -> None:
    assert [outcome(conn), outcome(conn)] == [("applied", None), ("duplicate", None)]


@pytest.mark.parametrize("state", [State.BLOCKED, State.AWAITING, State.SKIPPED])
def test_try_claim_answers_with_the_reason_why_a_period_stands_still(
    db: Database, conn: Connection, state: State
) -> None:
    put(db, state)
    assert outcome(conn) == (str(state), "ask the bank")


def test_try_claim_raises_conflict_expired_and_future(db: Database, conn: Connection) -> None:
    assert outcome(conn, payload="a")[0] == "applied"
    assert refused(conn, "try_claim(%s, %s, 'b')", JOB, PERIOD).sqlstate == "KJ002"
    assert refused(conn, "try_claim(%s, '2999-01-01')", JOB).sqlstate == "KJ007"
    conn.rollback()
    set_floor(db)
    assert refused(conn, "try_claim(%s, %s)", JOB, PERIOD).sqlstate == "KJ006"


def test_the_attempt_is_the_one_given_else_the_current_runs_else_unknown(
    conn: Connection,
) -> None:
    def attempt(period: str) -> object:
        query = "SELECT attempt FROM k8sjob.periods WHERE period = %s"
        return conn.execute(query, (period,)).fetchall()[0][0]

    ask(conn, "claim(%s, '2024-01-01')", JOB)
    conn.execute("SELECT set_config('k8sjob.attempt', %s, true)", (str(MINE),))
    ask(conn, "claim(%s, '2024-01-02')", JOB)
    ask(conn, "claim(%s, '2024-01-03', NULL, %s)", JOB, OTHER)
    ask(conn, "claim_text(%s, '2024-01-04', NULL, %s)", JOB, OTHER)
    days = [f"2024-01-0{n}" for n in (1, 2, 3, 4)]
    assert [attempt(day) for day in days] == [None, MINE, OTHER, OTHER]
    assert str(Key.of(JOB, days[0])) in str(refused(conn, "claim(%s, '2024-01-01')", JOB))
    assert "by attempt unknown" in str(refused(conn, "claim(%s, '2024-01-01')", JOB))


def test_the_search_path_of_the_caller_plays_no_part(conn: Connection) -> None:
    conn.execute("CREATE TEMPORARY TABLE periods (job text, period text)")
    conn.execute("SET search_path = pg_temp, k8sjob")
    row = conn.execute("SELECT claim(%s, %s)", (JOB, PERIOD)).fetchone()
    assert row == ("applied",)
    conn.commit()
    assert conn.execute("SELECT state FROM k8sjob.periods").fetchall() == [("done",)]
