"""A process that is killed while its statement runs: the server sees it, and lets go of the key."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

from tests.acceptance.processes import JOB, TIMEOUT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.acceptance.processes import Processes
    from tests.fix_stores import Connection, Database

LONG = "UPDATE app.accounts SET balance = balance + 10;\nSELECT pg_sleep(600);\n"
AT_IT = """SELECT FROM pg_stat_activity WHERE datname = current_database()
              AND wait_event = 'PgSleep' AND application_name LIKE 'k8sjob %'"""


def _see(admin: Connection, *, at_it: bool) -> None:
    give_up = time.monotonic() + TIMEOUT
    while bool(admin.execute(AT_IT).fetchall()) != at_it:
        assert time.monotonic() < give_up, f"never seen {'at' if at_it else 'without'} a statement"
        threading.Event().wait(0.05)


def test_a_long_statement_of_a_killed_process_does_not_hold_its_period(
    db: Database, processes: Processes, tmp_path: Path
) -> None:
    admin = db.connect("admin", autocommit=True)
    sql = tmp_path / "long.sql"
    sql.write_text(LONG, "utf-8")
    args = ("--job", JOB, "--period", "2026-09-13", "--lock-timeout", "60s")
    env = {"K8SJOB_DSN": db.dsn()}
    child = processes.start("run", os.fspath(sql), *args, env=env)
    _see(admin, at_it=True)

    child.kill()
    _see(admin, at_it=False)  # the sleep would go on for ten minutes

    sql.write_text(LONG.splitlines()[0], "utf-8")
    assert processes.run("run", os.fspath(sql), *args, env=env).code == 0
    assert admin.execute("SELECT balance FROM app.accounts").fetchone() == (10,)
