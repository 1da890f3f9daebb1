from __future__ import annotations

import sqlite3
from typing import Any

import pytest
from psycopg.rows import dict_row, namedtuple_row

import k8sjob
from k8sjob.states import Awaiting, Blocked, Skipped
from tests.run.commandline import CREDIT, KEY, PERIOD, CommandLine, assert_applied, asynchronous


def set_row_factory(conn: Any) -> None:
    """Let rows be what a ledger does not expect, from here on."""
    if isinstance(conn, sqlite3.Connection):
        conn.row_factory = lambda _cursor, row: {"row": row}
        conn.text_factory = bytes
    else:
        conn.row_factory = dict_row


def credits_with_other_rows(run: Any) -> None:
    set_row_factory(run.conn)
    run.conn.execute(CREDIT)


def blocks_with_other_rows(run: Any) -> None:
    set_row_factory(run.conn)
    raise Blocked("not today")


def skips_with_other_rows(run: Any) -> None:
    set_row_factory(run.conn)
    raise Skipped("not this year")


def waits_with_other_rows(run: Any) -> Awaiting:
    set_row_factory(run.conn)
    return Awaiting(reason="the bank is at it")


@pytest.mark.parametrize(
    ("work", "outcome", "state"),
    [
        (credits_with_other_rows, "applied", "done"),
        (blocks_with_other_rows, "blocked", "blocked"),
        (skips_with_other_rows, "skipped", "skipped"),
        (waits_with_other_rows, "awaiting", "awaiting"),
    ],
)
@pytest.mark.parametrize("wrap", [lambda work: work, asynchronous], ids=["sync", "async"])
def test_the_target_s_row_factory_is_its_own_affair(
    cli: CommandLine, work: Any, outcome: str, state: str, wrap: Any
) -> None:
    if work is credits_with_other_rows:
        work = asynchronous_credit if wrap is asynchronous else work
    assert cli.run(wrap(work)).code == 0
    assert (cli.last().outcome, cli.state()) == (outcome, state)


async def asynchronous_credit(run: Any) -> None:
    set_row_factory(run.conn)
    if isinstance(run.conn, sqlite3.Connection):
        run.conn.execute(CREDIT)
    else:
        await run.conn.execute(CREDIT)


def test_the_target_s_row_factory_does_not_disturb_its_parts(cli: CommandLine) -> None:
    def work(run: Any) -> None:
        for name in ("one", "two"):
            with run.part(name) as part:
                set_row_factory(part.conn)
                part.conn.execute(CREDIT)

    assert_applied(cli, work, balance=20)


def test_a_target_may_claim_further_keys_in_its_transaction(cli: CommandLine) -> None:
    def work(run: Any) -> None:
        set_row_factory(run.conn)
        k8sjob.claim(run.conn, f"billing/invoices:{PERIOD}")
        assert not k8sjob.try_claim(run.conn, f"billing/invoices:{PERIOD}")
        run.conn.execute(CREDIT)

    assert_applied(cli, work)
    assert cli.states() == {KEY: "done", f"billing/invoices:{PERIOD}": "done"}


def test_a_coroutine_may_claim_further_keys_in_its_transaction(pg: CommandLine) -> None:
    async def work(run: Any) -> None:
        set_row_factory(run.conn)
        await k8sjob.claim(run.conn, f"billing/invoices:{PERIOD}")
        await run.conn.execute(CREDIT)

    assert_applied(pg, work)
    assert pg.states() == {KEY: "done", f"billing/invoices:{PERIOD}": "done"}


def test_rows_come_as_the_target_asked_for_them(pg: CommandLine) -> None:
    def work(run: Any) -> None:
        run.conn.row_factory = namedtuple_row
        assert run.conn.execute("SELECT 1 AS one").fetchone().one == 1
        run.conn.execute(CREDIT)

    assert_applied(pg, work)
