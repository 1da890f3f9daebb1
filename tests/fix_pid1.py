"""Programs as PID 1 of a process namespace of their own, as in a container."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from tests.fix_report import cannot_meet, expect, uses

PID_1 = "PID 1"

_ALONE = "--pid", "--fork", "--kill-child", "--mount-proc"


def pytest_configure(config: pytest.Config) -> None:
    """Give it a closing line."""
    expect(config, PID_1)


@pytest.fixture(scope="session")
def unshare() -> list[str] | str:
    """Return the command that makes what follows it PID 1, or the reason why there is none."""
    program = shutil.which("unshare")
    if program is None:
        return "no unshare on this machine; it is part of util-linux"
    as_user = ("--user", "--map-root-user") if os.geteuid() else ()
    command = [program, *as_user, *_ALONE]
    tried = subprocess.run([*command, "true"], capture_output=True, text=True, check=False)
    return f"unshare is not permitted: {tried.stderr.strip()}" if tried.returncode else command


@pytest.fixture
def pid_1(request: pytest.FixtureRequest, unshare: list[str] | str) -> list[str]:
    """Return the words to put before a command; skip the test where that is not permitted."""
    if isinstance(unshare, str):
        cannot_meet(request.config, PID_1, unshare)
        pytest.skip(f"{PID_1}: {unshare}")
    uses(request.node, PID_1)
    return unshare
