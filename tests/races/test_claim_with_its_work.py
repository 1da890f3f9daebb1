from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from k8sjob import claim
from tests.races.racer import KEY

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fix_stores import Connection
    from tests.races.arena import Arena

JOB, PERIOD = str(KEY.job), str(KEY.period)
CLAIM = f"k8sjob.claim('{JOB}', '{PERIOD}')"
CREDIT = "UPDATE app.accounts SET balance = balance + 10 WHERE name = 'alice'"

# What people may have in their database, made by the superuser and run by the runner.
IN_PLPGSQL = f"""CREATE FUNCTION app.nightly() RETURNS void LANGUAGE plpgsql AS $$
    BEGIN PERFORM {CLAIM}; {CREDIT}; END $$"""
IN_SQL = f"""CREATE FUNCTION app.nightly() RETURNS void LANGUAGE sql AS $$
    SELECT {CLAIM}; {CREDIT}; $$"""
IN_A_PROCEDURE = f"""CREATE PROCEDURE app.nightly() LANGUAGE plpgsql AS $$
    BEGIN PERFORM {CLAIM}; {CREDIT}; COMMIT; END $$"""
IN_A_NESTED_FUNCTION = f"""
    CREATE FUNCTION app.claim_it() RETURNS text LANGUAGE plpgsql AS $$
      BEGIN RETURN {CLAIM}; END $$;
    CREATE FUNCTION app.nightly() RETURNS void LANGUAGE plpgsql AS $$
      BEGIN PERFORM app.claim_it(); {CREDIT}; END $$"""


def in_a_block(conn: Connection) -> None:
    for statement in ("BEGIN", f"SELECT {CLAIM}", CREDIT, "COMMIT"):
        conn.execute(statement.encode())


def in_a_do_block(conn: Connection) -> None:
    conn.execute(f"DO $$ BEGIN PERFORM {CLAIM}; {CREDIT}; END $$".encode())


def in_a_pipeline(conn: Connection) -> None:
    with conn.pipeline():
        conn.execute(b"SELECT k8sjob.claim(%s, %s)", (JOB, PERIOD))
        conn.execute(CREDIT.encode())


def in_a_block_inside_a_pipeline(conn: Connection) -> None:
    with conn.pipeline(), conn.transaction():
        conn.execute(b"SELECT k8sjob.claim(%s, %s)", (JOB, PERIOD))
        conn.execute(CREDIT.encode())


def in_pythons_block(conn: Connection) -> None:
    with conn.transaction():
        claim(conn, KEY)
        conn.execute(CREDIT.encode())


def in_pythons_block_inside_a_pipeline(conn: Connection) -> None:
    with conn.pipeline(), conn.transaction():
        claim(conn, KEY)
        conn.execute(CREDIT.encode())


def claimed_last_in_a_block(conn: Connection) -> None:
    for statement in ("BEGIN", CREDIT, f"SELECT {CLAIM}", "COMMIT"):
        conn.execute(statement.encode())


def claimed_last_in_a_pipeline(conn: Connection) -> None:
    with conn.pipeline():
        conn.execute(CREDIT.encode())
        conn.execute(b"SELECT k8sjob.claim(%s, %s)", (JOB, PERIOD))


@pytest.mark.parametrize(
    "work",
    [
        in_a_block,
        in_a_do_block,
        in_a_pipeline,
        in_a_block_inside_a_pipeline,
        in_pythons_block,
        in_pythons_block_inside_a_pipeline,
        claimed_last_in_a_block,
    ],
)
def test_a_claim_that_commits_together_with_its_work_is_accepted(
    arena: Arena, conn: Connection, work: Callable[[Connection], None]
) -> None:
    work(conn)
    assert (arena.balance(), arena.state()) == (10, "done")


@pytest.mark.parametrize(
    ("made", "called"),
    [
        (IN_PLPGSQL, "SELECT app.nightly()"),
        (IN_SQL, "SELECT app.nightly()"),
        (IN_A_PROCEDURE, "CALL app.nightly()"),
        (IN_A_NESTED_FUNCTION, "SELECT app.nightly()"),
    ],
    ids=["plpgsql", "sql", "procedure", "nested"],
)
def test_a_claim_inside_a_function_or_procedure_of_the_users_own_is_accepted_in_autocommit_mode(
    arena: Arena, conn: Connection, made: str, called: str
) -> None:
    arena.admin.execute(made.encode())
    try:
        conn.execute(called.encode())
        with pytest.raises(psycopg.Error) as refusal:
            conn.execute(called.encode())
    finally:
        arena.admin.execute("DROP ROUTINE app.nightly; DROP ROUTINE IF EXISTS app.claim_it")
    assert refusal.value.sqlstate == "KJ001"
    assert (arena.balance(), arena.state()) == (10, "done")


# Everything in one message has one statement_timestamp(), so these look like a claim alone. The
# refusal's hint says to send them one by one.
@pytest.mark.parametrize(
    "message",
    [
        f"BEGIN; SELECT {CLAIM}; {CREDIT}; COMMIT",
        f"SELECT {CLAIM}; {CREDIT}",
        f"WITH given AS MATERIALIZED (SELECT {CLAIM}) {CREDIT} AND EXISTS (SELECT FROM given)",
    ],
    ids=["block", "implicit-block", "one-statement"],
)
def test_claim_and_work_in_one_simple_message_are_refused_too_and_nothing_is_applied(
    arena: Arena, conn: Connection, message: str
) -> None:
    with pytest.raises(psycopg.Error) as refusal:
        conn.execute(message.encode())
    assert refusal.value.sqlstate == "KJ013"
    assert "each sent as a statement of its own" in (refusal.value.diag.message_hint or "")
    assert (arena.balance(), arena.state()) == (0, None)


def test_a_claim_that_comes_last_in_a_pipeline_is_refused_and_nothing_of_it_is_applied(
    arena: Arena, conn: Connection
) -> None:
    # The pipeline commits within the claim's own message, as one that is alone does: put it first.
    with pytest.raises(psycopg.Error):
        claimed_last_in_a_pipeline(conn)
    assert (arena.balance(), arena.state()) == (0, None)
