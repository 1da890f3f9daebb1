"""Builds take longer than other tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.image.job import Job

if TYPE_CHECKING:
    from tests.fix_docker import Docker
    from tests.fix_stores import Database

HERE = Path(__file__).parent
_BUILDS_S = 1300


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each test the time that it needs where it is the one that builds."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.timeout(_BUILDS_S))


@pytest.fixture
def job(docker: Docker, db: Database, tmp_path: Path) -> Job:
    """Return what runs a job of this database."""
    if db.connect("admin").info.host.startswith("/"):
        pytest.skip("this server has only a socket, which no container reaches")
    return Job(docker, db, tmp_path)
