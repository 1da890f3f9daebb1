"""A terminal in the control Pod, where there is one here and a person reads what comes."""

from __future__ import annotations

import os
import pty
import select
import signal
import sqlite3
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.plugin.conftest import Laptop


class Terminal:
    """A terminal, and what is at its other end."""

    def __init__(self) -> None:
        """Open it."""
        self.ours, self.theirs = pty.openpty()
        self.seen = ""
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self, laptop: Laptop, *args: str, **streams: int) -> subprocess.Popen[bytes]:
        """Start the plugin; ``streams`` that are named are not of the terminal."""
        given = {"stdin": self.theirs, "stdout": self.theirs, "stderr": self.theirs} | streams
        running = subprocess.Popen(
            [*laptop.command, *args],
            env=laptop.environment(),
            cwd=laptop.folder,
            start_new_session=True,
            stdin=given["stdin"],
            stdout=given["stdout"],
            stderr=given["stderr"],
        )
        self.started.append(running)
        return running

    def wait_for(self, text: str) -> None:
        """Read until ``text`` is seen."""
        while text not in self.seen:
            assert select.select([self.ours], [], [], 60)[0], f"only this was seen: {self.seen}"
            self.seen += os.read(self.ours, 65536).decode()

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self.ours, text.encode())

    def close(self) -> None:
        """Close both ends, and end what a failed test has left."""
        for running in self.started:
            if running.poll() is None:
                os.killpg(running.pid, signal.SIGKILL)
                running.wait()
        os.close(self.ours)
        os.close(self.theirs)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    """Return a terminal of the test's own."""
    opened = Terminal()
    yield opened
    opened.close()


def test_on_a_terminal_it_asks_for_one(laptop: Laptop, terminal: Terminal) -> None:
    assert terminal.start(laptop, "get", "jobs").wait(60) == 0

    assert "--tty" in laptop.called("exec")
    assert "--attached" not in laptop.remote
    assert laptop.calls[-1]["stdin"] == "tty"


@pytest.mark.parametrize("stream", ["stdin", "stdout", "stderr"])
def test_where_one_stream_is_none_it_does_not(
    laptop: Laptop, terminal: Terminal, stream: str
) -> None:
    with open(os.devnull, "r+b") as nothing:  # noqa: PTH123  # only its number is used
        assert terminal.start(laptop, "get", "jobs", **{stream: nothing.fileno()}).wait(60) == 0

    assert "--tty" not in laptop.called("exec")
    assert "--attached" in laptop.remote
    assert laptop.calls[-1]["stdin"] == "pipe"


@pytest.mark.parametrize(
    "words",
    [["-o", "json"], ["-ojson"], ["--output=json"], ["--output", "json"], ["-o", "name"]],
)
def test_data_has_no_carriage_returns(laptop: Laptop, terminal: Terminal, words: list[str]) -> None:
    assert terminal.start(laptop, "get", "jobs", *words).wait(60) == 0

    assert "--tty" not in laptop.called("exec")


def test_a_table_is_no_data(laptop: Laptop, terminal: Terminal) -> None:
    assert terminal.start(laptop, "get", "jobs", "-o", "table", "json").wait(60) == 0

    assert "--tty" in laptop.called("exec")


def test_the_exit_code_of_a_command_on_a_terminal(laptop: Laptop, terminal: Terminal) -> None:
    laptop.cluster.code, laptop.cluster.err = 66, "k8sjob: what it says\n"

    assert terminal.start(laptop, "get", "jobs").wait(60) == 66

    terminal.wait_for("what it says\r\n")
    terminal.type("mark\n")
    terminal.wait_for("mark")
    assert "command terminated" not in terminal.seen


def test_a_question_is_asked_and_answered(
    laptop: Laptop, terminal: Terminal, sqlite_path: Path
) -> None:
    laptop.cluster.runs, laptop.cluster.env["K8SJOB_DSN"] = True, f"sqlite:///{sqlite_path}"
    running = terminal.start(laptop, "block", "x:2026-09-13", "--reason", "no feed")

    terminal.wait_for("[y/N]")
    terminal.type("y\n")

    assert running.wait(60) == 0
    with closing(sqlite3.connect(sqlite_path)) as ledger:
        found = ledger.execute('SELECT job, "by" FROM k8sjob_events').fetchall()
    assert found == [("billing/x", "alice@example.com")]


@pytest.mark.parametrize(("no_color", "plain"), [("", 0), ("1", 1)])
def test_colour_is_for_terminals_that_want_it(
    laptop: Laptop, terminal: Terminal, sqlite_path: Path, no_color: str, plain: int
) -> None:
    laptop.cluster.runs, laptop.cluster.env["K8SJOB_DSN"] = True, f"sqlite:///{sqlite_path}"
    laptop.env["NO_COLOR"] = no_color
    assert laptop.call("block", "x:2026-09-13", "--reason", "no feed", "--yes").code == 0

    assert terminal.start(laptop, "get", "periods").wait(60) == 0

    terminal.wait_for("no feed")
    assert ("\x1b[" not in terminal.seen) is bool(plain)
