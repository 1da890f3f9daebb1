"""Ready is who has a ledger to serve; the kubelet is told soon, whatever hangs."""

from __future__ import annotations

import socket
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from k8sjob.ledger.settings import parse
from k8sjob.serve.app import App
from k8sjob.serve.site import Site
from tests.serve.client import Client
from tests.serve.conftest import find_reader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fix_stores import Database
    from tests.serve.scene import Find


@pytest.fixture
def hanging() -> Iterator[Find]:
    """Give a ledger that lets all connect, and says nothing; they give up after two seconds."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        dsn = f"postgresql://127.0.0.1:{mute.getsockname()[1]}/none?connect_timeout=2"
        yield lambda: parse(dsn, "the test")


def test_one_that_answers_is_enough_though_another_hangs(db: Database, hanging: Find) -> None:
    finds = {"hanging": hanging, **find_reader(db)}
    with closing(Site(finds, within_s=60)) as site:
        # It would take a minute if it waited for all, and two seconds for those that give up.
        got = Client(App.of(site)).get("/readyz")
        asked = site.shelves["hanging"].has_answered_lately()
    assert (got.status, got.text) == (200, "ready: ledger default answers\n")
    assert not asked


def test_one_that_hangs_is_told_after_a_while(hanging: Find) -> None:
    with closing(Site({"hanging": hanging}, within_s=0.2)) as site:
        got = Client(App.of(site)).get("/readyz")
    assert got.status == 503
    assert got.text.startswith("not ready\nhanging: the ledger has not answered within 0.2 s")


def test_one_that_has_answered_a_page_need_not_be_asked(db: Database) -> None:
    finds = find_reader(db)
    with closing(Site(finds)) as site:
        client = Client(App.of(site))
        assert client.get("/").status == 200
        site.shelves["default"].find = lambda: parse("postgresql://127.0.0.1:1/none", "the test")
        assert client.get("/readyz").status == 200
