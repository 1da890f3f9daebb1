from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql

from tests.run.commandline import (
    CREDIT,
    JOB,
    PERIOD,
    CommandLine,
    assert_nothing_was_committed,
    asynchronous,
    params,
)
from tests.run.test_file_ends_transaction import PROCEDURES, THE_SERVER_REFUSES

if TYPE_CHECKING:
    from collections.abc import Callable


def with_connection(conn: Any) -> None:
    with conn:
        conn.execute(CREDIT)


def copies(conn: Any) -> None:
    with conn.cursor() as cursor, cursor.copy("COMMIT"):
        pass


def in_a_pipeline(conn: Any) -> None:
    with conn.pipeline():
        conn.execute(CREDIT)
        conn.execute("COMMIT")


def then(end: Callable[[Any], Any], more: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return what does both."""

    def both(conn: Any) -> None:
        end(conn)
        more(conn)

    return both


def raw(statement: bytes) -> Callable[[Any], Any]:
    """Return what sends ``statement`` past psycopg, as libpq does."""
    return lambda conn: conn.pgconn.exec_(statement)


def credits_in_a_block(conn: Any) -> None:
    with conn.transaction():
        conn.execute(CREDIT)


def client_cursor(statement: str) -> Callable[[Any], Any]:
    """Return what uses a cursor of psycopg's own, which no guard knows."""
    return lambda conn: psycopg.ClientCursor(conn).execute(statement)


ENDS: dict[str, Callable[[Any], Any]] = {
    "commit()": lambda conn: conn.commit(),
    "rollback()": lambda conn: conn.rollback(),
    "close()": lambda conn: conn.close(),
    "with run.conn": with_connection,
    "COMMIT": lambda conn: conn.execute("COMMIT"),
    "ROLLBACK": lambda conn: conn.execute("ROLLBACK"),
    "ROLLBACK AND CHAIN": lambda conn: conn.execute("rollback and chain"),
    "BEGIN": lambda conn: conn.execute("BEGIN"),
    "PREPARE TRANSACTION": lambda conn: conn.execute("PREPARE TRANSACTION 'mine'"),
    "bytes": lambda conn: conn.execute(b"/* */ COMMIT"),
    "sql.SQL": lambda conn: conn.execute(sql.SQL("COMMIT")),
    "sql.Composed": lambda conn: conn.execute(sql.SQL("{}").format(sql.SQL("COMMIT"))),
    "two statements": lambda conn: conn.execute(f"{CREDIT}; COMMIT; {CREDIT}"),
    "cursor": lambda conn: conn.cursor().execute("COMMIT"),
    "binary cursor": lambda conn: conn.cursor(binary=True).execute("COMMIT"),
    "executemany": lambda conn: conn.cursor().executemany("COMMIT", [()]),
    "stream": lambda conn: list(conn.cursor().stream("COMMIT")),
    "copy": copies,
    "pipeline": in_a_pipeline,
    "foreign cursor, COMMIT": client_cursor("COMMIT"),
    "foreign cursor, ROLLBACK": client_cursor("ROLLBACK"),
    "foreign cursor, ROLLBACK AND CHAIN": client_cursor("ROLLBACK AND CHAIN"),
    "libpq, COMMIT": raw(b"COMMIT"),
    "libpq, COMMIT AND CHAIN": raw(b"COMMIT AND CHAIN"),
    "libpq, ROLLBACK": raw(b"ROLLBACK"),
    "libpq, ROLLBACK, then a block": then(raw(b"ROLLBACK"), credits_in_a_block),
    "libpq, ROLLBACK AND CHAIN": raw(b"ROLLBACK AND CHAIN"),
    "libpq, ROLLBACK; BEGIN": raw(b"ROLLBACK; BEGIN"),
}


@pytest.mark.parametrize("end", **params(ENDS))
@pytest.mark.parametrize("swallowed", [False, True], ids=["raised", "swallowed"])
def test_a_function_cannot_end_its_transaction(
    pg: CommandLine, end: Callable[[Any], Any], *, swallowed: bool
) -> None:
    def work(run: Any) -> None:
        conn = run.conn
        with contextlib.suppress(*[Exception] * swallowed):
            conn.execute(CREDIT)
            end(conn)
            conn.execute(CREDIT)

    assert_nothing_was_committed(pg, pg.run(work))


async def async_with_connection(conn: Any) -> None:
    async with conn:
        await conn.execute(CREDIT)


async def async_copies(conn: Any) -> None:
    async with conn.cursor() as cursor, cursor.copy("COMMIT"):
        pass


async def async_streams(conn: Any) -> None:
    async for _ in conn.cursor().stream("COMMIT"):
        pass


async def async_raw_then_block(conn: Any) -> None:
    conn.pgconn.exec_(b"ROLLBACK")
    async with conn.transaction():
        await conn.execute(CREDIT)


ASYNC_ENDS: dict[str, Callable[[Any], Any]] = {
    "with run.conn": async_with_connection,
    "stream": async_streams,
    "copy": async_copies,
    "foreign cursor": lambda conn: psycopg.AsyncClientCursor(conn).execute("ROLLBACK"),
    "libpq, ROLLBACK, then a block": async_raw_then_block,
    **{
        name: asynchronous(ENDS[name])
        for name in (
            *("commit()", "rollback()", "close()", "COMMIT", "ROLLBACK", "bytes", "cursor"),
            *("executemany", "two statements", "libpq, COMMIT", "libpq, ROLLBACK"),
            *("libpq, ROLLBACK AND CHAIN",),
        )
    },
}


@pytest.mark.parametrize("end", **params(ASYNC_ENDS))
@pytest.mark.parametrize("swallowed", [False, True], ids=["raised", "swallowed"])
def test_a_coroutine_cannot_end_its_transaction(
    pg: CommandLine, end: Callable[[Any], Any], *, swallowed: bool
) -> None:
    async def work(run: Any) -> None:
        conn = run.conn
        with contextlib.suppress(*[Exception] * swallowed):
            await conn.execute(CREDIT)
            await end(conn)
            await conn.execute(CREDIT)

    assert_nothing_was_committed(pg, pg.run(work))


@pytest.mark.parametrize("end", THE_SERVER_REFUSES)
@pytest.mark.parametrize("swallowed", [False, True], ids=["raised", "swallowed"])
def test_what_only_the_server_sees_does_not_end_a_function_s_transaction(
    pg: CommandLine, end: str, *, swallowed: bool
) -> None:
    pg.query(PROCEDURES)

    def work(run: Any) -> None:
        run.conn.execute(CREDIT)
        with contextlib.suppress(*[psycopg.Error] * swallowed), run.conn.transaction():
            run.conn.execute(end)
        run.conn.execute(CREDIT)

    assert_nothing_was_committed(pg, pg.run(work))


def test_a_server_side_cursor_takes_one_statement_only(pg: CommandLine) -> None:
    def work(run: Any) -> None:
        with run.conn.cursor("numbers") as cursor:
            cursor.execute(f"SELECT 1; COMMIT; {CREDIT}")

    assert_nothing_was_committed(pg, pg.run(work), code=1)


# ------------------------------------------------------------------------------------- parts


@pytest.mark.parametrize("last", [True, False], ids=["last part", "more parts follow"])
def test_a_part_that_commits_and_keeps_quiet_fails_the_job(pg: CommandLine, *, last: bool) -> None:
    def work(run: Any) -> None:
        for name in ("one", "two", *["three"] * (not last)):
            with contextlib.suppress(Exception), run.part(name) as part:
                part.conn.execute(CREDIT)
                if name == "two":
                    part.conn.commit()

    told = pg.run(work)
    assert told.code == 76
    assert (pg.balance(), pg.states()) == (10, {f"{JOB}/one:{PERIOD}": "done"})


def test_a_connection_kept_from_a_part_is_of_no_use_after_it(pg: CommandLine) -> None:
    def work(run: Any) -> None:
        with run.part("one") as part:
            conn = part.conn
        conn.execute(CREDIT)

    told = pg.run(work)
    assert told.code == 76
    assert (pg.balance(), pg.state()) == (0, None)


# ------------------------------------------------------------------------------ known limits


@pytest.mark.parametrize(
    "escape",
    [
        then(raw(b"ROLLBACK"), raw(CREDIT.encode())),
        lambda conn: psycopg.ClientCursor(conn).execute(f"ROLLBACK; {CREDIT}"),
    ],
    ids=["libpq", "foreign cursor, one message"],
)
def test_work_hidden_from_the_guard_after_a_rollback_is_reported_but_kept(
    pg: CommandLine, escape: Callable[[Any], Any]
) -> None:
    """The known limit: like a second connection, this is outside of the promise."""
    told = pg.run(lambda run: escape(run.conn))
    assert told.code == 76
    assert (pg.balance(), pg.state()) == (10, None)
    assert pg.last().ending == ("failed", 76)
