"""Fixtures for ``k8sjob migrate``: a terminal, and an empty database on every server."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import pytest
from psycopg import sql

from tests.fix_report import uses
from tests.fix_stores import Database
from tests.migration.empty import Empty, Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fix_servers import Server
    from tests.template import Templates


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    """Call ``k8sjob`` in this process."""
    return Terminal(monkeypatch, capsys)


@pytest.fixture
def empty(
    request: pytest.FixtureRequest, pg_server: Server, templates: Templates, terminal: Terminal
) -> Iterator[Empty]:
    """Give an empty database to the test, once per server."""
    uses(request.node, pg_server.name)
    templates.add(pg_server)  # for the roles
    db = Database(pg_server, f"k8sjob_t_{secrets.token_hex(6)}")
    name = sql.Identifier(db.name)
    with pg_server.admin() as server:
        server.execute(sql.SQL("CREATE DATABASE {} OWNER k8sjob_owner").format(name))
        empty = Empty(db, terminal, db.connect("admin", autocommit=True))
        try:
            yield empty
        finally:
            db.close()
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))
            for role in empty.made:
                server.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))
