"""The process: it starts, answers what it has begun to answer, and gives everything back."""

from __future__ import annotations

import signal
import socket
from typing import TYPE_CHECKING

import pytest

from tests.serve.process import Asking, serving, wait_until

if TYPE_CHECKING:
    from tests.fix_stores import Connection, Database

OURS = "datname = current_database() AND application_name IN ('k8sjob reader', 'k8sjob exporter')"


def connections(admin: Connection) -> int:
    """Return how many connections of ours the database has."""
    row = admin.execute(f"SELECT count(*) FROM pg_stat_activity WHERE {OURS}".encode()).fetchone()
    assert row
    return int(row[0])


def waiting(admin: Connection) -> int:
    """Return how many of them wait for a lock."""
    query = f"SELECT count(*) FROM pg_stat_activity WHERE {OURS} AND wait_event_type = 'Lock'"
    row = admin.execute(query.encode()).fetchone()
    assert row
    return int(row[0])


@pytest.fixture
def admin(painted: Database) -> Connection:
    return painted.connect("admin", autocommit=True)


@pytest.fixture
def lock(painted: Database) -> Connection:
    """Hold what every look at a ledger needs, until it is rolled back."""
    conn = painted.connect("admin")
    conn.execute("LOCK TABLE k8sjob.gate IN ACCESS EXCLUSIVE MODE")
    return conn


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_it_is_told_to_stop_and_gives_its_connections_back(
    painted: Database, admin: Connection, number: signal.Signals
) -> None:
    with serving(painted.dsn("reader")) as server:
        assert server.get("/healthz").text == "ok\n"
        assert server.get("/readyz").text == "ready: ledger default answers\n"
        assert "billing/" in server.get("/").text
        assert 'k8sjob_up{ledger="default"} 1' in server.get("/metrics").text
        assert connections(admin) == 2
        server.signal(number)
        assert server.end() == 0
    assert server.said[-1] == "k8sjob: stopped\n"
    wait_until(lambda: connections(admin) == 0, "the connections are closed")


def test_what_is_being_answered_when_it_is_told_to_stop_is_answered(
    painted: Database, admin: Connection, lock: Connection
) -> None:
    with serving(painted.dsn("reader")) as server:
        asked = Asking(server, "/api/v1/jobs")
        wait_until(lambda: waiting(admin) == 1, "the reader waits for the lock")
        server.signal()
        wait_until(lambda: not server.takes_connections(), "nobody new is let in")
        assert server.process.poll() is None
        lock.rollback()
        got = asked.answer()
        assert server.end() == 0
    assert got.status == 200
    assert b"daily-credit" in got.body


def test_a_connection_that_only_stands_open_keeps_nobody_waiting(painted: Database) -> None:
    with (
        serving(painted.dsn("reader")) as server,
        socket.create_connection(("127.0.0.1", server.port)) as idle,
    ):
        idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = b""
        while not answer.endswith(b"\r\n\r\nok\n"):
            answer += idle.recv(1000)
        server.signal()
        assert server.end() == 0
        assert idle.recv(1000) == b""


def test_it_lives_while_all_pages_wait_for_the_ledger(
    painted: Database, admin: Connection, lock: Connection
) -> None:
    with serving(painted.dsn("reader")) as server:
        asked = [Asking(server, f"/api/v1/jobs?limit={number}") for number in range(1, 11)]
        wait_until(lambda: waiting(admin) == 4, "as many wait as there may be connections")
        wait_until(lambda: server.get("/api/v1/jobs").status == 503, "no more are let in")
        assert server.get("/healthz").status == 200
        assert server.get("/static/none").status == 404
        assert connections(admin) == 4
        lock.rollback()
        for one in asked:
            one.answer()
        assert server.get("/api/v1/jobs").status == 200


def test_scrapes_at_once_share_one_snapshot(
    painted: Database, admin: Connection, lock: Connection
) -> None:
    with serving(painted.dsn("reader")) as server:
        asked = [Asking(server, "/metrics") for _ in range(4)]
        wait_until(lambda: waiting(admin) == 1, "the exporter waits for the lock")
        lock.rollback()
        scrapes = {one.answer().text for one in asked}
    assert len(scrapes) == 1
    assert "k8sjob_unfinished_periods{" in scrapes.pop()


def test_a_port_that_somebody_has_is_told(painted: Database) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(AssertionError, match="Address already in use"),
        serving(painted.dsn("reader"), "--listen", f"127.0.0.1:{taken.getsockname()[1]}"),
    ):
        pass


def test_over_http_head_has_no_body_and_a_connection_serves_more_than_once(
    painted: Database,
) -> None:
    with (
        serving(painted.dsn("reader")) as server,
        socket.create_connection(("127.0.0.1", server.port), 30) as conn,
    ):
        conn.sendall(b"HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        conn.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        said = b""
        while more := conn.recv(65536):
            said += more
    first, _, rest = said.partition(b"\r\n\r\n")
    assert b"Content-Length: 3" in first
    assert rest.startswith(b"HTTP/1.1 200 OK")
    assert rest.endswith(b"\r\n\r\nok\n")
    assert b"\r\nServer:" not in said


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 40_000 + b"\r\n\r\n", b"431"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n", b"413"),
        (b"GET http://x:99999999/ HTTP/1.1\r\nHost: x\r\n\r\n", b"200"),
    ],
    ids=["nonsense", "headers", "body", "absolute"],
)
def test_what_is_no_sound_request_harms_nothing(
    painted: Database, sent: bytes, status: bytes
) -> None:
    with serving(painted.dsn("reader")) as server:
        with socket.create_connection(("127.0.0.1", server.port), 30) as conn:
            conn.sendall(sent)
            assert conn.recv(65536)[9:12] == status
        assert server.get("/healthz").status == 200
