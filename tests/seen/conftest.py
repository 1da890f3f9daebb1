"""Prometheus and Alertmanager themselves, or a plain word that they are not here.

There is one play per server (``play.py``); ``seen`` is what it has seen, and the tests are about
that. At the end of the run a line per alert tells what the time went to.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.fix_report import cannot_meet, expect, uses
from tests.fix_stores import fresh_database

if TYPE_CHECKING:
    from tests.fix_servers import Server
    from tests.seen.play import Seen
    from tests.template import Templates

PROMETHEUS = "Prometheus and Alertmanager"
_PACKAGES = ("prometheus", "prometheus-alertmanager")  # Debian's, and the programs' names
#: What each server's play has seen, None where it failed; and the lines for the end of the run.
_PLAYED = pytest.StashKey[dict[str, "Seen | None"]]()
_LINES = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Say before any test whether they are here."""
    config.stash[_PLAYED], config.stash[_LINES] = {}, []
    expect(config, PROMETHEUS)
    if why := _why_not():
        cannot_meet(config, PROMETHEUS, why)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Tell what the times were."""
    if lines := config.stash[_LINES]:
        terminalreporter.section("from a deadline to the message about it")
        for line in lines:
            terminalreporter.write_line(line)


@pytest.fixture
def seen(
    request: pytest.FixtureRequest,
    pg_server: Server,
    templates: Templates,
    tmp_path_factory: pytest.TempPathFactory,
) -> Seen:
    """Give what the play on this server has seen; the first test that asks waits for it."""
    if why := _why_not():
        pytest.skip(f"{PROMETHEUS}: {why}")
    uses(request.node, PROMETHEUS)
    uses(request.node, pg_server.name)
    # Tests come in any order, and each server in turn: what was played is not played again.
    played = request.config.stash[_PLAYED]
    if pg_server.name not in played:
        templates.add(pg_server)
        played[pg_server.name] = None  # unless it comes to its end
        played[pg_server.name] = seen = _play(pg_server, tmp_path_factory)
        request.config.stash[_LINES] += _lines(pg_server, seen)
    found = played[pg_server.name]
    if found is None:
        pytest.fail("the play has failed: the first test of this server tells how", pytrace=False)
    return found


def _play(server: Server, folders: pytest.TempPathFactory) -> Seen:
    from tests.seen.play import play

    with fresh_database(server) as database:
        return play(database, folders.mktemp("seen"))


def _lines(server: Server, seen: Seen) -> list[str]:
    from tests.seen.files import FACTOR

    shortened = f"intervals, for and group wait are 1/{FACTOR} of the shipped ones"
    return [f"{server.name}; {shortened}", *(took.line(f"  {n}") for n, took in seen.took.items())]


def _why_not() -> str | None:
    missing = [name for name in _PACKAGES if shutil.which(name) is None]
    if not missing:
        return None
    how = f"on Debian: apt-get install {' '.join(missing)}"
    return f"no {' and '.join(missing)} on this machine; {how}"
