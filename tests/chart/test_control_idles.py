"""The control Pod's main process waits for nothing but its end, and ends at once as PID 1."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest

from tests.chart.control import pod, render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.fix_chart import Object

pytestmark = pytest.mark.usefixtures("helm")

_PATIENCE = 20.0
T = TypeVar("T")
STOPS = [signal.SIGTERM, signal.SIGINT]


def container() -> Object:
    """Return the control Pod's one container."""
    (one,) = pod(render(), "k8sjob-control")["containers"]
    found: Object = one
    return found


def command() -> list[str]:
    """Return its command, for the Python that runs the tests."""
    program, *rest = container()["command"]
    assert program == "python"
    return [sys.executable, *rest]


def test_it_needs_no_shell() -> None:
    assert "args" not in container()
    assert not {"sh", "bash", "sleep"} & set(container()["command"])


@pytest.mark.parametrize("number", STOPS, ids=lambda number: number.name)
def test_it_ends_at_once_as_pid_1(pid_1: list[str], number: signal.Signals) -> None:
    """The kernel gives PID 1 no signal that it neither handles nor blocks."""
    with started([*pid_1, *command()]) as outside:
        inside = until(lambda: only_child(outside.pid), "a process in the namespace")
        until(lambda: waits(inside), "it waits")
        assert pids_of(inside)[-1] == 1, "it is not PID 1"
        asked = time.monotonic()
        os.kill(inside, number)
        assert outside.wait(_PATIENCE) == 0
        assert time.monotonic() - asked < 2


@pytest.mark.parametrize("number", STOPS, ids=lambda number: number.name)
def test_it_ends_well_as_any_process(number: signal.Signals) -> None:
    """Where a Pod's containers share their processes it is not PID 1."""
    with started(command()) as process:
        until(lambda: waits(process.pid), "it waits")
        process.send_signal(number)
        assert process.wait(_PATIENCE) == 0


def test_what_a_command_leaves_behind_is_no_zombie() -> None:
    """Orphans become children of PID 1, which waits for none of them."""
    code = (
        "import os, sys\n"
        "if os.fork() == 0:\n"
        "    sys.stdin.read()\n"
        "    os._exit(0)\n"
        "os.execv(sys.argv[1], sys.argv[1:])\n"
    )
    with started([sys.executable, "-c", code, *command()], stdin=subprocess.PIPE) as process:
        until(lambda: waits(process.pid), "it waits")
        assert only_child(process.pid)
        assert process.stdin
        process.stdin.close()
        until(lambda: not children(process.pid), "its child is gone")
        assert process.poll() is None, "it waits on"


# ---------------------------------------------------------------------------------- processes


@contextmanager
def started(words: list[str], stdin: int = subprocess.DEVNULL) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program, at most until the end of the block."""
    process = subprocess.Popen(words, stdin=stdin, env={"PATH": os.environ["PATH"]})
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(_PATIENCE)
        if process.stdin:
            process.stdin.close()


def until(look: Callable[[], T], what: str) -> T:
    """Return what ``look`` finds, once that is something."""
    give_up = time.monotonic() + _PATIENCE
    while not (found := look()):
        assert time.monotonic() < give_up, f"this did not come about: {what}"
        threading.Event().wait(0.01)
    return found


def waits(pid: int) -> bool:
    """Whether a process has come to where no stop signal is lost: it reaps nobody after that.

    What it waits for is not among its blocked signals meanwhile (sigtimedwait(2) in the kernel).
    """
    return bool(int(status(pid)["SigIgn"], 16) >> (signal.SIGCHLD - 1) & 1)


def pids_of(pid: int) -> list[int]:
    """Return a process's ids, from this namespace to its own."""
    return [int(one) for one in status(pid)["NSpid"].split()]


def status(pid: int) -> dict[str, str]:
    text = Path(f"/proc/{pid}/status").read_text("utf-8")
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


def children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8")
    return [int(one) for one in text.split()]


def only_child(pid: int) -> int:
    """Return the child of a process, 0 while it has none."""
    return next(iter(children(pid)), 0)
