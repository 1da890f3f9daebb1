"""A small API server for each test, and a cluster that is one."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from k8sjob.kube.client import Cluster
from tests.kube.apiserver import ApiServer, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def api() -> Iterator[ApiServer]:
    """Serve the Kubernetes API in small."""
    with serving() as server:
        yield server


@pytest.fixture
def pauses() -> list[float]:
    """Return the pauses that the cluster of this test has made, in seconds."""
    return []


@pytest.fixture
def cluster(api: ApiServer, tmp_path: Path, pauses: list[float]) -> Iterator[Cluster]:
    """Connect to it; pauses are written down and not made."""
    config = api.kubeconfig(tmp_path)
    with closing(Cluster.connect(kubeconfig=config, pause=pauses.append)) as connected:
        yield connected
