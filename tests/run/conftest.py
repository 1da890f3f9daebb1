"""Fixtures for the behaviours of ``k8sjob run``.

Many tests, each a matter of milliseconds: on a server they share one database, which each of them
finds as if it were new.
"""

from __future__ import annotations

import logging
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import sql

from k8sjob.run import perform
from tests.fix_report import uses
from tests.fix_servers import SERVERS, Offer, Server
from tests.fix_stores import Database, Store, fresh_database
from tests.run.commandline import CommandLine
from tests.run.failing import FAILS
from tests.template import ACCOUNTS, ALICE, Templates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_KEPT = "migrations", "ledger", "grants"
_BUSINESS = f"""
DROP SCHEMA app CASCADE;
CREATE SCHEMA app;
{ACCOUNTS.format("app.")};
{ALICE.format("app.")};
GRANT USAGE ON SCHEMA app TO k8sjob_runner;
GRANT SELECT, INSERT, UPDATE ON app.accounts TO k8sjob_runner;
"""


@dataclass
class Shared:
    """One database per server, for all tests of this folder."""

    templates: Templates
    stack: ExitStack
    made: dict[str, Database] = field(default_factory=dict)

    def store(self, server: Server) -> Store:
        """Return the server's database, with what the tests before have left in it taken out."""
        if server.name not in self.made:
            self.templates.add(server)
            self.made[server.name] = self.stack.enter_context(fresh_database(server))
        database = self.made[server.name]
        database.close()
        with psycopg.connect(database.dsn("admin"), autocommit=True) as admin:
            _make_as_new(admin)
        return Store("postgres", server.name, database.dsn("runner"), db=database)


def _make_as_new(admin: psycopg.Connection) -> None:
    """Take all rows out of the ledger and make the business anew."""
    admin.execute(
        """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()"""
    )
    tables = admin.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'k8sjob' AND tablename <> ALL (%s)",
        (list(_KEPT),),
    ).fetchall()
    delete = sql.SQL("; ").join(
        sql.SQL("DELETE FROM k8sjob.{}").format(sql.Identifier(name)) for (name,) in tables
    )
    admin.execute(delete)
    admin.execute(_BUSINESS)
    database = sql.Identifier(admin.info.dbname)
    for change in ("RESET ALL", "SET search_path = app, public"):
        alter = f"ALTER ROLE k8sjob_runner IN DATABASE {{}} {change}"
        admin.execute(sql.SQL(alter).format(database))


@pytest.fixture(scope="session")
def shared(templates: Templates) -> Iterator[Shared]:
    """Keep the databases until the end."""
    with ExitStack() as stack:
        yield Shared(templates, stack)


@pytest.fixture
def command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[[Store], CommandLine]:
    """Make command lines whose effects on this process end with the test."""
    monkeypatch.setattr(sys, "path", list(sys.path))  # a target's folder is put on it
    logger = logging.getLogger("k8sjob")
    for name, before in (("handlers", []), ("level", logger.level), ("propagate", True)):
        monkeypatch.setattr(logger, name, before)
    monkeypatch.setattr(logging, "lastResort", logging.lastResort)
    return partial(CommandLine, patch=monkeypatch, capsys=capsys, folder=tmp_path)


@pytest.fixture
def pg(
    request: pytest.FixtureRequest,
    pg_server: Server,
    shared: Shared,
    command_line: Callable[[Store], CommandLine],
) -> CommandLine:
    """Give the command line to the test, on every server."""
    uses(request.node, pg_server.name)
    return command_line(shared.store(pg_server))


@pytest.fixture
def lite(sqlite_path: Path, command_line: Callable[[Store], CommandLine]) -> CommandLine:
    """Give the command line to the test, on a SQLite file."""
    return command_line(Store("sqlite", "SQLite", f"sqlite:///{sqlite_path}", path=sqlite_path))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test that uses ``cli`` on SQLite and on every server."""
    if "cli" in metafunc.fixturenames:
        servers = metafunc.config.stash[SERVERS]
        offers = [] if metafunc.config.option.no_server else servers.offers
        ids = ["sqlite", *(offer.id for offer in offers)]
        metafunc.parametrize("cli", [None, *offers], ids=ids, indirect=True)


@pytest.fixture
def cli(
    request: pytest.FixtureRequest, command_line: Callable[[Store], CommandLine]
) -> CommandLine:
    """Give the command line to the test, on SQLite and on every server."""
    offer: Offer | None = request.param
    if offer is None:
        on_file: CommandLine = request.getfixturevalue("lite")
        return on_file
    server = request.config.stash[SERVERS].get(offer)
    uses(request.node, server.name)
    shared: Shared = request.getfixturevalue("shared")
    return command_line(shared.store(server))


@pytest.fixture
def failing(pg: CommandLine, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """Give a store with a function that fails as often as it is told to."""
    monkeypatch.setattr(perform, "_FIRST_PAUSE_S", 0)
    pg.query(FAILS)
    return pg
