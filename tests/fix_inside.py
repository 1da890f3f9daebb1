"""API servers over real TLS, as a Pod reaches them, which end with their test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from tests.inside.apiserver import ApiServer
from tests.inside.certificates import Authority

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Serve(Protocol):
    """Starts an API server; its certificate names ``alternatives``, else its address."""

    def __call__(self, host: str = "127.0.0.1", *alternatives: str) -> ApiServer:
        """Return it, listening."""


@pytest.fixture(scope="session")
def cluster_ca(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Make the CA of a cluster, once."""
    return Authority.made(tmp_path_factory.mktemp("tls") / "cluster")


@pytest.fixture
def serve_api(cluster_ca: Authority, tmp_path: Path) -> Iterator[Serve]:
    """Give API servers to the test."""
    running: list[ApiServer] = []

    def start(host: str = "127.0.0.1", *alternatives: str) -> ApiServer:
        pem = cluster_ca.server(*(alternatives or (f"IP:{host}",)))
        folder = tmp_path / f"serviceaccount-{len(running)}"
        running.append(ApiServer(folder, cluster_ca.certificate, pem, host))
        return running[-1]

    yield start
    for server in running:
        server.close()


@pytest.fixture
def api_server(serve_api: Serve) -> ApiServer:
    """Give one API server to the test, at 127.0.0.1."""
    return serve_api()
