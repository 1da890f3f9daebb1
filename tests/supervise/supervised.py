"""A supervisor as the tests see it: it can be signalled, says words, and ends with a report."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from k8sjob.run.child.supervise import ChildEnd

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Stream = int | IO[bytes] | None

PATIENCE_S = 10.0
ROOT = Path(__file__).parents[2]

#: Stands for a word that is too long for any command line, this order's own included.
HUGE = "HUGE"

_PRELUDE = """
import os, signal, subprocess, sys, time
def say(word): os.write(int(os.environ["WORDS"]), f"{word}\\n".encode())
def wait_for_go(): os.read(0, 1)
def start(command, **how): return subprocess.Popen(command, close_fds=False, **how)
def on(number, action): signal.signal(number, lambda *_: action())
def wait_for_ever():
    while True: time.sleep(0.05)  # pause() sleeps through a signal that came right before it
"""


def python(code: str) -> list[str]:
    """Return a command that runs ``code``, which can say(), wait_for_go(), and so on."""
    return [sys.executable, "-I", "-S", "-c", _PRELUDE + code]


def shell(code: str) -> list[str]:
    """Return a command that runs ``code`` in a shell, where ``say word`` says a word."""
    return ["sh", "-c", 'say() { echo "$1" >"/proc/self/fd/$WORDS"; }; ' + code]


@dataclass(frozen=True)
class Order:
    """What the supervisor is to do; see ``supervisor.py``."""

    commands: list[list[str]]
    grace_s: float = 1000.0
    output_bytes: int = 4096
    env: dict[str, str] = field(default_factory=dict)
    tick: str = ""
    blocked: list[int] = field(default_factory=list)
    pending: list[int] = field(default_factory=list)
    waits: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """What the supervisor reported, and what became of the process itself."""

    ends: list[ChildEnd]
    exit_code: int
    out: bytes
    err: bytes
    pid: int
    grown_kb: int
    still_blocked: list[int]
    term_is_default: bool

    @property
    def end(self) -> ChildEnd:
        """The end of its only command."""
        (end,) = self.ends
        return end


class Supervised:
    """A running supervisor."""

    def __init__(
        self,
        prefix: Sequence[str],
        order: Order,
        stdout: Stream = subprocess.PIPE,
        stderr: Stream = subprocess.PIPE,
    ) -> None:
        """Start it, with ``prefix`` before its command line."""
        words, words_end = os.pipe()
        self._words = words
        self._report = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the process
        self._heard = b""
        self._has_namespace = "--pid" in prefix
        env = {
            "WORDS": str(words_end),
            "REPORT": str(self._report.fileno()),
            "PYTHONPATH": str(ROOT),
        }
        program = str(Path(__file__).with_name("supervisor.py"))
        self.process = subprocess.Popen(
            [*prefix, sys.executable, program, json.dumps(vars(order))],
            pass_fds=(words_end, self._report.fileno()),
            env=os.environ | env,
            stdin=subprocess.PIPE,
            stdout=stdout,
            stderr=stderr,
        )
        os.close(words_end)

    # ------------------------------------------------------------------------- while it runs

    @property
    def pid(self) -> int:
        """The supervisor's process id, as seen from here; its command must have said something."""
        return children(self.process.pid)[0] if self._has_namespace else self.process.pid

    @property
    def child(self) -> int:
        """The command's process id, as seen from here; it must have said something."""
        return children(self.pid)[0]

    @property
    def stdin(self) -> IO[bytes]:
        """What the supervisor and its command read from."""
        assert self.process.stdin is not None
        return self.process.stdin

    @property
    def stdout(self) -> IO[bytes]:
        """What the supervisor passes on."""
        assert self.process.stdout is not None
        return self.process.stdout

    def go(self) -> None:
        """Let one ``wait_for_go()`` return."""
        self.stdin.write(b"!")
        self.stdin.flush()

    def signal(self, number: int) -> None:
        """Send a signal to the supervisor alone."""
        os.kill(self.pid, number)

    def signal_if_there(self, number: int) -> None:
        """Send a signal, unless it is just ending."""
        with suppress(ProcessLookupError, FileNotFoundError, IndexError):
            self.signal(number)

    def word(self) -> str:
        """Return the next word; an empty one when all that could speak have ended."""
        while b"\n" not in self._heard:
            ready, _, _ = select.select([self._words], [], [], PATIENCE_S)
            assert ready, f"not a word in {PATIENCE_S} s"
            heard = os.read(self._words, 4096)
            if not heard:
                return ""
            self._heard += heard
        word, _, self._heard = self._heard.partition(b"\n")
        return word.decode()

    def words(self, count: int) -> list[str]:
        """Return the next ``count`` words, sorted: several processes may speak."""
        return sorted(self.word() for _ in range(count))

    def go_to_the_end(self) -> None:
        """Let a command go that ends then, and wait until the supervisor has seen that."""
        child = self.child
        self.go()
        wait_until(lambda: state_of(child) == "")

    # ------------------------------------------------------------------------------ its end

    def report(self) -> Report:
        """Wait for its end and return what it reported."""
        out, err = self.process.communicate(timeout=PATIENCE_S)
        self._report.seek(0)
        text = self._report.read()
        assert text, f"no report; it said: {err!r}"
        fields = json.loads(text)
        fields["ends"] = [ChildEnd(**end) for end in fields["ends"]]
        return Report(exit_code=self.process.returncode, out=out, err=err, **fields)

    def end(self) -> ChildEnd:
        """Wait for its end and return the end of its only command."""
        return self.report().end

    def close(self) -> None:
        """End whatever still runs."""
        if self.process.poll() is None:
            for group in children(self.pid):
                _kill(os.killpg, group)
            _kill(os.kill, self.process.pid)
            self.process.wait(PATIENCE_S)
        os.close(self._words)
        self._report.close()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                _close(stream)


def children(pid: int) -> list[int]:
    """Return the children of a process (proc_pid_task_children(5))."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def state_of(pid: int) -> str:
    """Return the letter of a process's state, or nothing if it is not there."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def wait_until(seen: Callable[[], bool]) -> None:
    """Look until something is seen that nothing can be awaited for, such as a process's state."""
    give_up = time.monotonic() + PATIENCE_S
    while not seen():
        assert time.monotonic() < give_up, f"not seen in {PATIENCE_S} s"
        threading.Event().wait(0.005)


def _kill(kill: Callable[[int, int], None], target: int) -> None:
    with suppress(ProcessLookupError):
        kill(target, signal.SIGKILL)


def _close(stream: IO[bytes]) -> None:
    with suppress(BrokenPipeError):
        stream.close()
