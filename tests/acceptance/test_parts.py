"""A job of parts: each has a transaction and a claim of its own, the job's row is written last."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.errors import ExitCode
from tests.acceptance.child import NAMES, ten_parts, ten_parts_async
from tests.acceptance.parts import add, done, effects, once
from tests.run.commandline import JOB, PERIOD

if TYPE_CHECKING:
    from tests.run.commandline import CommandLine


# ------------------------------------------------------------------------------ from end to end


@pytest.mark.parametrize("work", [ten_parts, ten_parts_async])
def test_the_parts_and_then_the_job_are_done_once(cli: CommandLine, work: Any) -> None:
    assert cli.run(work).code == 0
    assert effects(cli) == once(NAMES)
    assert cli.states() == done(NAMES) | {f"{JOB}:{PERIOD}": "done"}

    told = cli.run(work)
    assert "duplicate" in told.out
    assert effects(cli) == once(NAMES)


def test_the_jobs_own_row_is_written_last(cli: CommandLine) -> None:
    seen = []

    def work(run: Any) -> None:
        for name in NAMES[:3]:
            with run.part(name) as part:
                if part:
                    add(part.conn, name)
            seen.append(cli.states())

    assert cli.run(work).code == 0
    assert seen == [done(NAMES[: n + 1]) for n in range(3)]
    assert cli.state() == "done"


def test_parts_belong_to_their_period(cli: CommandLine) -> None:
    assert cli.run(ten_parts).code == 0
    assert cli.run(ten_parts, period="2026-09-14").code == 0
    assert effects(cli) == dict.fromkeys(NAMES, 20)


# ------------------------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize("ends_at", [1, 7, 10])
def test_an_exception_in_a_part_keeps_those_before_it(cli: CommandLine, ends_at: int) -> None:
    def fails(run: Any) -> None:
        for number, name in enumerate(NAMES, start=1):
            with run.part(name) as part:
                if part:
                    add(part.conn, name)
                    if number == ends_at:
                        raise RuntimeError("the disk is full")

    told = cli.run(fails)
    kept = NAMES[: ends_at - 1]
    assert (told.code, effects(cli), cli.states()) == (1, once(kept), done(kept))
    assert "the disk is full. The parts that had ended are kept, the rest was rolled" in told.err

    assert cli.run(ten_parts).code == 0
    assert effects(cli) == once(NAMES)


def test_an_exception_after_the_parts_keeps_them_all(cli: CommandLine) -> None:
    def fails(run: Any) -> None:
        ten_parts(run)
        raise RuntimeError("no mail server")

    assert cli.run(fails).code == 1
    assert (effects(cli), cli.states()) == (once(NAMES), done(NAMES))
    assert cli.run(ten_parts).code == 0
    assert (effects(cli), cli.state()) == (once(NAMES), "done")


def test_a_part_that_is_left_early_is_kept(cli: CommandLine) -> None:
    def leaves(run: Any) -> None:
        for name in NAMES:
            with run.part(name) as part:
                add(part.conn, name)
                if name == NAMES[3]:
                    return

    assert cli.run(leaves).code == 0
    assert effects(cli) == once(NAMES[:4])


def test_forgetting_to_ask_raises_instead_of_doing_it_twice(cli: CommandLine) -> None:
    def forgets(run: Any) -> None:
        with run.part("a") as part:
            add(part.conn, "a")
        raise RuntimeError("later on")

    assert cli.run(forgets).code == 1
    told = cli.run(forgets)
    assert effects(cli) == once(["a"])
    assert told.code == ExitCode.FAILED  # and not 0, as a duplicate of the job itself ends with
    assert "if part:" in told.err
    assert cli.last().ending == ("failed", 1)


def test_the_same_part_twice_in_one_run_is_done_once(cli: CommandLine) -> None:
    mine = []

    def work(run: Any) -> None:
        for _ in range(2):
            with run.part("a") as part:
                mine.append(bool(part))
                if part:
                    add(part.conn, "a")

    assert cli.run(work).code == 0
    assert (mine, effects(cli)) == ([True, False], once(["a"]))


def test_a_statement_that_failed_in_a_part_does_not_commit_it(cli: CommandLine) -> None:
    def swallows(run: Any) -> None:
        with run.part("a") as part:
            add(part.conn, "a")
        with run.part("b") as part:
            add(part.conn, "b")
            with suppress(Exception):
                part.conn.execute("SELECT * FROM no_such_table")

    told = cli.run(swallows)
    if cli.store.kind == "postgres":  # SQLite undoes the statement alone, and goes on
        assert told.code == 1
        assert (effects(cli), cli.states()) == (once(["a"]), done(["a"]))
    else:
        assert effects(cli) == once(["a", "b"])
