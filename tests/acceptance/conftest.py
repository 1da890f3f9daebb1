"""Fixtures of the acceptance tests: processes, and the command line in this process."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.processes import Processes
from tests.run.commandline import CommandLine

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.fix_stores import Store


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    """Start processes for the test; whatever still runs at its end is killed."""
    started = Processes(tmp_path)
    yield started
    started.close()


@pytest.fixture
def cli(
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> CommandLine:
    """Give the command line to the test, in this process, so that a target may be its own."""
    monkeypatch.setattr(sys, "path", list(sys.path))  # a target's folder is put on it
    return CommandLine(store, monkeypatch, capsys, tmp_path)
