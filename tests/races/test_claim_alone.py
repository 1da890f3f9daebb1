from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import psycopg
import pytest

from k8sjob import claim, try_claim
from k8sjob.errors import ProtocolError
from tests.races.racer import KEY

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fix_stores import Connection
    from tests.races.arena import Arena

JOB, PERIOD = str(KEY.job), str(KEY.period)
CALLS = {
    "claim": "SELECT k8sjob.claim({}, {})",
    "claim_text": "SELECT k8sjob.claim_text({}, {}, 'ten')",
    "try_claim": "SELECT k8sjob.try_claim({}, {})",
    "try_claim-from": "SELECT outcome FROM k8sjob.try_claim({}, {})",
}


def sent_simple(conn: Connection, call: str) -> None:
    conn.execute(call.format(f"'{JOB}'", f"'{PERIOD}'").encode())  # no parameters: a simple query


def sent_extended(conn: Connection, call: str) -> None:
    conn.execute(call.format("%s", "%s").encode(), (JOB, PERIOD))


def sent_prepared(conn: Connection, call: str) -> None:
    conn.prepare_threshold = 5  # None forbids it
    conn.execute(call.format("%s::text", "%s::text").encode(), (JOB, PERIOD), prepare=True)


@pytest.mark.parametrize("send", [sent_simple, sent_extended])
def test_the_server_refuses_a_claim_that_would_commit_alone_by_either_protocol(
    arena: Arena, conn: Connection, send: Callable[[Connection, str], None]
) -> None:
    refuse(conn, CALLS["claim"], send)
    assert arena.state() is None


def test_the_server_refuses_a_prepared_claim_that_would_commit_alone(
    arena: Arena, conn: Connection
) -> None:
    # Behind a pooler a prepared statement would outlive the transaction on somebody's connection.
    refuse(conn, CALLS["claim"], sent_extended if arena.pooler else sent_prepared)
    assert arena.state() is None


def test_the_server_refuses_a_claim_that_is_alone_in_a_pipeline(
    arena: Arena, conn: Connection
) -> None:
    # psycopg expects no error of a commit at a pipeline's end: it raises one of its own, or none.
    with suppress(psycopg.Error, IndexError), conn.pipeline():
        conn.execute(CALLS["claim"].format("%s", "%s").encode(), (JOB, PERIOD))
    assert arena.state() is None


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_server_refuses_each_of_the_functions_where_it_would_commit_alone(
    arena: Arena, conn: Connection, call: str
) -> None:
    refuse(conn, call, sent_extended)
    assert arena.state() is None


def test_the_server_refuses_to_do_an_expected_period_alone(arena: Arena, conn: Connection) -> None:
    arena.set_up("open")
    refuse(conn, CALLS["claim"], sent_extended)
    assert arena.state() == "open"


def test_the_server_refuses_a_claim_alone_whatever_the_search_path_is(
    arena: Arena, conn: Connection
) -> None:
    call = "SET LOCAL search_path = k8sjob, public; SELECT claim({}, {})"
    refuse(conn, call, sent_simple)
    assert arena.state() is None


def refuse(conn: Connection, call: str, send: Callable[[Connection, str], None]) -> None:
    with pytest.raises(psycopg.Error, match="would commit alone") as refusal:
        send(conn, call)
    assert refusal.value.sqlstate == "KJ013"
    assert refusal.value.diag.message_detail == "Nothing was changed."
    assert "BEGIN, claim, work, COMMIT" in (refusal.value.diag.message_hint or "")


def test_python_refuses_a_claim_alone_before_anything_is_sent(
    arena: Arena, conn: Connection
) -> None:
    for ask in (claim, try_claim):
        with pytest.raises(ProtocolError, match="would commit alone") as refusal:
            ask(conn, KEY)
        assert str(KEY) in str(refusal.value)
        assert "Nothing was changed." in str(refusal.value)
        assert "with conn.transaction():" in str(refusal.value)
    assert arena.state() is None
