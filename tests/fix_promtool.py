"""``promtool`` and ``amtool``: what Prometheus and Alertmanager themselves say of their files."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass

import pytest

from tests.fix_report import cannot_meet, expect, uses

PROMTOOL = "promtool"
ALERTMANAGER = "Alertmanager"

#: What has to be on PATH for each, and Debian's package that brings it.
_PROGRAMS = {
    PROMTOOL: (("promtool",), "prometheus"),
    ALERTMANAGER: (("amtool", "prometheus-alertmanager"), "prometheus-alertmanager"),
}


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether a program was content, what it put out, and that with its talk."""

    ok: bool
    data: str
    text: str


def pytest_configure(config: pytest.Config) -> None:
    """Say before any test whether they are here."""
    for store in _PROGRAMS:
        expect(config, store)
        if why := _why_not(store):
            cannot_meet(config, store, why)


@pytest.fixture
def promtool(request: pytest.FixtureRequest) -> Promtool:
    """Return the program, or skip the test where there is none."""
    _need(request, PROMTOOL)
    return Promtool()


@pytest.fixture
def amtool(request: pytest.FixtureRequest) -> Amtool:
    """Return the program, or skip the test where it or Alertmanager is missing."""
    _need(request, ALERTMANAGER)
    return Amtool()


class Promtool:
    """Checks rules, and tests them."""

    def check(self, *files: str) -> Answer:
        """Read files of rules."""
        return ask("promtool", "check", "rules", "--lint=all", "--lint-fatal", *files)

    def test(self, *files: str) -> Answer:
        """Run files of tests, each of which names its rules."""
        return ask("promtool", "test", "rules", *files)

    def check_config(self, file: str) -> Answer:
        """Read a configuration of Prometheus, without the files that it names."""
        return ask("promtool", "check", "config", "--syntax-only", file)


class Amtool:
    """Checks a configuration of Alertmanager, and routes alerts by it."""

    def check(self, file: str) -> Answer:
        """Read the configuration."""
        return ask("amtool", "check-config", file)

    def route(self, file: str, labels: dict[str, str]) -> str:
        """Return the names of the receivers of an alert, with commas."""
        words = [f"{name}={value}" for name, value in labels.items()]
        return ask("amtool", "config", "routes", "test", f"--config.file={file}", *words).data


def ask(*words: str) -> Answer:
    """Run a program to its end."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    talk = (done.stdout + done.stderr).strip()
    return Answer(done.returncode == 0, done.stdout.strip(), talk)


def _need(request: pytest.FixtureRequest, store: str) -> None:
    if why := _why_not(store):
        pytest.skip(f"{store}: {why}")
    uses(request.node, store)


def _why_not(store: str) -> str | None:
    programs, package = _PROGRAMS[store]
    if all(shutil.which(program) for program in programs):
        return None
    return f"no {' and '.join(programs)} on this machine; on Debian: apt-get install {package}"
