"""Processes of ``k8sjob``: run to their end, or held at a named point and killed there."""

from __future__ import annotations

import os
import selectors
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.acceptance.child import CONTROL

if TYPE_CHECKING:
    from collections.abc import Iterable

TIMEOUT = 60.0  # seconds, for each wait
JOB = "billing/daily-credit"
_HELD = "import tests.acceptance.child; from k8sjob.cli.main import main; main()"


class Told(NamedTuple):
    """How a process ended and what it said."""

    code: int
    out: str
    err: str


@dataclass(eq=False)
class Child:
    """A process; ``control`` is our end of the socket where it tells its points.

    ``at`` is the point where it stays until we let it go on.
    """

    process: subprocess.Popen[str]
    control: socket.socket | None = None
    at: str = ""

    @property
    def pid(self) -> int:
        """The process's number."""
        return self.process.pid

    def wait_for(self, point: str) -> None:
        """Let it go on until it comes to ``point``; there it stays."""
        while self.at != point:
            self.go()
            self.hear(point)

    def hear(self, point: str) -> None:
        """Wait for the next point that it tells; ``point`` is the one that is wanted."""
        assert self.control
        self.at = self.control.recv(64).decode()
        assert self.at, f"it ended before {point}: {self.end()}"

    def go(self, word: bytes = b".") -> None:
        """Let it go on from the point where it stays, if it stays at one."""
        assert self.control
        if self.at:
            self.at = ""
            self.control.sendall(word)

    def release(self) -> None:
        """Let it go on and stop nowhere again."""
        self.go(b"!")

    def kill(self) -> None:
        """End it as an OOM kill does, and see that this is what has ended it."""
        self.process.kill()
        told = self.end()
        assert told.code == -signal.SIGKILL, told

    def end(self) -> Told:
        """Wait for its end."""
        out, err = self.process.communicate(timeout=TIMEOUT)
        if self.control:
            self.control.close()
        return Told(self.process.returncode, out, err)


@dataclass
class Processes:
    """Starts processes in a folder of the test's; none outlives the test."""

    folder: Path
    children: list[Child] = field(default_factory=list)

    def start(self, *args: str, env: dict[str, str], fds: Iterable[int] = ()) -> Child:
        """Start ``python -m k8sjob`` with these arguments and what ``env`` adds or replaces."""
        return self._start(["-m", "k8sjob", *args], env, fds)

    def run(self, *args: str, env: dict[str, str]) -> Told:
        """Start it and wait for its end."""
        return self.start(*args, env=env).end()

    def hold(self, *args: str, env: dict[str, str]) -> Child:
        """Start it so that it stops at each point, and goes on when told to."""
        ours, its = socket.socketpair()
        with its:
            ours.settimeout(TIMEOUT)
            env = env | {CONTROL: str(its.fileno())}
            child = self._start(["-c", _HELD, *args], env, [its.fileno()])
        child.control = ours
        return child

    def _start(self, args: Iterable[str], env: dict[str, str], fds: Iterable[int]) -> Child:
        root = str(Path(__file__).parents[2])
        child = Child(
            subprocess.Popen(
                [sys.executable, *args],
                env={**os.environ, "PYTHONPATH": root, **env},
                cwd=self.folder,
                pass_fds=tuple(fds),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        self.children.append(child)
        return child

    def close(self) -> None:
        """Kill what still runs."""
        for child in self.children:
            if child.process.returncode is None:
                child.process.kill()
                child.end()


def first_at(children: Iterable[Child], point: str) -> Child:
    """Let all go on until one of them comes to ``point``; that one is returned, and stays there."""
    with selectors.DefaultSelector() as selector:
        for child in children:
            assert child.control
            selector.register(child.control, selectors.EVENT_READ)
            child.go()
        by_socket = {child.control: child for child in children}
        while ready := selector.select(TIMEOUT):
            child = by_socket[ready[0][0].fileobj]  # type: ignore[index]  # it may be a number too
            child.hear(point)
            if child.at == point:
                return child
            child.go()
    raise AssertionError(f"none of them came to {point} within {TIMEOUT} s")
