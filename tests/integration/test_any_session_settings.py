"""What a database or a role has set for its sessions changes no answer of the ledger."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import sql

from k8sjob import NotApplied, Outcome, claim, try_claim
from tests.migration.empty import end, start

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fix_stores import Connection, Database

JOB = "billing/daily-credit"
KEY = f"{JOB}:2026-09-13T00:00:00Z"

SETTINGS = {
    "DateStyle": "SQL, DMY",
    "IntervalStyle": "iso_8601",
    "TimeZone": "America/St_Johns",
    "bytea_output": "escape",
    "search_path": "",
    "standard_conforming_strings": "off",
    "escape_string_warning": "off",
    "transform_null_equals": "on",
    "default_transaction_isolation": "serializable",
    "default_transaction_deferrable": "on",
    "lock_timeout": "0",
    "plan_cache_mode": "force_generic_plan",
    "extra_float_digits": "-5",
}


def _set(conn: Connection, name: str, value: str) -> None:
    """Make it the default of the runner's next sessions in this database."""
    words = {"database": sql.Identifier(conn.info.dbname), "name": sql.Identifier(name)}
    statement = "ALTER ROLE k8sjob_runner IN DATABASE {database} SET {name} = {value}"
    conn.execute(sql.SQL(statement).format(value=value, **words))


@pytest.fixture
def odd(db: Database) -> Database:
    """Give a database to the test in which the runner's sessions have odd settings."""
    admin = db.connect("admin", autocommit=True)
    for name, value in SETTINGS.items():
        _set(admin, name, value)
    return db


def test_the_settings_are_in_force(odd: Database) -> None:
    conn = odd.connect("runner")
    for name in ("DateStyle", "TimeZone", "standard_conforming_strings"):
        assert conn.execute(f"SHOW {name}".encode()).fetchone() == (SETTINGS[name],)


def test_claims_answer_as_ever(odd: Database) -> None:
    before = datetime.now(UTC) - timedelta(minutes=1)
    with odd.connect("runner") as conn:
        first = claim(conn, KEY, payload=b"paid\xff")
        again = try_claim(conn, KEY, payload=b"paid\xff")
        with pytest.raises(NotApplied, match=sha256(b"paid\xff").hexdigest()[:16]) as caught:
            claim(conn, KEY)
    assert first.done_at
    assert first.done_at > before
    assert (again.outcome, again.done_at) == (Outcome.DUPLICATE, first.done_at)
    assert (again.attempt, again.payload_sha256) == (first.attempt, first.payload_sha256)
    assert caught.value.outcome is Outcome.CONFLICT


def test_a_run_ends_as_ever(odd: Database, tmp_path: Path) -> None:
    file = tmp_path / "credit.sql"
    file.write_text("UPDATE app.accounts SET balance = balance + 10 WHERE name = 'alice';")
    args = ("run", str(file), "--job", JOB, "--period", "2026-09-13T00:00:00Z")
    dsn = odd.dsn("runner")
    first, again = end(start(dsn, *args)), end(start(dsn, *args))
    assert (first.code, again.code) == (0, 0), (first, again)
    admin = odd.connect("admin")
    assert admin.execute("SELECT balance FROM app.accounts").fetchall() == [(10,)]
    outcomes = "SELECT outcome FROM k8sjob.attempts ORDER BY started_at"
    assert admin.execute(outcomes).fetchall() == [("applied",), ("duplicate",)]
    row = "SELECT scheduled_for FROM k8sjob.periods"
    assert admin.execute(row).fetchall() == [(datetime(2026, 9, 13, tzinfo=UTC),)]


def test_a_reason_is_a_reason_in_every_session(odd: Database) -> None:
    with odd.connect("runner") as conn:
        say = "SELECT k8sjob.block(%s, %s, %s, until => %s)"
        until = datetime.now(UTC) + timedelta(hours=1)
        period = "2026-09-13T00:00:00Z"
        assert conn.execute(say, (JOB, period, "no feed", until)).fetchone() == ("blocked",)
        answer = try_claim(conn, KEY)
        assert (answer.reason, answer.until) == ("no feed", until)
        with pytest.raises(psycopg.Error, match="a reason is needed"):
            conn.execute(say, (JOB, "2026-09-14T00:00:00Z", " \t\n", None))
        conn.rollback()
