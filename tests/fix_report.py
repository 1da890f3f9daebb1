"""The closing lines of a run: which stores the tests met, how many passed there, what was not met.

A fixture that stands for a store says so with :func:`uses`; a store that this machine cannot offer
is named with :func:`cannot_meet`. ``K8SJOB_TEST_REPORT`` names a file for the same as JSON.
"""

from __future__ import annotations

import json
import os
import platform
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

SQLITE = "SQLite"
PGBOUNCER = "PgBouncer"
NOT_USED = "no test of this run used it"

_USED = pytest.StashKey[set[str]]()
_REPORT = pytest.StashKey["Report"]()


@dataclass
class Tally:
    """What the tests of one store came to; ``why`` is the reason where none of them ran."""

    passed: int = 0
    failed: int = 0
    why: str = ""

    @property
    def met(self) -> bool:
        """Whether a test used this store and passed."""
        return self.passed > 0

    def line(self, store: str) -> str:
        """Return the closing line of ``store``."""
        if not self.passed and not self.failed:
            return f"NOT MET: {store} ({self.why or NOT_USED})"
        return f"{store}: {self.passed} passed, {self.failed} failed"


@dataclass
class Report:
    """One tally per store, in the order in which the stores became known."""

    started: float = field(default_factory=time.monotonic)
    stores: dict[str, Tally] = field(default_factory=dict)

    def tally(self, store: str) -> Tally:
        """Return the tally of ``store``, made at its first mention."""
        return self.stores.setdefault(store, Tally())

    def as_json(self) -> str:
        """Return the report as JSON: per store ``met``, ``passed``, ``failed`` and ``why``."""
        stores = {name: {"met": t.met, **asdict(t)} for name, t in self.stores.items()}
        seconds = round(time.monotonic() - self.started, 1)
        report = {"python": platform.python_version(), "seconds": seconds, "stores": stores}
        return json.dumps(report, indent=2) + "\n"


def uses(item: pytest.Item, store: str) -> None:
    """Count the test ``item`` for ``store``, whatever comes of it."""
    item.stash.setdefault(_USED, set()).add(store)


def cannot_meet(config: pytest.Config, store: str, why: str) -> None:
    """Name the reason why no test will run on ``store``."""
    config.stash[_REPORT].tally(store).why = why


def expect(config: pytest.Config, store: str) -> None:
    """Give ``store`` a closing line, even if no test gets to it."""
    config.stash[_REPORT].tally(store)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Start an empty report."""
    config.stash[_REPORT] = Report()
    expect(config, SQLITE)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the test to the tallies of the stores that it used: a pass at its call, or a failure."""
    phase = yield
    for store in item.stash.get(_USED, ()):
        tally = item.config.stash[_REPORT].tally(store)
        if phase.failed:
            tally.failed += 1
        elif phase.when == "call" and phase.passed:
            tally.passed += 1
    return phase


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the JSON where it was asked for."""
    if target := os.environ.get("K8SJOB_TEST_REPORT"):
        Path(target).write_text(session.config.stash[_REPORT].as_json(), encoding="utf-8")


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Write a line per store."""
    terminalreporter.section("stores that the tests met")
    for store, tally in config.stash[_REPORT].stores.items():
        terminalreporter.write_line(tally.line(store), red=not tally.met or bool(tally.failed))
