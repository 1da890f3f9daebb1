from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.run.commandline import CREDIT, KEY, CommandLine
from tests.run.wired import KINDS, Kind, credit, wired


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("forward", [True, False], ids=["forwarded", "not forwarded"])
@pytest.mark.parametrize(("statement", "runs"), [("run_claim", 0), ("k8sjob.seal", 1)])
def test_a_connection_lost_before_the_commit_is_unavailable(
    pg: CommandLine, kind: Kind, statement: str, runs: int, *, forward: bool
) -> None:
    with wired(pg) as wire:
        wire.proxy.cut_commit(forward=forward, matches=lambda sql: statement in sql)
        told = wire.run(credit(pg, kind))
        assert wire.sent(CREDIT) == runs
    assert told.code == 69
    assert [tried.ending for tried in pg.attempts()] == [("failed", 69)]
    assert (pg.state(), pg.balance()) == (None, 0)
    assert pg.run(credit(pg, kind)).out.startswith(f"{KEY} applied")


@pytest.mark.parametrize("kind", KINDS)
def test_a_connection_lost_in_the_middle_of_the_target_is_unavailable(
    pg: CommandLine, kind: Kind
) -> None:
    with wired(pg) as wire:
        wire.proxy.cut_commit(forward=True, matches=lambda sql: sql.startswith("UPDATE accounts"))
        told = wire.run(credit(pg, kind))
        assert wire.sent(CREDIT) == 1
    assert told.code == 69
    assert "the period is free" in told.err
    (tried,) = pg.attempts()  # closed over a new connection
    assert tried.ending == ("failed", 69)
    assert tried.message is not None
    assert "connection to the ledger was lost" in tried.message
    assert (pg.state(), pg.balance()) == (None, 0)
    assert pg.run(credit(pg, kind)).out.startswith(f"{KEY} applied")


def test_a_target_that_swallows_the_loss_of_its_connection_is_unavailable(pg: CommandLine) -> None:
    def work(run: Any) -> None:
        with pytest.raises(psycopg.OperationalError):
            run.conn.execute(CREDIT)

    with wired(pg) as wire:
        wire.proxy.cut_commit(forward=True, matches=lambda sql: sql.startswith("UPDATE accounts"))
        told = wire.run(work)
    assert told.code == 69
    assert pg.last().ending == ("failed", 69)
    assert (pg.state(), pg.balance()) == (None, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_connection_lost_after_the_commit_leaves_a_success(pg: CommandLine, kind: Kind) -> None:
    with wired(pg) as wire:
        wire.proxy.cut_commit(forward=False, matches=lambda sql: "end_attempt" in sql)
        told = wire.run(credit(pg, kind))
        assert wire.sent(CREDIT) == 1
    assert told.code == 0
    assert told.out.startswith(f"{KEY} applied")
    assert "could not be written" in told.err
    assert (pg.state(), pg.balance()) == ("done", 10)
    assert [tried.ended for tried in pg.attempts()] == [False]
    assert "duplicate" in pg.run(credit(pg, kind)).out


def test_a_ledger_that_is_away_at_the_start_is_unavailable(pg: CommandLine) -> None:
    with wired(pg) as wire, wire.proxy.refuse():
        told = wire.run(credit(pg, "sync"))
    assert told.code == 69
    assert "the ledger cannot be reached" in told.err
    assert pg.attempts() == []
