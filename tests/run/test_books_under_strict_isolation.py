from __future__ import annotations

import pytest

from tests.run.commandline import CREDIT, JOB, CommandLine
from tests.run.wired import in_background, wait_for_waiter


@pytest.mark.parametrize("level", [r"repeatable\ read", "serializable"])
def test_the_start_row_is_written_in_spite_of_a_rival(pg: CommandLine, level: str) -> None:
    db = pg.store.db
    assert db
    admin = db.connect("admin", autocommit=True)
    rival = db.connect("admin")
    rival.execute("INSERT INTO k8sjob.jobs (job) VALUES (%s)", (JOB,))
    strict = db.dsn("runner", options=f"-c default_transaction_isolation={level}")
    with in_background(lambda: pg.run(pg.file(CREDIT), dsn=strict)) as result:
        wait_for_waiter(admin, "start_attempt")
        rival.commit()
        told = result()
    assert (told.code, pg.balance()) == (0, 10)
    assert [tried.ending for tried in pg.attempts()] == [("applied", 0)]


@pytest.mark.parametrize("level", [r"repeatable\ read", "serializable"])
def test_the_end_row_is_written_in_spite_of_a_rival(pg: CommandLine, level: str) -> None:
    db = pg.store.db
    assert db
    assert pg.run(pg.file("SELECT 1"), period="2026-09-12").code == 0
    admin = db.connect("admin", autocommit=True)
    rival = db.connect("admin")
    rival.execute("UPDATE k8sjob.counters SET n = n + 1")
    strict = db.dsn("runner", options=f"-c default_transaction_isolation={level}")
    with in_background(lambda: pg.run(pg.file(CREDIT), dsn=strict)) as result:
        wait_for_waiter(admin, "end_attempt")
        rival.commit()
        told = result()
    assert (told.code, told.err) == (0, "")
    assert pg.last().ending == ("applied", 0)
