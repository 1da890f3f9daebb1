"""The proxy that other tests look through: what passes, what is counted, what is refused."""

from __future__ import annotations

import socket
import struct
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import psycopg
import pytest

from tests.wire import WireProxy
from tests.wire_gate import GATE, WAIT, Connection, connect, marks, wait_for_a_waiter

pytest_plugins = ("tests.fix_wire",)

# --------------------------------------------------------------------------- passing through


def test_a_simple_query_passes_and_is_logged_with_its_tag(proxy: WireProxy) -> None:
    with connect(proxy, autocommit=True) as client:
        assert client.execute("SELECT 41 + 1").fetchone() == (42,)
    seen = [(f.direction, f.kind, f.text) for f in proxy.frames if f.kind in {"Q", "C"}]
    assert seen == [(">", "Q", "SELECT 41 + 1"), ("<", "C", "SELECT 1")]


def test_a_statement_with_parameters_passes_and_its_execute_has_the_sql(proxy: WireProxy) -> None:
    with connect(proxy, autocommit=True) as client:
        assert client.execute("SELECT %s::int", [7]).fetchone() == (7,)
    seen = [(f.kind, f.text) for f in proxy.frames if f.direction == ">" and f.kind in "PBES"]
    assert seen == [("P", "SELECT $1::int"), ("B", ""), ("E", "SELECT $1::int"), ("S", "")]


def test_a_prepared_statement_is_parsed_once_and_known_at_each_execute(proxy: WireProxy) -> None:
    with connect(proxy, autocommit=True) as client:
        answers = [client.execute("SELECT %s::int", [n], prepare=True).fetchone() for n in (1, 2)]
    assert answers == [(1,), (2,)]
    kinds = [f.kind for f in proxy.frames if f.direction == ">" and f.text == "SELECT $1::int"]
    assert kinds == ["P", "E", "E"]


def test_an_error_passes_and_is_logged_with_its_sqlstate(proxy: WireProxy) -> None:
    with connect(proxy, autocommit=True) as client, pytest.raises(psycopg.errors.DivisionByZero):
        client.execute("SELECT 1 / 0")
    assert [f.text for f in proxy.frames if (f.direction, f.kind) == ("<", "E")] == ["22012"]


def test_ready_for_query_is_logged_with_the_transaction_status(proxy: WireProxy) -> None:
    with connect(proxy) as client:
        client.execute("SELECT 1")
    assert [f.text for f in proxy.frames if f.kind == "Z"] == ["I", "T", "T", "I"]


def test_connections_are_told_apart_by_number(proxy: WireProxy) -> None:
    with connect(proxy, autocommit=True) as first, connect(proxy, autocommit=True) as second:
        second.execute("SELECT 'second'")
        first.execute("SELECT 'first'")
    seen = [(f.connection, f.text) for f in proxy.frames if f.kind == "Q"]
    assert seen == [(2, "SELECT 'second'"), (1, "SELECT 'first'")]


def test_large_messages_pass_both_ways_at_once(proxy: WireProxy) -> None:
    text = "x" * 3_000_000
    with connect(proxy, autocommit=True) as client, client.pipeline():
        cursors = [client.execute("SELECT %s::text", [text]) for _ in range(5)]
        assert [cursor.fetchone() for cursor in cursors] == [(text,)] * 5


def test_a_copy_passes_both_ways(proxy: WireProxy, direct: Connection) -> None:
    with connect(proxy) as client, client.cursor() as cursor:
        with cursor.copy("COPY mark FROM STDIN") as into:
            into.write("1\n2\n")
        with cursor.copy("COPY mark TO STDOUT") as out:
            assert b"".join(bytes(data) for data in out) == b"1\n2\n"
    assert marks(direct) == [1, 2]


def test_a_request_for_encryption_is_declined_by_the_proxy(proxy: WireProxy) -> None:
    with psycopg.connect(proxy.conninfo(sslmode="prefer")) as client:
        assert not client.pgconn.ssl_in_use
    assert [f.kind for f in proxy.frames[:2]] == ["ssl", "startup"]


def test_a_request_for_gss_encryption_is_declined_by_the_proxy(proxy: WireProxy) -> None:
    port = int(psycopg.conninfo.conninfo_to_dict(proxy.conninfo())["port"] or 0)
    with socket.create_connection(("127.0.0.1", port), WAIT) as client:
        client.sendall(struct.pack("!ii", 8, 80877104))
        assert client.recv(1) == b"N"
    assert [f.kind for f in proxy.frames] == ["gssenc"]


def test_a_cancel_request_reaches_the_server(proxy: WireProxy, direct: Connection) -> None:
    direct.execute("SELECT pg_advisory_lock(%s)", [GATE])
    with connect(proxy, autocommit=True) as client, ThreadPoolExecutor(1) as pool:
        blocked = pool.submit(client.execute, "SELECT pg_advisory_lock(%s)", [GATE])
        wait_for_a_waiter(direct)
        client.cancel_safe(timeout=WAIT)
        with pytest.raises(psycopg.errors.QueryCanceled):
            blocked.result(WAIT)
    assert "cancel" in [f.kind for f in proxy.frames]


def test_the_server_may_be_reached_by_tcp(proxy: WireProxy) -> None:
    with WireProxy(proxy.conninfo()) as outer, connect(outer, autocommit=True) as client:
        assert client.execute("SELECT 1").fetchone() == (1,)
    assert "SELECT 1" in [f.text for f in proxy.frames if f.kind == "Q"]


# ------------------------------------------------------------------------------- round trips


def test_an_autocommitted_select_is_one_round_trip(proxy: WireProxy) -> None:
    with connect(proxy, autocommit=True) as client, proxy.counting() as trips:
        client.execute("SELECT 1")
    assert trips.count == 1


def test_a_select_with_parameters_is_one_round_trip(proxy: WireProxy) -> None:
    with connect(proxy, autocommit=True) as client, proxy.counting() as trips:
        client.execute("SELECT %s::int", [1])
    assert trips.count == 1


def test_a_select_in_a_transaction_is_three_round_trips(proxy: WireProxy) -> None:
    with connect(proxy) as client, proxy.counting() as trips:
        client.execute("SELECT 1")
        assert trips.count == 2
        client.commit()
    assert trips.count == 3


def test_a_pipeline_is_one_round_trip(proxy: WireProxy) -> None:
    with connect(proxy, autocommit=True) as client, proxy.counting() as trips:
        with client.pipeline():
            cursors = [client.execute("SELECT %s::int", [n]) for n in range(3)]
        assert [cursor.fetchone() for cursor in cursors] == [(0,), (1,), (2,)]
    assert trips.count == 1


def test_a_count_ends_with_its_block_and_the_total_goes_on(proxy: WireProxy) -> None:
    with connect(proxy, autocommit=True) as client:
        with proxy.counting() as trips:
            client.execute("SELECT 1")
        client.execute("SELECT 2")
    assert (trips.count, proxy.round_trips) == (1, 2)


def test_connecting_is_no_round_trip(proxy: WireProxy) -> None:
    with proxy.counting() as trips, connect(proxy):
        pass
    assert trips.count == 0


# --------------------------------------------------------------------- a server that is away


def test_new_connections_are_refused_for_a_while_and_old_ones_live_on(proxy: WireProxy) -> None:
    with connect(proxy, autocommit=True) as old:
        with proxy.refuse():
            with pytest.raises(psycopg.OperationalError):
                connect(proxy)
            with proxy.accept(), connect(proxy):
                pass
            with pytest.raises(psycopg.OperationalError):
                connect(proxy)
            assert old.execute("SELECT 1").fetchone() == (1,)
        connect(proxy).close()


def test_a_refusal_without_a_block_lasts_until_it_is_revoked(proxy: WireProxy) -> None:
    proxy.refuse()
    with pytest.raises(psycopg.OperationalError):
        connect(proxy)
    proxy.accept()
    connect(proxy).close()


def test_all_living_connections_can_be_cut_and_new_ones_made(
    proxy: WireProxy, direct: Connection
) -> None:
    with ExitStack() as stack:
        clients = [stack.enter_context(connect(proxy)) for _ in range(2)]
        for client in clients:
            client.execute("INSERT INTO mark VALUES (1)")
        proxy.cut_all()
        for client in clients:
            with pytest.raises(psycopg.OperationalError):
                client.execute("SELECT 1")
        connect(proxy).close()
    assert marks(direct) == []


# ----------------------------------------------------------------------------------- the end


def test_closing_joins_every_thread_and_cuts_idle_connections(wire_server: str) -> None:
    before = set(threading.enumerate())
    with WireProxy(wire_server) as proxy:
        client = connect(proxy, autocommit=True)
        assert set(threading.enumerate()) - before
    assert set(threading.enumerate()) == before
    with client, pytest.raises(psycopg.OperationalError):
        client.execute("SELECT 1")


def test_a_server_that_is_not_there_is_refused_at_the_start(wire_server: str) -> None:
    with pytest.raises(OSError, match=r"No such file|refused"):
        WireProxy(psycopg.conninfo.make_conninfo(wire_server, port=1))
