from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

import k8sjob
from k8sjob.run import points
from tests.run.commandline import CREDIT, JOB, KEY, PERIOD, CommandLine
from tests.run.wired import closed_gate, open_gate, wait_for_query, wait_for_waiter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from k8sjob.run.points import Point

WAIT = 30  # seconds

#: Each reports once it is in the middle of its work, and then never ends by itself.
TARGETS = f"""
import asyncio, os, time

def report():
    os.write(int(os.environ["REPORT"]), b"working")

def sleeps(run):
    run.conn.execute("{CREDIT}")
    report()
    time.sleep(600)

def computes(run):
    run.conn.execute("{CREDIT}")
    report()
    while True:
        pass

def queries(run):
    run.conn.execute("{CREDIT}")
    run.conn.execute("SELECT pg_sleep(600)")

async def credit(run):
    pending = run.conn.execute("{CREDIT}")
    if hasattr(pending, "__await__"):
        await pending

async def awaits(run):
    await credit(run)
    report()
    await asyncio.sleep(600)

async def awaits_tasks(run):
    await credit(run)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(asyncio.sleep(600))
        report()
        await asyncio.sleep(600)

async def computes_in_a_coroutine(run):
    await credit(run)
    report()
    while True:
        pass

async def computes_in_a_task(run):
    async def compute():
        report()
        while True:
            await asyncio.sleep(0)
    await credit(run)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(compute())

async def queries_in_a_coroutine(run):
    await credit(run)
    await run.conn.execute("SELECT pg_sleep(600)")

def cleans_up(run):
    try:
        sleeps(run)
    except BaseException as error:
        raise RuntimeError("cleaned up") from error

def commits_parts(run):
    with run.part("one") as part:
        part.conn.execute("{CREDIT}")
    with run.part("two") as part:
        part.conn.execute("{CREDIT}")
        report()
        time.sleep(600)
"""


class Child(NamedTuple):
    """A ``k8sjob run`` in a process of its own."""

    process: subprocess.Popen[str]
    reports: int

    def wait_until_it_works(self) -> None:
        """Return once its target has reported."""
        assert os.read(self.reports, 100) == b"working"

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Send the signal; return the exit code, and what was said."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=WAIT)
        return self.process.returncode, said


@contextmanager
def child(cli: CommandLine, target: str) -> Iterator[Child]:
    """Start a run; at the end it is gone, whatever came of it."""
    (cli.folder / "stopped.py").write_text(TARGETS)
    reports, report = os.pipe()
    package = Path(k8sjob.__file__).parents[1]
    env = {**os.environ, "K8SJOB_DSN": cli.store.dsn, "REPORT": str(report)}
    command = [sys.executable, "-m", "k8sjob", "run", target, "--job", JOB, "--period", PERIOD]
    with subprocess.Popen(
        command,
        cwd=cli.folder,
        env={**env, "PYTHONPATH": str(package)},
        pass_fds=[report],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        os.close(report)
        try:
            yield Child(process, reports)
        finally:
            process.kill()
            os.close(reports)


def assert_stopped(cli: CommandLine, code: int, said: str, number: int = signal.SIGTERM) -> None:
    """See that all is rolled back, on record, and free at once."""
    name = signal.Signals(number).name
    assert code == 128 + number, said
    assert f"{KEY} stopped by {name}: its work was rolled back, the period is free" in said
    assert cli.last().ending == ("failed", 128 + number)
    assert (cli.state(), cli.balance()) == (None, 0)
    assert cli.run(cli.file(CREDIT), "--lock-timeout", "1s").code == 0
    assert cli.balance() == 10


TARGET_NAMES = ["sleeps", "computes", "awaits", "awaits_tasks", "computes_in_a_coroutine",
                "computes_in_a_task", "cleans_up"]  # fmt: skip


@pytest.mark.parametrize("name", TARGET_NAMES)
def test_a_stop_in_the_middle_of_the_target_rolls_back(cli: CommandLine, name: str) -> None:
    with child(cli, f"stopped:{name}") as run:
        run.wait_until_it_works()
        assert_stopped(cli, *run.stop())


@pytest.mark.parametrize("name", ["sleeps", "awaits"])
def test_an_interrupt_from_the_keyboard_does_the_same(cli: CommandLine, name: str) -> None:
    with child(cli, f"stopped:{name}") as run:
        run.wait_until_it_works()
        assert_stopped(cli, *run.stop(signal.SIGINT), signal.SIGINT)


@pytest.mark.parametrize("name", ["queries", "queries_in_a_coroutine", "file"])
def test_a_stop_in_the_middle_of_a_query_cancels_it(pg: CommandLine, name: str) -> None:
    target = pg.file(f"{CREDIT}; SELECT pg_sleep(600)") if name == "file" else f"stopped:{name}"
    assert pg.store.db
    admin = pg.store.db.connect("admin", autocommit=True)
    with child(pg, target) as run:
        wait_for_query(admin, "pg_sleep(600)")
        assert_stopped(pg, *run.stop())


@pytest.mark.parametrize("name", ["sleeps", "awaits", "file"])
def test_a_stop_while_the_key_is_waited_for_ends_the_wait(pg: CommandLine, name: str) -> None:
    target = pg.file(CREDIT) if name == "file" else f"stopped:{name}"
    assert pg.store.db
    admin = pg.store.db.connect("admin", autocommit=True)
    assert pg.run(pg.file("SELECT 1"), period="2026-09-12").code == 0  # the job is known
    rival = pg.store.db.connect()
    rival.execute("SELECT k8sjob.claim(%s, %s)", (JOB, PERIOD))
    with child(pg, target) as run:
        wait_for_waiter(admin, "run_claim")
        code, said = run.stop()
        rival.rollback()
        assert_stopped(pg, code, said)


def test_a_stop_between_parts_keeps_those_that_are_done(cli: CommandLine) -> None:
    with child(cli, "stopped:commits_parts") as run:
        run.wait_until_it_works()
        code, _ = run.stop()
    assert code == 143
    assert (cli.states(), cli.balance()) == ({f"{JOB}/one:{PERIOD}": "done"}, 10)


@pytest.mark.parametrize("name", ["commits", "commits_in_a_coroutine", "file"])
def test_a_stop_during_the_commit_does_not_interrupt_it(pg: CommandLine, name: str) -> None:
    target = pg.file(CREDIT) if name == "file" else f"committing:{name}"
    (pg.folder / "committing.py").write_text(
        f"def commits(run): run.conn.execute({CREDIT!r})\n"
        f"async def commits_in_a_coroutine(run): await run.conn.execute({CREDIT!r})\n"
    )
    assert pg.store.db
    with closed_gate(pg.store.db) as admin, child(pg, target) as run:
        wait_for_waiter(admin, "COMMIT")
        run.process.send_signal(signal.SIGTERM)
        wait_until_handled(run.process.pid)
        open_gate(admin)
        said, _ = run.process.communicate(timeout=WAIT)
    assert run.process.returncode == 0
    assert f"{KEY} applied in " in said
    assert (pg.state(), pg.balance()) == ("done", 10)
    assert pg.last().ending == ("applied", 0)


def wait_until_handled(pid: int) -> None:
    """Return once no signal is pending for the process (proc(5): ShdPnd)."""
    give_up = time.monotonic() + WAIT
    while time.monotonic() < give_up:
        status = Path(f"/proc/{pid}/status").read_text()
        if "ShdPnd:\t0000000000000000" in status:
            return
    pytest.fail("the signal was not taken")


# --------------------------------------------------------------------------- at every moment

MOMENTS: dict[Point, bool] = {
    "started": False,
    "claimed": False,
    "worked": True,
    "committing": True,
    "committed": True,
}


@pytest.mark.parametrize(("moment", "applied"), [*MOMENTS.items()], ids=[*MOMENTS])
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_stop_counts_until_the_work_is_done(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch, moment: Point, kind: str, *, applied: bool
) -> None:
    def stop(point: Point) -> None:
        if point == moment:
            os.kill(os.getpid(), signal.SIGTERM)

    async def async_work(run: Any) -> None:
        pending = run.conn.execute(CREDIT)
        if hasattr(pending, "__await__"):
            await pending

    def work(run: Any) -> None:
        run.conn.execute(CREDIT)

    monkeypatch.setattr(points, "hook", stop)
    told = cli.run(work if kind == "sync" else async_work)
    monkeypatch.setattr(points, "hook", None)
    if applied:
        assert (told.code, cli.state(), cli.balance()) == (0, "done", 10)
    else:
        assert_stopped(cli, told.code, told.err)


def test_the_signals_are_given_back(cli: CommandLine) -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    cli.run(cli.file(CREDIT))
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before
