"""The stores: a fresh database per test, cloned from a migrated template, and SQLite files.

Tests connect as the runner unless they say otherwise: what works only for an owner or a superuser
is not what a job's container can do.
"""

from __future__ import annotations

import secrets
import shutil
import sqlite3
import threading
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import psycopg
import pytest
from psycopg import sql

from tests.fix_report import SQLITE, uses
from tests.fix_servers import SERVERS, Offer, Server
from tests.template import ACCOUNTS, ALICE, TEMPLATE, Role, Templates, url

if TYPE_CHECKING:
    from collections.abc import Iterator


Connection = psycopg.Connection[Any]


@dataclass
class Database:
    """A migrated database of one test; all its connections end with the test."""

    server: Server
    name: str
    _open: list[Connection] = field(default_factory=list)

    def dsn(self, role: Role = "runner", **params: str) -> str:
        """Return a URL for ``role``; ``params`` are libpq's, such as ``application_name``."""
        return url(self.server.admin_dsn, role, self.name, params)

    def connect(self, role: Role = "runner", **kwargs: Any) -> Connection:
        """Open a connection; ``kwargs`` are those of :func:`psycopg.connect`."""
        conn: Connection = psycopg.connect(self.dsn(role), **kwargs)
        self._open.append(conn)
        return conn

    def close(self) -> None:
        """Close what :meth:`connect` opened."""
        for conn in self._open:
            conn.close()


@dataclass(frozen=True)
class Store:
    """A ledger with its business table, whichever kind: ``accounts``, with alice at 0."""

    kind: Literal["sqlite", "postgres"]
    name: str
    dsn: str = field(repr=False)
    path: Path | None = None
    db: Database | None = None

    def table(self, name: str) -> str:
        """Return the name of the ledger's table here: SQLite has no schemas."""
        return f"k8sjob_{name}" if self.kind == "sqlite" else f"k8sjob.{name}"

    def query(self, text: str) -> list[tuple[Any, ...]]:
        """Return the rows of ``text``, committed, over a connection of its own."""
        if self.path:
            with closing(sqlite3.connect(self.path)) as lite, lite:
                return lite.execute(text).fetchall()
        assert self.db
        dsn = self.db.dsn("admin", options="-c search_path=app,public")
        with psycopg.connect(dsn, autocommit=True) as conn:
            cursor = conn.execute(text.encode())
            return cursor.fetchall() if cursor.description else []


# --------------------------------------------------------------------------- Postgres


@pytest.fixture
def db(
    request: pytest.FixtureRequest, pg_server: Server, templates: Templates
) -> Iterator[Database]:
    """Give a fresh database to the test, once per server."""
    uses(request.node, pg_server.name)
    templates.add(pg_server)
    with fresh_database(pg_server) as database:
        yield database


@contextmanager
def fresh_database(server: Server) -> Iterator[Database]:
    """Clone the template that ``server`` was given; drop the clone at the end."""
    database = Database(server, f"k8sjob_t_{secrets.token_hex(6)}")
    names = {"name": sql.Identifier(database.name), "template": sql.Identifier(TEMPLATE)}
    create = "CREATE DATABASE {name} TEMPLATE {template} OWNER k8sjob_owner"
    with server.admin() as admin:
        admin.execute(sql.SQL(create).format(**names))
        try:
            yield database
        finally:
            database.close()
            admin.execute(sql.SQL("DROP DATABASE {name} WITH (FORCE)").format(**names))


@pytest.fixture(scope="session")
def templates() -> Iterator[Templates]:
    """Keep account of the template databases, and drop them at the end."""
    made = Templates()
    yield made
    made.drop()


# ----------------------------------------------------------------------------- SQLite


@pytest.fixture(scope="session")
def _sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from k8sjob.ledger.sqlite.file import migrate

    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    migrate(str(path))
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute(ACCOUNTS.format(""))
        conn.execute(ALICE.format(""))
    return path


@pytest.fixture
def sqlite_path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Give a migrated SQLite file with the business table to the test."""
    uses(request.node, SQLITE)
    template = request.getfixturevalue("_sqlite_template")
    return Path(shutil.copy(template, tmp_path / "ledger.db"))


# -------------------------------------------------------------------------- whichever


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test that uses ``store`` on SQLite and on every server."""
    if "store" in metafunc.fixturenames:
        servers = metafunc.config.stash[SERVERS]
        offers = [] if metafunc.config.option.no_server else servers.offers
        ids = ["sqlite", *(offer.id for offer in offers)]
        metafunc.parametrize("store", [None, *offers], ids=ids, indirect=True)


@pytest.fixture
def store(request: pytest.FixtureRequest, templates: Templates) -> Iterator[Store]:
    """Give a store to the test, once per kind and server."""
    offer: Offer | None = request.param
    if offer is None:
        path: Path = request.getfixturevalue("sqlite_path")
        yield Store("sqlite", SQLITE, f"sqlite:///{path}", path=path)
        return
    server = request.config.stash[SERVERS].get(offer)
    uses(request.node, server.name)
    templates.add(server)
    with fresh_database(server) as database:
        # The same SQL on every store: the runner finds `accounts` without its schema.
        path_for_runner = "ALTER ROLE k8sjob_runner IN DATABASE {} SET search_path = app, public"
        with server.admin() as admin:
            admin.execute(sql.SQL(path_for_runner).format(sql.Identifier(database.name)))
        yield Store("postgres", server.name, database.dsn("runner"), db=database)


def wait_until_blocked(conn: Connection, pid: int, timeout: float = 30.0) -> None:
    """Return once backend ``pid`` waits for a lock that another backend holds.

    ``conn`` is the superuser's. A transaction sees one snapshot of the activity, so it is thrown
    away before each look. Raises ``AssertionError`` with the activity after ``timeout`` seconds.
    """
    give_up = time.monotonic() + timeout
    blocked = """SELECT FROM pg_stat_activity WHERE pid = %s AND wait_event_type = 'Lock'
                    AND pg_blocking_pids(pid) <> '{}'"""
    while time.monotonic() < give_up:
        conn.execute("SELECT pg_stat_clear_snapshot()")
        if conn.execute(blocked, (pid,)).fetchone() is not None:
            return
        threading.Event().wait(0.01)
    raise AssertionError(f"backend {pid} waits for no lock; the server runs:\n{_activity(conn)}")


def _activity(conn: Connection) -> str:
    rows = conn.execute(
        """SELECT pid, usename, application_name, state, wait_event_type, wait_event, query
             FROM pg_stat_activity WHERE backend_type = 'client backend' ORDER BY pid"""
    ).fetchall()
    return "\n".join("  ".join(str(value) for value in row) for row in rows)
