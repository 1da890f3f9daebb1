"""A step that fails, or whose client dies in the middle, leaves nothing behind."""

from __future__ import annotations

import signal

import psycopg
import pytest

from k8sjob.ledger import migrate
from tests.fix_stores import wait_until_blocked
from tests.migration.catalogue import catalogue
from tests.migration.empty import APPLIED, STEPS, WAIT_S, Empty

NEXT = len(STEPS) + 1
BROKEN = migrate.Migration(
    NEXT,
    "broken",
    "CREATE TABLE k8sjob.half (a integer);\nALTER TABLE k8sjob.jobs ADD COLUMN half integer;\n"
    "SELECT 1 / 0;\n",
    "0.1.0",
)


def test_a_migration_killed_in_the_middle_leaves_nothing(empty: Empty) -> None:
    rival = empty.db.connect("admin")
    # Half of the step is done when it comes to its trigger.
    rival.execute("LOCK TABLE pg_catalog.pg_trigger IN SHARE MODE")
    process = empty.start_migrate()
    empty.wait_for(
        """SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
              AND application_name = 'k8sjob migrate' AND wait_event_type = 'Lock'""",
        1,
    )
    (backend,) = empty.backends()
    wait_until_blocked(empty.admin, backend)
    process.kill()
    process.communicate(timeout=WAIT_S)
    assert process.returncode == -signal.SIGKILL

    rival.rollback()
    empty.wait_for(f"SELECT count(*) FROM pg_stat_activity WHERE pid = {backend}", 0)
    assert empty.rows("SELECT to_regnamespace('k8sjob')") == [(None,)]
    assert empty.migrate() == (0, APPLIED, "")


def test_the_next_migration_waits_until_the_killed_one_is_gone(empty: Empty) -> None:
    rival = empty.db.connect("admin")
    rival.execute("LOCK TABLE pg_catalog.pg_trigger IN SHARE MODE")
    process = empty.start_migrate()
    blocked = """SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
                    AND application_name = 'k8sjob migrate' AND wait_event_type = 'Lock'"""
    empty.wait_for(blocked, 1)
    process.kill()
    process.communicate(timeout=WAIT_S)
    successor = empty.start_migrate()
    empty.wait_for(blocked, 2)
    rival.rollback()
    out, err = successor.communicate(timeout=WAIT_S)
    assert (successor.returncode, out, err) == (0, APPLIED, "")


def test_a_step_that_fails_is_rolled_back_whole(empty: Empty) -> None:
    empty.migrate()
    before = catalogue(empty)
    owner = empty.db.connect("owner", autocommit=True)
    with pytest.raises(psycopg.errors.DivisionByZero):
        migrate._apply(owner, BROKEN)  # noqa: SLF001  # the one seam for a step that is not ours
    assert catalogue(empty) == before


def test_a_step_that_follows_is_applied_once(empty: Empty) -> None:
    empty.migrate()
    step = migrate.Migration(NEXT, "more", "CREATE TABLE k8sjob.more (a integer);\n", "0.1.0")
    owner = empty.db.connect("owner", autocommit=True)
    assert migrate._apply(owner, step)  # noqa: SLF001  # as above
    assert not migrate._apply(owner, step)  # noqa: SLF001  # as above
    assert empty.versions() == [*STEPS, (NEXT, "more")]
