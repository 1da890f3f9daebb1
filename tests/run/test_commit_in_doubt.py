from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.run import doubt, points
from k8sjob.states import Awaiting
from tests.run.commandline import CREDIT, KEY, CommandLine
from tests.run.wired import (
    KINDS,
    Kind,
    closed_gate,
    credit,
    in_background,
    open_gate,
    wait_for_waiter,
    wired,
)
from tests.wire_frames import is_commit

if TYPE_CHECKING:
    from tests.fix_stores import Connection


@pytest.mark.parametrize("kind", KINDS)
def test_a_commit_that_the_server_got_is_applied_without_another_run(
    pg: CommandLine, kind: Kind
) -> None:
    with wired(pg) as wire:
        cut = wire.proxy.cut_commit(forward=True)
        told = wire.run(credit(pg, kind))
        runs = wire.sent(CREDIT)
    assert cut.answers == ["COMMIT"]  # the server's word, which never arrived
    assert (told.code, runs) == (0, 1)
    assert told.out.startswith(f"{KEY} applied in ")
    assert (pg.state(), pg.balance()) == ("done", 10)
    assert [tried.ending for tried in pg.attempts()] == [("applied", 0)]


def test_a_hand_over_that_the_server_got_is_awaited(pg: CommandLine) -> None:
    def work(run: Any) -> Awaiting:
        run.conn.execute(CREDIT)
        return Awaiting(reason="the bank is at it")

    with wired(pg) as wire:
        wire.proxy.cut_commit(forward=True)
        told = wire.run(work)
        assert (told.code, wire.sent(CREDIT)) == (0, 1)
    assert told.out.startswith(f"{KEY} awaiting: the bank is at it")
    assert (pg.state(), pg.balance()) == ("awaiting", 10)
    assert [tried.ending for tried in pg.attempts()] == [("awaiting", 0)]


def test_a_commit_that_failed_unheard_is_run_again_and_heard(pg: CommandLine) -> None:
    pg.query("ALTER TABLE app.accounts ADD COLUMN n int UNIQUE DEFERRABLE INITIALLY DEFERRED")
    twice = "INSERT INTO accounts VALUES ('bob', 0, 1), ('carol', 0, 1)"
    with wired(pg) as wire:
        cut = wire.proxy.cut_commit(forward=True)
        told = wire.run(pg.file(f"{CREDIT}; {twice}"))
        assert wire.sent(CREDIT) == 2
    assert cut.answers == ["23505"]
    assert told.code == 1
    assert "duplicate key value violates unique constraint" in told.err
    assert (pg.state(), pg.balance()) == (None, 0)
    assert [tried.ending for tried in pg.attempts()] == [("failed", 1)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_commit_that_the_server_never_got_is_run_again(pg: CommandLine, kind: Kind) -> None:
    with wired(pg) as wire:
        cut = wire.proxy.cut_commit(forward=False)
        told = wire.run(credit(pg, kind))
        runs = wire.sent(CREDIT)
    assert not cut.forwarded
    assert (told.code, runs) == (0, 2)
    assert told.out.startswith(f"{KEY} applied in ")
    assert (pg.state(), pg.balance()) == ("done", 10)
    assert [tried.ending for tried in pg.attempts()] == [("applied", 0)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_commit_that_the_server_is_still_at_is_waited_for(pg: CommandLine, kind: Kind) -> None:
    assert pg.store.db
    with wired(pg) as wire, closed_gate(pg.store.db) as admin:
        wire.proxy.cut_commit(forward=True, await_answer=False)
        with in_background(lambda: wire.run(credit(pg, kind))) as result:
            wait_for_waiter(admin, "k8sjob.landed")
            assert (pg.state(), pg.balance()) == (None, 0)
            open_gate(admin)
            told = result()
        runs = wire.sent(CREDIT)
    assert (told.code, runs) == (0, 1)
    assert (pg.state(), pg.balance()) == ("done", 10)
    assert [tried.ending for tried in pg.attempts()] == [("applied", 0)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_commit_that_outlasts_the_lock_timeout_is_in_doubt_and_may_land_later(
    pg: CommandLine, kind: Kind
) -> None:
    assert pg.store.db
    with wired(pg) as wire, closed_gate(pg.store.db) as admin:
        cut = wire.proxy.cut_commit(forward=True, await_answer=False)
        told = wire.run(credit(pg, kind), "--lock-timeout", "200ms")
        assert told.code == 75
        assert told.err.startswith(f"k8sjob: {KEY} in doubt: the connection broke at COMMIT")
        assert "Run the same command again: it finds out." in told.err
        assert [tried.ending for tried in pg.attempts()] == [("in-doubt", 75)]
        assert (pg.state(), pg.balance()) == (None, 0)
        assert wire.sent(CREDIT) == 1

        open_gate(admin)
        assert cut.answered.wait(30)
    assert (pg.state(), pg.balance()) == ("done", 10)
    again = pg.run(credit(pg, kind))
    assert (again.code, pg.balance()) == (0, 10)
    assert [tried.outcome for tried in pg.attempts()] == ["in-doubt", "duplicate"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_commit_in_doubt_that_the_server_gives_up_is_done_by_the_next_run(
    pg: CommandLine, kind: Kind
) -> None:
    assert pg.store.db
    with wired(pg) as wire, closed_gate(pg.store.db) as admin:
        cut = wire.proxy.cut_commit(forward=True, await_answer=False)
        told = wire.run(credit(pg, kind), "--lock-timeout", "200ms")
        assert told.code == 75
        terminate_committer(admin)
        assert cut.ended.wait(30)
        open_gate(admin)
        assert (pg.state(), pg.balance()) == (None, 0)
        again = pg.run(credit(pg, kind))
    assert (again.code, pg.state(), pg.balance()) == (0, "done", 10)
    assert [tried.outcome for tried in pg.attempts()] == ["in-doubt", "applied"]


@pytest.mark.parametrize("forward", [True, False], ids=["landed", "not landed"])
def test_a_ledger_that_stays_away_after_the_commit_leaves_it_in_doubt(
    pg: CommandLine, monkeypatch: pytest.MonkeyPatch, *, forward: bool
) -> None:
    monkeypatch.setattr(doubt, "PAUSES_S", (0.0, 0.0))
    with wired(pg) as wire:
        monkeypatch.setattr(
            points, "hook", lambda point: wire.proxy.refuse() if point == "committing" else None
        )
        wire.proxy.cut_commit(forward=forward)
        told = wire.run(credit(pg, "sync"))
        runs = wire.sent(CREDIT)
    monkeypatch.undo()
    assert (told.code, runs) == (75, 1)
    assert f"{KEY} in doubt" in told.err
    assert "could not be written" in told.err
    assert [tried.ending for tried in pg.attempts()] == [(None, None)]  # nobody could write it
    assert pg.balance() == (10 if forward else 0)
    again = pg.run(credit(pg, "sync"))
    assert (again.code, pg.balance()) == (0, 10)
    assert pg.last().outcome == ("duplicate" if forward else "applied")


def test_a_ledger_that_tells_and_then_stays_away_leaves_a_success(pg: CommandLine) -> None:
    def is_end(sql: str) -> bool:
        if "k8sjob.landed" in sql:
            wire.proxy.refuse()  # this connection is the last
        return "end_attempt" in sql

    with wired(pg) as wire:
        wire.proxy.cut_commit(forward=True)
        wire.proxy.cut_commit(forward=False, matches=is_end)
        told = wire.run(credit(pg, "sync"))
        assert (told.code, wire.sent(CREDIT)) == (0, 1)
        assert "could not be written" in told.err
        wire.proxy.accept()
        assert "duplicate" in wire.run(credit(pg, "sync")).out
    assert (pg.state(), pg.balance()) == ("done", 10)


# ------------------------------------------------------------------------------------- parts


def in_three_parts(run: Any) -> None:
    for name in ("one", "two", "three"):
        with run.part(name) as part:
            if part:
                part.conn.execute(CREDIT)


async def in_three_parts_async(run: Any) -> None:
    for name in ("one", "two", "three"):
        async with run.part(name) as part:
            if part:
                await part.conn.execute(CREDIT)


PARTS = pytest.mark.parametrize("work", [in_three_parts, in_three_parts_async])


def second_commit() -> Any:
    """Return what meets the second commit only: that of part two."""
    seen: list[str] = []

    def is_second_commit(sql: str) -> bool:
        if is_commit(sql):
            seen.append(sql)
        return len(seen) == 2

    return is_second_commit


@PARTS
def test_a_part_whose_commit_landed_goes_on_with_the_next(pg: CommandLine, work: Any) -> None:
    with wired(pg) as wire:
        wire.proxy.cut_commit(forward=True, matches=second_commit())
        told = wire.run(work)
        runs = wire.sent(CREDIT)
    assert (told.code, runs, pg.balance()) == (0, 3, 30)
    assert set(pg.states().values()) == {"done"}
    assert len(pg.states()) == 4
    assert [tried.ending for tried in pg.attempts()] == [("applied", 0)]


@PARTS
def test_a_part_whose_commit_did_not_land_is_done_by_the_next_run(
    pg: CommandLine, work: Any
) -> None:
    with wired(pg) as wire:
        wire.proxy.cut_commit(forward=False, matches=second_commit())
        told = wire.run(work)
        assert (told.code, wire.sent(CREDIT), pg.balance()) == (75, 2, 10)
    assert pg.states() == {f"billing/daily-credit/one:{KEY.partition(':')[2]}": "done"}
    assert [tried.ending for tried in pg.attempts()] == [("failed", 75)]
    assert "Earlier parts are kept" in told.err
    again = pg.run(work)
    assert (again.code, pg.balance(), pg.state()) == (0, 30, "done")


@PARTS
def test_a_part_whose_commit_outlasts_the_lock_timeout_is_in_doubt(
    pg: CommandLine, work: Any
) -> None:
    assert pg.store.db
    with wired(pg) as wire, closed_gate(pg.store.db) as admin:
        cut = wire.proxy.cut_commit(forward=True, await_answer=False)
        told = wire.run(work, "--lock-timeout", "200ms")
        assert told.code == 75
        assert [tried.ending for tried in pg.attempts()] == [("in-doubt", 75)]
        open_gate(admin)
        assert cut.answered.wait(30)
    assert pg.balance() == 10
    again = pg.run(work)
    assert (again.code, pg.balance(), pg.state()) == (0, 30, "done")


def terminate_committer(admin: Connection) -> None:
    pid = wait_for_waiter(admin, "COMMIT")
    admin.execute("SELECT pg_terminate_backend(%s)", (pid,))
