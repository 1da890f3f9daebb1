"""However often and from wherever ``k8sjob migrate`` is started, each step is applied once."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from k8sjob.ledger.migrate import LOCK
from tests.migration.empty import APPLIED, STEPS, Told, end, start

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.migration.empty import Empty, Terminal

AT_ONCE = 8
FILE_STEPS = [(1, "ledger")]
UP_TO_DATE = Told(0, "", "the ledger is up to date\n")


def test_an_empty_database_gets_a_ledger(empty: Empty) -> None:
    assert end(empty.start_migrate()) == (0, APPLIED, "")
    assert empty.versions() == STEPS
    owners = "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'k8sjob'"
    assert empty.rows(owners) == [("k8sjob_owner",)]


def test_a_second_migration_finds_nothing_to_do(empty: Empty) -> None:
    empty.migrate()
    owner = empty.db.connect("owner")
    owner.execute("INSERT INTO k8sjob.jobs (job) VALUES ('billing/daily-credit')")
    owner.commit()
    before = empty.rows("SELECT xmin::text, * FROM k8sjob.migrations")
    assert empty.migrate() == UP_TO_DATE
    assert empty.rows("SELECT xmin::text, * FROM k8sjob.migrations") == before
    assert empty.rows("SELECT job FROM k8sjob.jobs") == [("billing/daily-credit",)]


def test_of_eight_at_once_one_applies_each_step_and_all_succeed(empty: Empty) -> None:
    _see_each_step_applied_once(_start_at_once(empty, AT_ONCE))
    assert empty.versions() == STEPS


def test_two_at_once_succeed_where_transactions_are_serializable_by_default(
    empty: Empty,
) -> None:
    # A snapshot taken before the wait would not show that another one has applied the step.
    empty.run(f"ALTER DATABASE {empty.db.name} SET default_transaction_isolation = 'serializable'")
    _see_each_step_applied_once(_start_at_once(empty, 2))


def _see_each_step_applied_once(told: list[Told]) -> None:
    """See that all succeed; one step may be applied by one process and the next by another."""
    lines = [line for process in told for line in process.out.splitlines(keepends=True)]
    assert "".join(sorted(lines)) == APPLIED
    for process in told:
        assert process.code == 0
        assert process.out or process == UP_TO_DATE


def _start_at_once(empty: Empty, count: int) -> list[Told]:
    """Let go of them once all wait for the lock of migrations."""
    empty.run(f"SELECT pg_advisory_lock({LOCK})")
    processes = [empty.start_migrate() for _ in range(count)]
    empty.wait_for(
        """SELECT count(*) FROM pg_locks
            WHERE locktype = 'advisory' AND NOT granted
              AND database = (SELECT oid FROM pg_database WHERE datname = current_database())""",
        count,
    )
    empty.run(f"SELECT pg_advisory_unlock({LOCK})")
    return [end(process) for process in processes]


def test_no_step_needs_more_than_ascii() -> None:
    # Postgres turns a statement into the database's encoding, and LATIN1 has no ellipsis.
    from k8sjob.ledger.migrate import migrations

    assert [step for step in migrations() if not step.script.isascii()] == []


def test_a_sqlite_file_gets_a_ledger_once(
    terminal: Terminal, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    from tests.fix_report import SQLITE, uses

    uses(request.node, SQLITE)
    dsn = f"sqlite:///{tmp_path}/new.db"
    told = [end(process) for process in [start(dsn, "migrate") for _ in range(AT_ONCE)]]
    applied = Told(0, "applied 0001 ledger\n", "")
    assert sorted(told) == sorted([applied] + [UP_TO_DATE] * (AT_ONCE - 1))
    assert terminal.call(dsn, "migrate") == UP_TO_DATE
    with closing(sqlite3.connect(tmp_path / "new.db")) as conn:
        assert conn.execute("SELECT version, name FROM k8sjob_migrations").fetchall() == FILE_STEPS


def test_nothing_can_be_granted_in_a_sqlite_file(
    terminal: Terminal, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    from tests.fix_report import SQLITE, uses

    uses(request.node, SQLITE)
    told = terminal.call(f"sqlite:///{tmp_path}/new.db", "migrate", "--grant-runner", "shop_app")
    assert (told.code, told.out, "has no roles" in told.err) == (64, "", True)
    assert not (tmp_path / "new.db").exists()
