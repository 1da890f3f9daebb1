"""Supervisors, as an ordinary process and as PID 1: every test meets both."""

from __future__ import annotations

from functools import partial
from subprocess import PIPE
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from tests.supervise.supervised import Order, Stream, Supervised

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Start(Protocol):
    """Starts a supervisor of one or more commands.

    ``inside`` is put before its own command line.
    """

    def __call__(
        self,
        *commands: list[str],
        inside: Sequence[str] = (),
        stdout: Stream = PIPE,
        stderr: Stream = PIPE,
        **order: Any,
    ) -> Supervised:
        """Return it, running."""


@pytest.fixture
def supervise_once() -> Iterator[Start]:
    """Give the test supervisors as ordinary processes only, since it takes long."""
    running: list[Supervised] = []
    yield partial(_start, running, [])
    for supervised in running:
        supervised.close()


@pytest.fixture(params=["process", "pid-1"])
def supervise(request: pytest.FixtureRequest) -> Iterator[Start]:
    """Give the test supervisors, which end with it."""
    prefix = [] if request.param == "process" else request.getfixturevalue("pid_1")
    running: list[Supervised] = []
    yield partial(_start, running, prefix)
    for supervised in running:
        supervised.close()


def _start(
    running: list[Supervised],
    prefix: list[str],
    *commands: list[str],
    inside: Sequence[str] = (),
    stdout: Stream = PIPE,
    stderr: Stream = PIPE,
    **order: Any,
) -> Supervised:
    words = [*prefix, *inside]
    running.append(Supervised(words, Order(list(commands), **order), stdout, stderr))
    return running[-1]
