from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from k8sjob.errors import PermanentError
from k8sjob.states import Blocked, Skipped
from tests.run.commandline import CREDIT, CommandLine
from tests.run.failing import runs

if TYPE_CHECKING:
    from collections.abc import Callable


class DBAPIError(Exception):
    """What SQLAlchemy raises: the driver's error is in ``orig``."""

    def __init__(self, orig: Exception) -> None:
        super().__init__(str(orig))
        self.orig = orig


def in_orig_only(error: Exception) -> None:
    raise DBAPIError(error) from None


def as_cause(error: Exception) -> None:
    raise RuntimeError("wrapped") from error


def as_context(_error: Exception) -> None:
    raise RuntimeError("raised while the other was handled")


def twice(error: Exception) -> None:
    try:
        in_orig_only(error)
    except DBAPIError as wrapped:
        raise RuntimeError("wrapped again") from wrapped


def in_a_group(error: Exception) -> None:
    raise ExceptionGroup("several", [ValueError("another"), error])


@pytest.mark.parametrize("wrap", [in_orig_only, as_cause, as_context, twice, in_a_group])
def test_a_wrapped_error_is_recognized(
    failing: CommandLine, wrap: Callable[[Exception], None]
) -> None:
    def work(run: Any) -> None:
        run.conn.execute(CREDIT)
        try:
            run.conn.execute("SELECT app.fail('40001', 1)")
        except psycopg.errors.SerializationFailure as error:
            wrap(error)

    told = failing.run(work)
    assert told.code == 0, told.text
    assert (runs(failing), failing.balance()) == (2, 10)


def test_an_error_out_of_a_task_group_is_recognized(failing: CommandLine) -> None:
    async def work(run: Any) -> None:
        await run.conn.execute(CREDIT)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(run.conn.execute("SELECT app.fail('40001', 1)"))

    assert failing.run(work).code == 0
    assert (runs(failing), failing.balance()) == (2, 10)


@pytest.mark.parametrize(
    ("answer", "ending"),
    [
        (Blocked("too busy today"), ("blocked", 0)),
        (Skipped("not worth it"), ("skipped", 0)),
        (PermanentError("never"), ("failed", 70)),
    ],
)
def test_what_the_target_makes_of_the_error_stands(
    failing: CommandLine, answer: Exception, ending: tuple[str, int]
) -> None:
    def work(run: Any) -> None:
        try:
            run.conn.execute("SELECT app.fail('40001', 9)")
        except psycopg.Error as error:
            raise answer from error

    failing.run(work)
    assert (runs(failing), failing.last().ending) == (1, ending)


def test_an_error_of_the_target_s_own_is_not_tried_again(cli: CommandLine) -> None:
    calls: list[int] = []

    def work(_run: Any) -> None:
        calls.append(1)
        try:
            _ = os.environ["K8SJOB_NOT_THERE"]
        except KeyError as error:
            raise ValueError("wrong") from error

    assert cli.run(work).code == 1
    assert len(calls) == 1
