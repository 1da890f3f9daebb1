"""The shell lines that start the command of ``mode: sidecar``, in the shells that images have."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from tests.chart.jobs import SIDECAR, containers, pod

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("helm")

#: dash, bash under the name of sh, busybox: whichever are here.
SHELLS = {
    "sh": ["sh"],
    "dash": ["dash"],
    "bash": ["bash", "--posix"],
    "busybox": ["busybox", "sh"],
}
HERE = {name: words for name, words in SHELLS.items() if shutil.which(words[0])}
WAITS = """\
import signal, sys, time
signal.signal(signal.SIGTERM, {handler})
print("ready", flush=True)
while True:
    time.sleep(0.05)  # pause() sleeps through a signal that came right before it
"""


@dataclass
class Pod:
    """The main container with its shared folder."""

    shell: list[str]
    folder: Path
    running: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self, *program: str, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
        """Start ``program`` as the chart would."""
        words = containers(pod(SIDECAR | {"command": list(program)}))["main"]["command"]
        script = words[2].replace("/k8sjob", str(self.folder))
        process = subprocess.Popen(
            [*self.shell, "-c", script, *words[3:]],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(env or {})},
            start_new_session=True,
        )
        self.running.append(process)
        return process

    def run(self, *program: str, env: dict[str, str] | None = None) -> tuple[int, str]:
        """Return the exit code of the container, and what it has written."""
        process = self.start(*program, env=env)
        out, _ = process.communicate(timeout=30)
        return process.returncode, out

    @property
    def left(self) -> str | None:
        """What it has left for the sidecar."""
        file = self.folder / "exit"
        return file.read_text() if file.exists() else None


@pytest.fixture(params=list(HERE.values()), ids=list(HERE))
def main(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Pod]:
    (tmp_path / "env").write_text("export K8SJOB_PERIOD='2026-09-13'\n")
    made = Pod(request.param, tmp_path)
    yield made
    for process in made.running:
        with suppress(ProcessLookupError):  # a shell that went away may have left its program
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.parametrize("code", [0, 3, 75, 255])
def test_the_programs_exit_code_is_the_containers_and_is_left_behind(main: Pod, code: int) -> None:
    ended, _ = main.run("sh", "-c", f"exit {code}")
    assert (ended, main.left) == (code, f"{code}\n")


def test_a_program_that_is_not_there_is_127(main: Pod) -> None:
    ended, _ = main.run("./no-such-program")
    assert (ended, main.left) == (127, "127\n")


def test_the_program_gets_its_words_and_the_period(main: Pod) -> None:
    show = "import os, sys; print(os.environ['K8SJOB_PERIOD'], sys.argv[1:])"
    _, out = main.run(sys.executable, "-c", show, "a b", '"$HOME"', "")
    assert out == "2026-09-13 ['a b', '\"$HOME\"', '']\n"


def test_the_wrapper_changes_no_variable_of_the_program(main: Pod) -> None:
    mine = {"code": "EUR", "child": "x", "again": "y", "stop": "z"}
    show = "import os; print([os.environ[n] for n in ('code', 'child', 'again', 'stop')])"
    _, out = main.run(sys.executable, "-c", show, env=mine)
    assert out == "['EUR', 'x', 'y', 'z']\n"


def test_without_a_period_nothing_is_started(main: Pod) -> None:
    (main.folder / "env").unlink()
    ended, out = main.run("echo", "started")
    assert ended != 0
    assert (out, main.left) == ("", None)


@pytest.mark.parametrize(
    ("handler", "code"),
    [("lambda *_: sys.exit(7)", 7), ("lambda *_: sys.exit(0)", 0), ("signal.SIG_DFL", 143)],
    ids=["ends with 7", "ends with 0", "has no handler"],
)
def test_a_stop_signal_reaches_the_program_and_its_answer_counts(
    main: Pod, handler: str, code: int
) -> None:
    process = main.start(sys.executable, "-c", WAITS.format(handler=handler))
    assert process.stdout
    assert process.stdout.readline() == "ready\n"

    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)

    assert (process.returncode, main.left) == (code, f"{code}\n")


def test_a_program_that_takes_its_time_is_waited_for(main: Pod) -> None:
    """The first signal ends the shell's wait; the program ends at the second only."""
    handler = "lambda *_: (print('heard', flush=True), seen.append(1), seen[1:] and sys.exit(9))"
    script = "seen = []\n" + WAITS.format(handler=handler)
    process = main.start(sys.executable, "-c", script)
    assert process.stdout
    assert process.stdout.readline() == "ready\n"

    for _ in range(2):
        assert main.left is None
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "heard\n"
    process.communicate(timeout=30)

    assert (process.returncode, main.left) == (9, "9\n")
