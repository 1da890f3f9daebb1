from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from k8sjob import NotApplied, Outcome
from tests.races.racer import KEY, WAIT, applied

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.races.arena import Arena

ROOT = Path(__file__).parents[2]


class Sleeper:
    """A process with a transaction of its own, which the test stops and wakes."""

    def __init__(self, process: subprocess.Popen[str], reader: ThreadPoolExecutor) -> None:
        self._process, self._reader = process, reader

    def tell(self, *lines: str) -> None:
        """Say what to do next; while it is stopped, it does so once it wakes."""
        assert self._process.stdin
        self._process.stdin.write("".join(f"{line}\n" for line in lines))
        self._process.stdin.flush()

    def hear(self) -> str:
        """Return its next answer, within bounds."""
        assert self._process.stdout
        return self._reader.submit(self._process.stdout.readline).result(WAIT).strip()

    def ask(self, step: str) -> str:
        """Let it take a step."""
        self.tell(step)
        return self.hear()

    def stop(self) -> None:
        """Stop it, and see that it has stopped."""
        self._process.send_signal(signal.SIGSTOP)
        _, status = os.waitpid(self._process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)

    def wake(self) -> None:
        """Let it go on."""
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """End it without a chance to clean up, and see that it died of that."""
        self._process.kill()
        assert self._process.wait(WAIT) == -signal.SIGKILL


@contextmanager
def sleeping(arena: Arena) -> Iterator[Sleeper]:
    dsn = (arena.pooler or arena.db).dsn("runner")
    command = [sys.executable, "-m", "tests.races.sleeper"]
    with (
        ThreadPoolExecutor(1) as reader,
        subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process,
    ):
        try:
            sleeper = Sleeper(process, reader)
            sleeper.tell(dsn, arena.level.name, str(KEY))
            yield sleeper
        finally:
            process.kill()  # a stopped one too


@pytest.fixture
def sleeper(arena: Arena) -> Iterator[Sleeper]:
    """Start the process; it ends with the test."""
    with sleeping(arena) as sleeper:
        yield sleeper


def test_a_process_stopped_before_its_claim_finds_the_work_done_when_it_wakes(
    arena: Arena, sleeper: Sleeper
) -> None:
    sleeper.ask("look")  # its transaction has begun
    sleeper.stop()
    sleeper.tell("claim")
    arena.racer().run()
    sleeper.wake()
    if arena.strict:
        assert sleeper.hear() == "40001"
        sleeper.ask("rollback")
        sleeper.tell("claim")
    assert sleeper.hear() == "duplicate"
    assert (arena.balance(), arena.state()) == (10, "done")


def test_a_process_stopped_with_its_claim_open_keeps_the_key_and_commits_when_it_wakes(
    arena: Arena, sleeper: Sleeper
) -> None:
    other = arena.racer()
    pid = int(sleeper.ask("look"))
    assert [sleeper.ask("claim"), sleeper.ask("credit")] == ["applied", "1"]
    sleeper.stop()
    sleeper.tell("commit")
    pending = arena.start_behind(pid, other)
    sleeper.wake()
    assert sleeper.hear() == "None"
    assert arena.after_commit(pending).outcome is Outcome.DUPLICATE
    assert (arena.balance(), arena.state()) == (10, "done")


def test_a_process_stopped_with_its_claim_open_makes_others_busy_and_no_more(
    arena: Arena, sleeper: Sleeper
) -> None:
    other = arena.racer()
    assert [sleeper.ask("claim"), sleeper.ask("credit")] == ["applied", "1"]
    sleeper.stop()
    other.sql("SELECT set_config('k8sjob.lock_timeout', '200ms', true)")
    with pytest.raises(NotApplied) as refusal:
        other.claim()
    assert refusal.value.outcome is Outcome.BUSY
    sleeper.wake()
    assert sleeper.ask("commit") == "None"
    assert (arena.balance(), arena.state()) == (10, "done")


def test_a_process_whose_session_was_ended_while_it_was_stopped_cannot_commit_when_it_wakes(
    arena: Arena, sleeper: Sleeper
) -> None:
    other = arena.racer()
    pid = int(sleeper.ask("look"))
    assert [sleeper.ask("claim"), sleeper.ask("credit")] == ["applied", "1"]
    sleeper.stop()
    sleeper.tell("commit")
    pending = arena.start_behind(pid, other)
    assert arena.ask("SELECT pg_terminate_backend(%s)", pid)
    assert applied(pending.answer())
    other.credit()
    other.commit()
    sleeper.wake()
    assert sleeper.hear() == "failed"
    assert (arena.balance(), arena.state()) == (10, "done")


def test_a_process_that_is_killed_with_its_claim_open_leaves_the_period_to_others(
    arena: Arena, sleeper: Sleeper
) -> None:
    other = arena.racer()
    pid = int(sleeper.ask("look"))
    assert [sleeper.ask("claim"), sleeper.ask("credit")] == ["applied", "1"]
    pending = arena.start_behind(pid, other)
    sleeper.kill()
    assert applied(pending.answer())
    other.credit()
    other.commit()
    assert (arena.balance(), arena.state()) == (10, "done")
