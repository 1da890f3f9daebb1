"""Builds take longer than other tests."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
_BUILDS_S = 1300


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each test the time that it needs where it is the one that builds."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.timeout(_BUILDS_S))
