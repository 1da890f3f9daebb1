"""A prune that is killed, that waits, or that works beside claims leaves nothing half done."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import k8sjob
from tests.fix_stores import wait_until_blocked
from tests.people.conftest import JOB
from tests.people.test_prune import FEW, claim, floor, ten_done

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fix_stores import Connection
    from tests.people.conftest import Desk

ROOT = Path(k8sjob.__file__).parent.parent
GATE = 4712  # the advisory lock that stops a prune between floor and rows

STOP = f"""
CREATE FUNCTION app.stop_prune() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared({GATE});
  RETURN NULL;
END $$;
CREATE TRIGGER stop_prune BEFORE DELETE ON k8sjob.periods
  FOR EACH STATEMENT EXECUTE FUNCTION app.stop_prune();
"""


@pytest.fixture
def admin(pg_desk: Desk) -> Iterator[Connection]:
    """Look on as a superuser; a trigger that the test makes goes with it."""
    assert pg_desk.store.db
    admin = pg_desk.store.db.connect("admin", autocommit=True)
    yield admin
    admin.execute("DROP TRIGGER IF EXISTS stop_prune ON k8sjob.periods")
    admin.execute("DROP FUNCTION IF EXISTS app.stop_prune")


def start_prune(desk: Desk, *args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "k8sjob", "prune", JOB, "--older-than", "1d", *args],
        env={**os.environ, "K8SJOB_DSN": desk.dsn, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(admin: Connection, query: str, wanted: object) -> Any:
    row = None
    for _ in range(3000):
        row = admin.execute(query.encode()).fetchone()
        if row is not None and (wanted is None or row[0] == wanted):
            return row[0]
        threading.Event().wait(0.01)
    raise AssertionError(f"{query}: {row}")


BACKEND = (
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() "
    "AND application_name = 'k8sjob operator'"
)


def test_killed_between_floor_and_rows_it_leaves_both_as_they_were(
    pg_desk: Desk, admin: Connection
) -> None:
    ten_done(pg_desk)
    admin.execute(STOP.encode())
    admin.execute("SELECT pg_advisory_lock(%s)", [GATE])
    process = start_prune(pg_desk)
    backend = wait_for(admin, BACKEND, None)
    wait_until_blocked(admin, backend)
    process.kill()
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    admin.execute("SELECT pg_advisory_unlock(%s)", [GATE])
    gone = f"SELECT count(*) FROM pg_stat_activity WHERE pid = {backend}"
    wait_for(admin, gone, 0)
    assert (floor(pg_desk), len(pg_desk.states())) == (None, 10)
    assert [claim(pg_desk, key) for key in FEW] == ["duplicate"] * 10
    assert pg_desk.call("prune", JOB, "--older-than", "1d").code == 0
    assert pg_desk.states() == {}
    assert [claim(pg_desk, key) for key in FEW] == ["expired"] * 10


def test_killed_between_two_batches_it_goes_on_where_it_stopped(
    pg_desk: Desk, admin: Connection
) -> None:
    ten_done(pg_desk)
    # The fourth batch of one finds its gate locked: three have been committed by then.
    admin.execute(
        f"""CREATE FUNCTION app.stop_prune() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
              IF (SELECT count(*) FROM k8sjob.periods) = 7 THEN
                PERFORM pg_advisory_xact_lock_shared({GATE});
              END IF;
              RETURN NULL;
            END $$;
            CREATE TRIGGER stop_prune BEFORE DELETE ON k8sjob.periods
              FOR EACH STATEMENT EXECUTE FUNCTION app.stop_prune();""".encode()
    )
    admin.execute("SELECT pg_advisory_lock(%s)", [GATE])
    process = start_prune(pg_desk, "--batch", "1")
    backend = wait_for(admin, BACKEND, None)
    wait_until_blocked(admin, backend)
    process.kill()
    process.communicate(timeout=60)
    admin.execute("SELECT pg_advisory_unlock(%s)", [GATE])
    wait_for(admin, f"SELECT count(*) FROM pg_stat_activity WHERE pid = {backend}", 0)
    assert (floor(pg_desk), sorted(pg_desk.states())) == ("2026-01-03", FEW[3:])
    assert [claim(pg_desk, key) for key in FEW] == ["expired"] * 3 + ["duplicate"] * 7
    told = pg_desk.call("prune", JOB, "--older-than", "1d")
    assert told.out.startswith(f"{JOB}  7 periods")


def test_a_job_that_is_held_too_long_is_told_and_does_not_keep_the_others(
    pg_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    pg_desk.know("ops/vacuum")
    for name in (JOB, "ops/vacuum"):
        pg_desk.put("done", f"{name}:2026-01-01")
    assert pg_desk.store.db
    runner = pg_desk.store.db.connect("runner")
    runner.execute("SELECT k8sjob.claim(%s, '2026-01-05')", [JOB])
    monkeypatch.setenv("K8SJOB_LOCK_TIMEOUT", "100ms")
    told = pg_desk.call("prune", "-A", "--older-than", "1d", "--yes")
    assert told.code == 1
    assert f"could not prune periods of {JOB}: another transaction holds it" in told.err
    assert list(pg_desk.states()) == [f"{JOB}:2026-01-01"]
    runner.commit()
    assert pg_desk.call("prune", "-A", "--older-than", "1d", "--yes").code == 0
    assert pg_desk.states() == {}


def test_beside_running_claims_nothing_is_lost_and_nothing_done_twice(pg_desk: Desk) -> None:
    ten_done(pg_desk)
    assert pg_desk.store.db
    days = [f"2026-02-{day:02}" for day in range(1, 29)]
    applied: list[str] = []
    conns = [pg_desk.store.db.connect("runner") for _ in range(3)]
    begin = threading.Barrier(len(conns) + 1, timeout=30)

    def run(conn: Connection) -> None:
        begin.wait()
        for day in days:
            try:
                row = conn.execute(
                    "SELECT (k8sjob.try_claim(%s, %s)).outcome", (JOB, day)
                ).fetchone()
            except psycopg.Error as error:
                if error.sqlstate != "KJ006":
                    raise
                conn.rollback()
                continue
            if row == ("applied",):
                applied.append(day)
            conn.commit()

    threads = [threading.Thread(target=run, args=[conn]) for conn in conns]
    for thread in threads:
        thread.start()
    begin.wait()
    for _ in range(5):
        told = pg_desk.call("prune", JOB, "--before", "2026-02-15", "--batch", "2")
        assert told.code == 0, told
    for thread in threads:
        thread.join(60)
    assert len(applied) == len(set(applied)), "a pruned period was applied again"
    assert set(days[14:]) <= set(applied)
    assert pg_desk.call("prune", JOB, "--before", "2026-02-15").code == 0
    assert sorted(pg_desk.states()) == [f"{JOB}:{day}" for day in days[14:]]
