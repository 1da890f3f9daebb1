from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from tests.run.commandline import CREDIT, JOB, PERIOD, CommandLine, assert_applied, params

if TYPE_CHECKING:
    from collections.abc import Callable


def take_back(block: Any) -> None:
    raise psycopg.Rollback(block)


def savepoints(conn: Any) -> None:
    with conn.transaction():
        conn.execute(CREDIT)
        with conn.transaction("named") as inner:
            conn.execute(CREDIT)
            take_back(inner)
        with conn.transaction(force_rollback=True):
            conn.execute(CREDIT)
    with suppress(psycopg.errors.DivisionByZero), conn.transaction():
        conn.execute(CREDIT)
        conn.execute("SELECT 1 / 0")


def plain_savepoints(conn: Any) -> None:
    conn.execute("SAVEPOINT a")
    conn.execute(CREDIT)
    conn.execute("ROLLBACK TO a")
    conn.execute("ROLLBACK WORK TO SAVEPOINT a")
    conn.execute("RELEASE a")
    conn.execute(CREDIT)


def pipeline(conn: Any) -> None:
    with conn.pipeline() as pipe:
        first = conn.execute("SELECT 1")
        conn.execute(CREDIT)
        pipe.sync()
        assert first.fetchone() == (1,)
        with conn.transaction():
            conn.execute("SELECT 2")


def copy(conn: Any) -> None:
    conn.execute("CREATE TEMP TABLE credits (amount int) ON COMMIT DROP")
    with conn.cursor() as cursor:
        with cursor.copy("COPY credits FROM STDIN") as rows:
            rows.write_row((4,))
            rows.write_row((6,))
        with cursor.copy("COPY (SELECT sum(amount) FROM credits) TO STDOUT") as rows:
            assert b"".join(rows) == b"10\n"
    conn.execute("UPDATE accounts SET balance = (SELECT sum(amount) FROM credits)")


def server_side_cursor(conn: Any) -> None:
    with conn.cursor("numbers") as cursor:
        cursor.execute("SELECT generate_series(1, 5)")
        assert cursor.fetchmany(2) == [(1,), (2,)]
    conn.execute(CREDIT)


def executemany(conn: Any) -> None:
    with conn.cursor() as cursor:
        amounts = [(4,), (6,)]
        cursor.executemany("UPDATE accounts SET balance = balance + %s", amounts)
        cursor.executemany("SELECT %s::int", amounts, returning=True)
        assert cursor.fetchone() == (4,)


def stream(conn: Any) -> None:
    rows = list(conn.cursor().stream("SELECT generate_series(1, 3)"))
    assert rows == [(1,), (2,), (3,)]
    conn.execute(CREDIT)


def notifications(conn: Any) -> None:
    conn.execute("LISTEN credits")
    conn.execute("SELECT pg_notify('credits', 'alice')")
    conn.execute(CREDIT)


def other_cursor(conn: Any) -> None:
    psycopg.ClientCursor(conn).execute(
        "UPDATE accounts SET balance = balance + %s WHERE name = %s", (10, "alice")
    )


def settings(conn: Any) -> None:
    conn.execute("SET LOCAL work_mem = '1MB'")
    conn.execute("SET LOCAL statement_timeout = '1min'")
    conn.execute("SET CONSTRAINTS ALL DEFERRED")
    conn.prepare_threshold = 0
    for _ in range(2):
        conn.execute("UPDATE accounts SET balance = balance + %s", (5,))


def words(conn: Any) -> None:
    text = "commit; rollback; end"
    assert conn.execute(f"SELECT '{text}' -- COMMIT;").fetchone() == (text,)
    assert conn.execute("SELECT %s::text", (text,)).fetchone() == (text,)
    conn.execute('SELECT 1 AS "commit", CASE WHEN true THEN 1 END; SELECT 2 AS rollback')
    conn.execute(CREDIT)


MAY: dict[str, Callable[[Any], None]] = {
    work.__name__: work
    for work in (
        *(savepoints, plain_savepoints, pipeline, copy, server_side_cursor, executemany),
        *(stream, notifications, other_cursor, settings, words),
    )
}


@pytest.mark.parametrize("work", **params(MAY))
def test_a_function_may_use_its_connection_as_any_other(
    pg: CommandLine, work: Callable[[Any], None]
) -> None:
    assert_applied(pg, lambda run: work(run.conn))


async def async_savepoints(conn: Any) -> None:
    async with conn.transaction():
        await conn.execute(CREDIT)
        async with conn.transaction(force_rollback=True):
            await conn.execute(CREDIT)


async def async_pipeline(conn: Any) -> None:
    async with conn.pipeline():
        await conn.execute("SELECT 1")
        await conn.execute(CREDIT)


async def async_copy(conn: Any) -> None:
    await conn.execute("CREATE TEMP TABLE credits (amount int) ON COMMIT DROP")
    async with conn.cursor() as cursor, cursor.copy("COPY credits FROM STDIN") as rows:
        await rows.write_row((10,))
    await conn.execute("UPDATE accounts SET balance = (SELECT sum(amount) FROM credits)")


async def async_server_side_cursor(conn: Any) -> None:
    async with conn.cursor("numbers") as cursor:
        await cursor.execute("SELECT generate_series(1, 5)")
        assert await cursor.fetchmany(2) == [(1,), (2,)]
    await conn.execute(CREDIT)


async def async_stream(conn: Any) -> None:
    rows = [row async for row in conn.cursor().stream("SELECT generate_series(1, 2)")]
    assert rows == [(1,), (2,)]
    await conn.execute(CREDIT)


ASYNC_MAY: dict[str, Callable[[Any], Any]] = {
    work.__name__: work
    for work in (
        *(async_savepoints, async_pipeline, async_copy, async_server_side_cursor),
        async_stream,
    )
}


@pytest.mark.parametrize("work", **params(ASYNC_MAY))
def test_a_coroutine_may_use_its_connection_as_any_other(
    pg: CommandLine, work: Callable[[Any], Any]
) -> None:
    async def target(run: Any) -> None:
        await work(run.conn)

    assert_applied(pg, target)


def test_a_function_on_sqlite_may_use_savepoints(lite: CommandLine) -> None:
    def work(run: Any) -> None:
        run.conn.execute("SAVEPOINT a")
        run.conn.execute(CREDIT)
        run.conn.execute("ROLLBACK TO a")
        run.conn.execute("RELEASE a")
        run.conn.executemany("UPDATE accounts SET balance = balance + ?", [(4,), (6,)])

    assert_applied(lite, work)


def test_a_function_on_sqlite_may_let_the_driver_begin(lite: CommandLine) -> None:
    def work(run: Any) -> None:
        run.conn.isolation_level = "DEFERRED"
        if hasattr(run.conn, "autocommit"):  # Python 3.12
            run.conn.autocommit = False
        run.conn.execute(CREDIT)

    assert_applied(lite, work)


def test_what_a_savepoint_took_back_is_not_applied_and_the_part_is_free(cli: CommandLine) -> None:
    def work(run: Any) -> None:
        with suppress(ZeroDivisionError), run.part("one") as part:
            part.conn.execute(CREDIT)
            raise ZeroDivisionError
        with run.part("two") as part:
            part.conn.execute(CREDIT)

    assert_applied(cli, work)
    assert cli.state(f"{JOB}/one:{PERIOD}") is None
    assert cli.state(f"{JOB}/two:{PERIOD}") == "done"
