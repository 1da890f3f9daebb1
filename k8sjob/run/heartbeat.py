"""Signs of life of long runs, so that one that is alive is told from one that was killed."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from k8sjob.ledger.contract import drive

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from uuid import UUID

    from k8sjob.ledger.contract import Ledger

#: A run that is over by then needs no heartbeat, and at midnight no second connection.
FIRST_HEARTBEAT_S = 60.0
HEARTBEAT_S = 30.0


class Heartbeat:
    """Signs of life for a long run, on a connection of its own that is opened only when needed."""

    def __init__(
        self, beat: Callable[[], Generator[None]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """``beat`` connects when it is started and writes one sign of life at each step."""
        self._beat, self._clock = beat, clock
        self._running: Generator[None] | None = None
        self._next = clock() + FIRST_HEARTBEAT_S

    def __call__(self) -> None:
        """Write a sign of life if it is time; a failure drops the connection for the next one."""
        if self._clock() < self._next:
            return
        self._next = self._clock() + HEARTBEAT_S
        try:
            self._running = self._running or self._beat()
            next(self._running)
        except BaseException:
            self._running = None
            raise

    def close(self) -> None:
        """Give the connection back. One that hangs is left to the end of the process."""
        if self._running is not None:
            with suppress(Exception):
                self._running.close()


def beats(ledger: Ledger, attempt: UUID) -> Generator[None]:
    """Connect, and write one sign of life of ``attempt`` at each step."""
    drive(ledger.open())
    try:
        while True:
            drive(ledger.beat(attempt))
            yield
    finally:
        drive(ledger.close())
