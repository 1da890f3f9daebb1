"""Mode sidecar's lines of shell: the command's environment, its exit code, signals to it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from k8sjob.manifest.inject.sidecar import FOLDER, SCRIPT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SHELLS = [shell for shell in ("sh", "dash", "bash", "ksh", "busybox") if shutil.which(shell)]
FORMS = {"lines": SCRIPT, "one line": SCRIPT.replace("\n", "; ")}


@pytest.fixture(params=[(shell, form) for shell in SHELLS for form in FORMS], ids=" ".join)
def front(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """Return what stands before a command, with a folder of the test's own."""
    shell, form = request.param
    (tmp_path / "env").write_text("export K8SJOB_KEY='billing/it'\\''s:2026-09-13'\n")
    words = [shell, "sh"] if shell == "busybox" else [shell]
    return [*words, "-c", FORMS[form].replace(FOLDER, str(tmp_path)), "k8sjob"]


@pytest.fixture
def stopped(front: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Start a command that ends with 7 once it is told to stop, and is there by now."""
    child = [sys.executable, "-u", "-c", _WAITS]
    with subprocess.Popen(
        [*front, *child], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == "there\n"
            yield process
        finally:
            with suppress(ProcessLookupError):  # a shell that went away may have left its command
                os.killpg(process.pid, signal.SIGKILL)


_WAITS = """
import signal, sys, time
def stop(*_):
    print("told")
    sys.exit(7)
signal.signal(signal.SIGTERM, stop)
print("there")
while True:
    time.sleep(0.05)  # pause() sleeps through a signal that came right before it
"""


@pytest.mark.parametrize("code", [0, 1, 65, 143])
def test_the_exit_code_is_the_commands_and_is_left_in_the_folder(
    front: list[str], tmp_path: Path, code: int
) -> None:
    done = subprocess.run([*front, "sh", "-c", f"exit {code}"], timeout=30, check=False)
    assert done.returncode == code
    assert (tmp_path / "exit").read_text() == f"{code}\n"


def test_the_command_gets_its_words_and_the_period(front: list[str]) -> None:
    show = 'printf "%s|" "$K8SJOB_KEY" "$@"'
    done = subprocess.run(
        [*front, "sh", "-c", show, "-", "a b", "", "$x;"],
        check=True,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.stdout == "billing/it's:2026-09-13|a b||$x;|"


def test_a_command_that_is_not_there_is_127(front: list[str], tmp_path: Path) -> None:
    done = subprocess.run([*front, "./not-there"], timeout=30, check=False, capture_output=True)
    assert done.returncode == 127
    assert (tmp_path / "exit").read_text() == "127\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_a_stop_signal_reaches_the_command_and_its_own_exit_code_counts(
    stopped: subprocess.Popen[str], tmp_path: Path, number: int
) -> None:
    stopped.send_signal(number)
    assert stopped.wait(30) == 7
    assert stopped.stdout
    assert stopped.stdout.read() == "told\n"
    assert (tmp_path / "exit").read_text() == "7\n"


def test_without_the_period_nothing_is_started(front: list[str], tmp_path: Path) -> None:
    (tmp_path / "env").unlink()
    done = subprocess.run(
        [*front, "touch", str(tmp_path / "ran")], timeout=30, check=False, capture_output=True
    )
    assert done.returncode != 0
    assert not (tmp_path / "ran").exists()
