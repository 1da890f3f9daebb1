"""The application over a ledger of Postgres that has something of everything, at a fixed moment."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from k8sjob.ledger.settings import parse
from k8sjob.serve.app import App
from k8sjob.serve.site import Site
from tests.fix_report import uses
from tests.fix_stores import fresh_database
from tests.serve import scene
from tests.serve.client import Client

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fix_servers import Server
    from tests.fix_stores import Database
    from tests.template import Templates


def find_reader(db: Database) -> dict[str, scene.Find]:
    """Return how to find a test's ledger, as somebody who may only look."""
    return {"default": lambda: parse(db.dsn("reader"), "the test")}


def serving(db: Database) -> closing[Site]:
    """Serve a ledger at 19:00 on 13 September 2026."""
    return closing(Site(find_reader(db), now=lambda _: scene.NOW))


@pytest.fixture(scope="session")
def gallery(pg_server: Server, templates: Templates) -> Iterator[Database]:
    """Give a ledger with the whole scene to all tests that only look at it, once per server."""
    templates.add(pg_server)
    with fresh_database(pg_server) as database:
        with database.connect("admin") as conn:
            scene.paint(conn)
        yield database


@pytest.fixture
def client(request: pytest.FixtureRequest, gallery: Database) -> Iterator[Client]:
    """Ask the application that serves the gallery."""
    uses(request.node, gallery.server.name)
    with serving(gallery) as site:
        yield Client(App.of(site))


@pytest.fixture
def painted(db: Database) -> Database:
    """Give a ledger of its own with the whole scene to a test that changes something."""
    with db.connect("admin") as conn:
        scene.paint(conn)
    return db


@pytest.fixture
def own(painted: Database) -> Iterator[Client]:
    """Ask the application that serves the test's own ledger."""
    with serving(painted) as site:
        yield Client(App.of(site))
