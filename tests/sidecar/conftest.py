"""A Pod for each test: on each store, or on SQLite alone where rows are not the point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fix_report import SQLITE
from tests.fix_stores import Store
from tests.sidecar.pod import Pod

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def pod(store: Store, tmp_path: Path) -> Iterator[Pod]:
    pod = Pod(tmp_path / "shared", store)
    pod.resolve()
    yield pod
    pod.close()


@pytest.fixture
def lite_pod(sqlite_path: Path, tmp_path: Path) -> Iterator[Pod]:
    pod = Pod(
        tmp_path / "shared", Store("sqlite", SQLITE, f"sqlite:///{sqlite_path}", path=sqlite_path)
    )
    pod.resolve()
    yield pod
    pod.close()
