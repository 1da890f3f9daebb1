"""Python, Postgres and SQLite take the same texts for periods and jobs, and refuse all others."""

from __future__ import annotations

import sqlite3
from calendar import monthrange
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings

from k8sjob import claim, try_claim
from k8sjob.errors import InvalidKey
from k8sjob.key import JobName
from k8sjob.period import Period
from tests.integration.texts import ANY_JOBS, ANY_PERIODS, JOBS, PERIODS, batches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from tests.fix_stores import Connection, Database, Store

JOB, PERIOD = "billing/daily-credit", "2026-09-13"

# The examples share a database: no example changes anything in it.
BATCHES = settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])


def python_kind(text: str) -> str | None:
    """Return the cycle that Python reads; None where it refuses."""
    try:
        return str(Period.parse(text).cycle)
    except InvalidKey:
        return None


def python_takes_period(text: str) -> bool:
    """Tell whether Python reads a period."""
    return python_kind(text) is not None


def python_takes_job(text: str) -> bool:
    """Tell whether Python reads the name of a job."""
    try:
        return str(JobName.parse(text)) == text
    except InvalidKey:
        return False


def differences(theirs: dict[str, Any], ours: Callable[[str], Any]) -> dict[str, Any]:
    """Return the texts of which ``theirs`` says something else than ``ours``, with both answers."""
    assert theirs
    return {text: (said, ours(text)) for text, said in theirs.items() if said != ours(text)}


def postgres(conn: Connection, expression: str, texts: Iterable[str]) -> dict[str, Any]:
    """Return what ``expression`` makes of each text ``t``; no text of Postgres holds a NUL."""
    query = f"SELECT t, {expression} FROM unnest(%s::text[]) t"
    return dict(conn.execute(query.encode(), ([t for t in texts if "\0" not in t],)).fetchall())


TRY_TO_INSERT = """
CREATE FUNCTION pg_temp.takes(job text, period text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO k8sjob.periods (job, period, scheduled_for, state, origin) VALUES (job, period,
    CASE WHEN k8sjob.period_kind(period) = 'scheduled' THEN k8sjob.period_instant(period) END,
    'open', 'test');
  RAISE EXCEPTION 'give it back' USING ERRCODE = 'KJ000';
EXCEPTION
  WHEN SQLSTATE 'KJ000' THEN RETURN true;
  -- Which CHECK speaks first is not said: the one on the instant trips over what is no date.
  WHEN check_violation OR data_exception THEN RETURN false;
END $$"""


@pytest.fixture
def owner(db: Database) -> Connection:
    """Connect as the owner, who alone may insert; only the CHECKs stand in the way."""
    conn = db.connect("owner", autocommit=True)
    conn.execute(TRY_TO_INSERT)
    return conn


@pytest.fixture
def lite(sqlite_path: Path) -> Iterator[sqlite3.Connection]:
    """Open a SQLite ledger."""
    with closing(sqlite3.connect(sqlite_path)) as conn:
        yield conn


def sqlite_takes(conn: sqlite3.Connection, keys: Iterable[tuple[str, str]]) -> list[bool]:
    """Try to insert each of the keys, and take all back."""
    insert = """INSERT INTO k8sjob_periods (job, period, state, origin, changed_at)
                VALUES (?, ?, 'open', 'test', '')"""
    taken = []
    for key in keys:
        try:
            conn.execute(insert, key)
        except sqlite3.IntegrityError:
            taken.append(False)
        else:
            taken.append(True)
    conn.rollback()
    return taken


def sqlite_periods(conn: sqlite3.Connection, texts: Iterable[str]) -> dict[str, bool]:
    """Return for each text whether SQLite stores it as a period."""
    once = list(dict.fromkeys(texts))
    return dict(zip(once, sqlite_takes(conn, ((JOB, text) for text in once)), strict=True))


def sqlite_jobs(conn: sqlite3.Connection, texts: Iterable[str]) -> dict[str, bool]:
    """Return for each text whether SQLite stores it as a job."""
    once = list(dict.fromkeys(texts))
    return dict(zip(once, sqlite_takes(conn, ((text, PERIOD) for text in once)), strict=True))


def test_the_lists_hold_good_and_bad_texts_of_every_kind() -> None:
    kinds = Counter(map(python_kind, PERIODS))
    assert kinds.pop("once") == 1
    assert min(kinds.values()) > 10
    assert set(kinds) == {"scheduled", "day", "week", "month", None}
    jobs = Counter(map(python_takes_job, JOBS))
    assert jobs[True] > 20
    assert jobs[False] > 80


# ---------------------------------------------------------------------------------- periods


def test_postgres_reads_the_listed_periods_as_python_does(owner: Connection) -> None:
    assert differences(postgres(owner, "k8sjob.period_kind(t)", PERIODS), python_kind) == {}


def test_postgres_stores_the_listed_periods_that_python_reads(owner: Connection) -> None:
    taken = postgres(owner, f"pg_temp.takes('{JOB}', t)", PERIODS)
    assert differences(taken, python_takes_period) == {}


def test_sqlite_stores_the_listed_periods_that_python_reads(lite: sqlite3.Connection) -> None:
    assert differences(sqlite_periods(lite, PERIODS), python_takes_period) == {}


@BATCHES
@given(texts=batches(ANY_PERIODS))
def test_postgres_reads_any_period_as_python_does(owner: Connection, texts: list[str]) -> None:
    assert differences(postgres(owner, "k8sjob.period_kind(t)", texts), python_kind) == {}
    taken = postgres(owner, f"pg_temp.takes('{JOB}', t)", texts)
    assert differences(taken, python_takes_period) == {}


@BATCHES
@given(texts=batches(ANY_PERIODS))
def test_sqlite_stores_any_period_that_python_reads(
    lite: sqlite3.Connection, texts: list[str]
) -> None:
    assert differences(sqlite_periods(lite, texts), python_takes_period) == {}


def test_a_period_of_each_kind_is_claimed_on_each_store(store: Store) -> None:
    path = store.path
    conn = sqlite3.connect(path) if path else psycopg.connect(store.dsn)
    with closing(conn):
        for period in ("2026-09-13T00:00:00Z", "2026-09-13", "2026-W37", "2026-09", "once"):
            key = f"billing/{Period(period).cycle}:{period}"
            assert claim(conn, key).applied
            assert not try_claim(conn, key).applied
        conn.commit()
    assert store.query(f"SELECT count(*) FROM {store.table('periods')}") == [(5,)]


# ------------------------------------------------------------------------------------- jobs


def test_postgres_takes_the_listed_jobs_that_python_reads(owner: Connection) -> None:
    assert differences(postgres(owner, "k8sjob.is_job(t)", JOBS), python_takes_job) == {}
    taken = postgres(owner, f"pg_temp.takes(t, '{PERIOD}')", JOBS)
    assert differences(taken, python_takes_job) == {}


def test_sqlite_takes_the_listed_jobs_that_python_reads(lite: sqlite3.Connection) -> None:
    assert differences(sqlite_jobs(lite, JOBS), python_takes_job) == {}


@BATCHES
@given(texts=batches(ANY_JOBS))
def test_postgres_takes_any_job_that_python_reads(owner: Connection, texts: list[str]) -> None:
    assert differences(postgres(owner, "k8sjob.is_job(t)", texts), python_takes_job) == {}


@BATCHES
@given(texts=batches(ANY_JOBS))
def test_sqlite_takes_any_job_that_python_reads(lite: sqlite3.Connection, texts: list[str]) -> None:
    assert differences(sqlite_jobs(lite, texts), python_takes_job) == {}


def test_postgres_cuts_the_part_off_as_python_does(owner: Connection) -> None:
    whole = postgres(owner, "k8sjob.whole_job(t)", filter(python_takes_job, JOBS))
    assert differences(whole, lambda text: str(JobName.parse(text).job)) == {}


def test_every_table_of_postgres_checks_its_keys(owner: Connection) -> None:
    checks = """
        SELECT c.relname, a.attname, coalesce(string_agg(pg_get_constraintdef(k.oid), ' '), '')
          FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
          LEFT JOIN pg_constraint k
            ON k.conrelid = c.oid AND k.contype = 'c' AND a.attnum = ANY (k.conkey)
         WHERE c.relnamespace = 'k8sjob'::regnamespace AND c.relkind = 'r'
           AND a.attname IN ('job', 'period')
         GROUP BY c.relname, a.attname"""
    wanted = {"job": "is_job(job)", "period": "period_kind(period)"}
    found = owner.execute(checks).fetchall()
    assert {(table, column) for table, column, text in found if wanted[column] not in text} == {
        ("counters", "job")  # moved at an attempt's end only, with the attempt's own job
    }
    assert len(found) > 10


# --------------------------------------------------------------------------------- instants

LAST_DAYS = [
    f"{year}-{month:02}-{monthrange(year, month)[1]}"
    for year in (1970, 2000, 2024, 2999)
    for month in (1, 2, 12)
]
SCHEDULED = [f"{day}T{at}Z" for day in LAST_DAYS for at in ("00:00:00", "12:34:56", "23:59:59")]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NATURAL = [
    *(f"{EPOCH + timedelta(days=97 * n):%Y-%m-%d}" for n in range(300)),
    *(f"{year}-W{week:02}" for year in range(1970, 2040, 3) for week in (1, 2, 13, 26, 39, 52)),
    *(f"{year}-{month:02}" for year in range(1970, 2040, 3) for month in range(1, 13)),
    *("2020-W53", "2026-W53", "2999-W52", "2999-12", "2999-12-31", "2000-02-29", "2011-12-31"),
]
# Where days begin first; the other zones are tried with a part of the texts.
EAST = ["Etc/GMT-14", "Pacific/Kiritimati", "Pacific/Apia", "Pacific/Tongatapu", "Pacific/Chatham"]


def test_postgres_reads_the_instant_of_a_scheduled_period(owner: Connection) -> None:
    owner.execute("SET timezone = 'America/St_Johns'")  # which must not matter
    instants = postgres(owner, "k8sjob.period_instant(t)", [*SCHEDULED, *NATURAL, "once"])
    assert differences(instants, lambda text: Period(text).scheduled_for(None)) == {}


def test_the_earliest_start_is_that_of_the_first_zone(owner: Connection) -> None:
    owner.execute("SET timezone = 'America/St_Johns'")
    earliest = postgres(owner, "k8sjob.earliest_start(t)", [*SCHEDULED, *NATURAL, "once"])
    assert differences(earliest, lambda text: Period(text).scheduled_for("Etc/GMT-14")) == {}


def test_no_natural_period_starts_before_its_earliest_start_in_any_zone(owner: Connection) -> None:
    zones = (files("tzdata") / "zones").read_text().split()
    assert set(EAST) < set(zones)
    earliest = postgres(owner, "k8sjob.earliest_start(t)", NATURAL)
    early = {}
    for n, (text, limit) in enumerate(earliest.items()):
        for zone in EAST if n % 25 else zones:
            start = Period(text).scheduled_for(zone)
            if start is None or start < limit:
                early[text, zone] = (start, limit)
    assert early == {}
