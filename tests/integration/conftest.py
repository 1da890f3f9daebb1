"""Fixtures of the tests of what each role can do with the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.functions import Functions
from tests.migration.empty import Terminal

if TYPE_CHECKING:
    from tests.fix_stores import Database


@pytest.fixture
def ledger(db: Database) -> Functions:
    """Give a ledger with a period in each situation."""
    functions = Functions(db)
    functions.prepare()
    return functions


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    """Call ``k8sjob`` in this process."""
    return Terminal(monkeypatch, capsys)
