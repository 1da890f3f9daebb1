"""A ledger goes away and comes back, and the process sees to it by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
from psycopg import sql

from tests.serve.process import Serving, serving, wait_until
from tests.wire import WireProxy

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fix_stores import Database

ALL = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"


def shut(db: Database) -> None:
    """Let nobody into the database any more, and put all out who are in."""
    with psycopg.connect(db.server.admin_dsn, autocommit=True) as conn:
        name = sql.Identifier(db.name)
        conn.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(name))
        conn.execute(ALL, (db.name,))


def unlock(db: Database) -> None:
    """Let all in again."""
    with psycopg.connect(db.server.admin_dsn, autocommit=True) as conn:
        name = sql.Identifier(db.name)
        conn.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS true").format(name))


def is_up(server: Serving) -> bool:
    return 'k8sjob_up{ledger="default"} 1' in server.get("/metrics").text


def test_a_ledger_that_is_away_at_the_start_is_served_once_it_is_there(painted: Database) -> None:
    with WireProxy(painted.dsn("reader")) as proxy:
        proxy.refuse()
        with serving(proxy.conninfo()) as server:
            assert server.get("/healthz").status == 200
            assert server.get("/readyz").status == 503
            got = server.get("/")
            assert got.status == 503
            assert "Ledger default does not answer." in got.text
            assert not is_up(server)
            proxy.accept()
            wait_until(lambda: server.get("/readyz").status == 200, "it is ready")
            assert "daily-credit" in server.get("/").text
            wait_until(lambda: is_up(server), "the exporter is back")
            server.signal()
            assert server.end() == 0


def test_a_server_that_was_restarted_is_not_away_at_all(painted: Database) -> None:
    with serving(painted.dsn("reader")) as server:
        assert server.get("/api/v1/jobs").status == 200
        with psycopg.connect(painted.server.admin_dsn, autocommit=True) as conn:
            ended = conn.execute(ALL, (painted.name,)).fetchall()
        assert ended
        assert server.get("/api/v1/jobs").status == 200


def test_a_ledger_that_goes_away_is_told_and_comes_back_by_itself(painted: Database) -> None:
    with serving(painted.dsn("reader")) as server:
        assert is_up(server)
        assert server.get("/jobs/billing/daily-credit").status == 200
        shut(painted)
        for path in ("/", "/jobs/billing/daily-credit", "/api/v1/jobs", "/api/v1/periods"):
            got = server.get(path)
            assert got.status == 503, path
            assert "is not currently accepting connections" in got.text
        wait_until(lambda: not is_up(server), "the last snapshot is old")
        assert server.get("/healthz").status == 200
        unlock(painted)
        wait_until(lambda: server.get("/").status == 200, "the page is back")
        wait_until(lambda: is_up(server), "the exporter is back")
        assert server.get("/jobs/billing/daily-credit").status == 200


def test_one_ledger_that_is_away_hides_nothing_of_the_other(
    painted: Database, tmp_path: Path
) -> None:
    (tmp_path / "south").write_text("postgresql://k8sjob:hunter2@127.0.0.1:1/none\n")
    with serving(painted.dsn("reader"), K8SJOB_LEDGERS_DIR=str(tmp_path)) as server:
        assert server.get("/readyz").status == 200
        page, scrape = server.get("/").text, server.get("/metrics").text
    assert "Ledger south does not answer." in page
    assert "daily-credit" in page
    assert 'k8sjob_up{ledger="default"} 1' in scrape
    assert 'k8sjob_up{ledger="south"} 0' in scrape
    assert "hunter2" not in page + scrape + "".join(server.said)


def test_a_password_that_was_changed_is_taken_at_the_next_connect(
    painted: Database, tmp_path: Path
) -> None:
    secret = tmp_path / "default"
    secret.write_text("postgresql://nobody@127.0.0.1:1/none")
    with serving("", "--ledger", "default", K8SJOB_LEDGERS_DIR=str(tmp_path)) as server:
        assert server.get("/readyz").status == 503
        secret.write_text(painted.dsn("reader"))
        wait_until(lambda: server.get("/readyz").status == 200, "it is ready")


def test_a_ledger_without_the_right_to_look_says_what_to_grant(db: Database) -> None:
    with db.connect("admin", autocommit=True) as conn:
        conn.execute("REVOKE ALL ON ALL TABLES IN SCHEMA k8sjob FROM k8sjob_reader")
    with serving(db.dsn("reader")) as server:
        got = server.get("/readyz")
        assert got.status == 503
        assert "k8sjob migrate --grant-reader ROLE" in got.text
        assert "k8sjob migrate --grant-reader ROLE" in server.get("/").text
