from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

from k8sjob.states import Outcome
from tests.run.commandline import CREDIT, KEY, CommandLine, assert_refused, never
from tests.run.wired import in_background, wait_for_waiter

if TYPE_CHECKING:
    from collections.abc import Callable

WAIT = 30.0  # seconds


def holding(cli: CommandLine, then: Callable[[], None]) -> None:
    """Call ``then`` while another run of the key is in the middle of its target."""
    inside, go_on = threading.Event(), threading.Event()

    def work(run: Any) -> None:
        inside.set()
        assert go_on.wait(WAIT)
        run.conn.execute(CREDIT)

    with in_background(lambda: cli.run(work)) as result:
        assert inside.wait(WAIT)
        try:
            then()
        finally:
            go_on.set()
        assert result().code == 0
    assert cli.balance() == 10


def test_a_rival_that_does_not_let_go_makes_a_run_busy(pg: CommandLine) -> None:
    def rival() -> None:
        said = assert_refused(pg, Outcome.BUSY, 75, "--lock-timeout", "100ms")
        holder = pg.attempts()[0]
        assert "another transaction holds it" in said
        assert f"attempt {holder.id}" in said
        assert f"k8sjob {KEY}" in said  # the application_name of its connection
        assert "run the same command again" in said

    holding(pg, rival)


def test_a_rival_that_does_not_let_go_of_the_file_makes_a_run_busy(lite: CommandLine) -> None:
    def rival() -> None:
        told = lite.run(never, "--lock-timeout", "100ms")
        (holder,) = lite.attempts()  # a second one cannot be written
        assert told.code == 75
        assert f"{KEY} busy: another transaction holds it: attempt {holder.id}" in told.err
        assert f"process {os.getpid()}" in told.err

    holding(lite, rival)


def test_a_run_waits_for_its_rival_and_is_a_duplicate(pg: CommandLine) -> None:
    assert pg.store.db
    admin = pg.store.db.connect("admin", autocommit=True)
    inside, go_on = threading.Event(), threading.Event()

    def work(run: Any) -> None:
        inside.set()
        assert go_on.wait(WAIT)
        run.conn.execute(CREDIT)

    with in_background(lambda: pg.run(work)) as first:
        assert inside.wait(WAIT)
        with in_background(lambda: pg.run(never)) as second:
            wait_for_waiter(admin, "run_claim")
            go_on.set()
            assert second().code == 0
        assert first().code == 0
    assert sorted(str(tried.outcome) for tried in pg.attempts()) == ["applied", "duplicate"]
    assert pg.balance() == 10


def test_a_reader_that_keeps_the_file_makes_the_commit_a_failure_for_now(
    lite: CommandLine,
) -> None:
    assert lite.store.path
    with closing(sqlite3.connect(lite.store.path)) as reader:

        def work(run: Any) -> None:
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM accounts").fetchall()
            run.conn.execute(CREDIT)

        told = lite.run(work, "--lock-timeout", "100ms")
    assert told.code == 75
    assert "the commit failed: database is locked" in told.err
    assert (lite.balance(), lite.state()) == (0, None)
