"""What shellcheck finds in the plugin."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugin.conftest import PLUGIN


def test_shellcheck_finds_nothing() -> None:
    beside = Path(sys.executable).with_name("shellcheck")
    program = str(beside) if beside.exists() else shutil.which("shellcheck")
    if program is None:
        pytest.skip("no shellcheck on this machine")

    done = subprocess.run(
        [program, "--shell=sh", str(PLUGIN)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, "")


def test_lines_have_at_most_a_hundred_columns() -> None:
    lines = PLUGIN.read_text("utf-8").expandtabs(4).splitlines()

    assert [line for line in lines if len(line) > 100] == []
