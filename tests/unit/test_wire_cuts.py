"""Connections that the proxy cuts at a COMMIT: what the server then has, and what the log says."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest

from tests.wire import WireError, WireProxy
from tests.wire_gate import GATE, WAIT, Connection, connect, marks, wait_for_a_waiter, wait_until

pytest_plugins = ("tests.fix_wire",)


def lose_commit(proxy: WireProxy, number: int) -> None:
    """Insert a mark and lose the connection at the commit, and not before."""
    with connect(proxy) as client:
        client.execute("INSERT INTO mark VALUES (%s)", [number])
        with pytest.raises(psycopg.OperationalError):
            client.commit()


def commit_in_a_pipeline(proxy: WireProxy, number: int) -> None:
    with connect(proxy) as client, client.pipeline():
        client.execute("INSERT INTO mark VALUES (%s)", [number])
        client.commit()


def test_a_commit_that_was_forwarded_is_kept_though_its_client_is_cut(
    proxy: WireProxy, direct: Connection
) -> None:
    cut = proxy.cut_commit(forward=True)
    lose_commit(proxy, 1)
    assert cut.done.wait(WAIT)
    assert (cut.forwarded, cut.server_answered, cut.answers) == (True, True, ["COMMIT"])
    assert (cut.sql, cut.connection, proxy.cuts) == ("COMMIT", 1, [cut])
    assert marks(direct) == [1]


def test_a_commit_that_was_not_forwarded_leaves_nothing(
    proxy: WireProxy, direct: Connection
) -> None:
    cut = proxy.cut_commit(forward=False)
    lose_commit(proxy, 1)
    assert cut.done.wait(WAIT)
    assert cut.ended.wait(WAIT)
    assert (cut.forwarded, cut.server_answered, cut.answers) == (False, False, [])
    assert marks(direct) == []


def test_a_server_may_still_be_at_a_commit_whose_client_is_cut(
    proxy: WireProxy, direct: Connection
) -> None:
    direct.execute("SELECT pg_advisory_lock(%s)", [GATE])
    cut = proxy.cut_commit(forward=True, await_answer=False)
    with connect(proxy) as client:
        # in ms: a server that looks this often would give up soon if its own side were closed
        client.execute("SET client_connection_check_interval = 1")
        client.execute("INSERT INTO mark VALUES (100)")
        with pytest.raises(psycopg.OperationalError):
            client.commit()
    assert cut.done.wait(WAIT)
    wait_for_a_waiter(direct)
    assert (cut.forwarded, cut.server_answered, marks(direct)) == (True, False, [])
    direct.execute("SELECT pg_advisory_unlock(%s)", [GATE])
    assert cut.answered.wait(WAIT)
    assert (cut.server_answered, cut.answers, marks(direct)) == (True, ["COMMIT"], [100])
    assert cut.ended.wait(WAIT)


@pytest.mark.parametrize(
    ("await_answer", "kept"), [(True, [1]), (False, [1]), (None, [])], ids=["told", "sent", "kept"]
)
def test_a_commit_by_the_extended_protocol_is_cut_too(
    proxy: WireProxy, direct: Connection, *, await_answer: bool | None, kept: list[int]
) -> None:
    with connect(proxy, autocommit=True) as client:
        client.execute("BEGIN")
        client.execute("COMMIT", prepare=True)  # parsed here, long before the cut is armed
        client.execute("BEGIN")
        client.execute("INSERT INTO mark VALUES (1)")
        cut = proxy.cut_commit(forward=await_answer is not None, await_answer=bool(await_answer))
        with pytest.raises(psycopg.OperationalError):
            client.execute("COMMIT", prepare=True)
    assert cut.done.wait(WAIT)
    assert cut.ended.wait(WAIT)
    assert (cut.forwarded, cut.server_answered) == (bool(kept), bool(kept))
    assert marks(direct) == kept


@pytest.mark.parametrize("forward", [True, False], ids=["forwarded", "kept"])
def test_a_commit_within_a_pipeline_is_cut_too(
    proxy: WireProxy, direct: Connection, *, forward: bool
) -> None:
    cut = proxy.cut_commit(forward=forward)
    with pytest.raises(psycopg.OperationalError):
        commit_in_a_pipeline(proxy, 1)
    assert cut.ended.wait(WAIT)
    assert ("COMMIT" in cut.answers, cut.server_answered) == (forward, forward)
    assert marks(direct) == ([1] if forward else [])


def test_an_answer_stuck_on_its_way_to_the_client_does_not_hide_that_of_the_commit(
    proxy: WireProxy, direct: Connection
) -> None:
    cut = proxy.cut_commit(forward=True, await_answer=False)
    with closing(connect(proxy)) as client:
        client.execute("INSERT INTO mark VALUES (1)")
        wire = client.pgconn
        wire.enter_pipeline_mode()
        wire.send_query_params(b"SELECT repeat('x', 30000000)", None)  # more than sockets buffer
        wire.pipeline_sync()
        wait_until(lambda: proxy.frames[-1].kind == "D", "the answer has begun; nobody reads it")
        wire.send_query_params(b"COMMIT", None)
        wire.pipeline_sync()
        assert cut.answered.wait(WAIT)
    assert (cut.answers, marks(direct)) == (["SELECT 1", "COMMIT"], [1])


def test_a_commit_that_failed_shows_its_error_in_the_answers(
    proxy: WireProxy, direct: Connection
) -> None:
    cut = proxy.cut_commit(forward=True)
    with connect(proxy) as client:
        client.execute("INSERT INTO mark VALUES (1), (1)")
        with pytest.raises(psycopg.OperationalError):
            client.commit()
    assert (cut.server_answered, cut.answers, marks(direct)) == (True, ["23505"], [])


def test_a_server_session_that_dies_in_the_commit_has_not_answered(
    proxy: WireProxy, direct: Connection
) -> None:
    direct.execute("SELECT pg_advisory_lock(%s)", [GATE])
    cut = proxy.cut_commit(forward=True)
    with connect(proxy) as client, ThreadPoolExecutor(1) as pool:
        client.execute("INSERT INTO mark VALUES (100)")
        pid = client.info.backend_pid
        committing = pool.submit(client.commit)
        wait_for_a_waiter(direct)
        direct.execute("SELECT pg_terminate_backend(%s)", [pid])
        with pytest.raises(psycopg.OperationalError):
            committing.result(WAIT)
    assert (cut.forwarded, cut.server_answered, cut.answers) == (True, False, ["57P01"])
    assert marks(direct) == []


def test_a_cut_happens_once_and_later_connections_pass(
    proxy: WireProxy, direct: Connection
) -> None:
    proxy.cut_commit(forward=False)
    with connect(proxy) as bystander:
        lose_commit(proxy, 1)
        bystander.execute("INSERT INTO mark VALUES (2)")
    with connect(proxy) as later:
        later.execute("INSERT INTO mark VALUES (3)")
    assert marks(direct) == [2, 3]


def test_two_cuts_meet_two_commits_in_turn(proxy: WireProxy, direct: Connection) -> None:
    cuts = [proxy.cut_commit(forward=False), proxy.cut_commit(forward=True)]
    for number in (1, 2):
        lose_commit(proxy, number)
    assert [cut.forwarded for cut in proxy.cuts] == [False, True]
    assert (proxy.cuts, marks(direct)) == (cuts, [2])


def test_any_statement_can_be_cut_by_a_predicate(proxy: WireProxy, direct: Connection) -> None:
    cut = proxy.cut_commit(forward=True, matches=lambda sql: sql.startswith("INSERT"))
    with connect(proxy, autocommit=True) as client, pytest.raises(psycopg.OperationalError):
        client.execute("INSERT INTO mark VALUES (%s)", [1])
    assert (cut.sql, cut.answers) == ("INSERT INTO mark VALUES ($1)", ["INSERT 0 1"])
    assert marks(direct) == [1]


def test_closing_does_not_wait_for_a_commit_that_is_still_blocked(
    wire_server: str, direct: Connection
) -> None:
    direct.execute("SELECT pg_advisory_lock(%s)", [GATE])
    with WireProxy(wire_server) as proxy:
        proxy.cut_commit(forward=True, await_answer=False)
        lose_commit(proxy, 100)
        wait_for_a_waiter(direct)
    assert proxy.cuts[0].ended.is_set()
    assert not proxy.cuts[0].server_answered


def test_a_cut_that_met_no_statement_fails_the_test_that_armed_it(wire_server: str) -> None:
    proxy = WireProxy(wire_server)
    proxy.cut_commit(forward=False)
    with pytest.raises(WireError, match="no statement met is_commit"):
        proxy.close()


def test_a_failure_of_the_proxy_does_not_hide_the_error_of_the_test(wire_server: str) -> None:
    def fail_before_the_commit() -> None:
        with WireProxy(wire_server) as proxy:
            proxy.cut_commit(forward=False)
            raise LookupError

    with pytest.raises(LookupError) as caught:
        fail_before_the_commit()
    assert "no statement met is_commit" in caught.value.__notes__[0]


def test_an_answer_that_does_not_come_in_time_is_named(
    wire_server: str, direct: Connection
) -> None:
    direct.execute("SELECT pg_advisory_lock(%s)", [GATE])
    proxy = WireProxy(wire_server, timeout=0.2)
    proxy.cut_commit(forward=True)
    lose_commit(proxy, 100)
    with pytest.raises(WireError, match=r"no answer to 'COMMIT' within 0\.2 s"):
        proxy.close()
