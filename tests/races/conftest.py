"""The arena of each race: on every server, at each isolation level, and once through a pooler.

There are hundreds of races and a new database costs more than a race, so one is kept per server
and emptied before each of them.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from psycopg import IsolationLevel

from tests.fix_pgbouncer import pooling
from tests.fix_report import PGBOUNCER, uses
from tests.fix_stores import fresh_database
from tests.races.arena import PREPARE, RESET, Arena

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fix_pgbouncer import PgBouncer
    from tests.fix_servers import Server
    from tests.fix_stores import Connection, Database
    from tests.template import Templates

WAYS = {
    "read-committed": IsolationLevel.READ_COMMITTED,
    "repeatable-read": IsolationLevel.REPEATABLE_READ,
    "serializable": IsolationLevel.SERIALIZABLE,
    "pgbouncer": IsolationLevel.READ_COMMITTED,
}


@dataclass
class Venues:
    """The databases that races are held in, and the poolers before them."""

    templates: Templates
    stack: ExitStack
    databases: dict[str, Database] = field(default_factory=dict)
    poolers: dict[str, PgBouncer] = field(default_factory=dict)

    def database(self, server: Server) -> Database:
        """Return the one of ``server``, emptied."""
        if server.name not in self.databases:
            self.templates.add(server)
            made = self.stack.enter_context(fresh_database(server))
            self.databases[server.name] = made
            with made.connect("admin", autocommit=True) as admin:
                admin.execute(PREPARE.format(database=made.name).encode())
        with self.databases[server.name].connect("admin", autocommit=True) as admin:
            admin.execute(RESET.encode())
        return self.databases[server.name]

    def pooler(self, server: Server) -> PgBouncer:
        """Return the one before the database of ``server``."""
        if server.name not in self.poolers:
            made = self.stack.enter_context(pooling(self.databases[server.name]))
            self.poolers[server.name] = made
        return self.poolers[server.name]


@pytest.fixture(scope="session")
def venues(templates: Templates) -> Iterator[Venues]:
    """Keep account of the databases, and drop them at the end."""
    with ExitStack() as stack:
        yield Venues(templates, stack)


@pytest.fixture(params=list(WAYS))
def arena(request: pytest.FixtureRequest, pg_server: Server, venues: Venues) -> Iterator[Arena]:
    """Give an empty ledger: on every server, at each level, and once through PgBouncer."""
    uses(request.node, pg_server.name)
    way: str = request.param
    database = venues.database(pg_server)
    pooler = None
    if way == "pgbouncer":
        pooler = venues.pooler(pg_server)
        uses(request.node, PGBOUNCER)
    arena = Arena(database, WAYS[way], pooler)
    yield arena
    arena.close()


@pytest.fixture
def conn(arena: Arena) -> Connection:
    """Connect in autocommit mode, where each statement is a transaction of its own."""
    conn = arena.racer().conn
    conn.isolation_level = None
    conn.autocommit = True
    if arena.pooler is None:  # a pooler would hand the session's setting on to others
        level = arena.level.name.replace("_", " ")
        conn.execute(f"SET default_transaction_isolation = '{level}'".encode())
    return conn
