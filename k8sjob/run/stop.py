"""SIGTERM and SIGINT: they interrupt the target, and never a commit."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Stopped(BaseException):
    """A stop signal came while the target ran; its work is rolled back."""

    def __init__(self, number: int) -> None:
        """Keep the signal's number."""
        super().__init__(signal.Signals(number).name)
        self.number = number


class StopSignals:
    """Takes stop signals from now on; PID 1 has no default action for them (pid_namespaces(7))."""

    def __init__(self) -> None:
        """Install handlers, where this is the main thread; else signals are somebody else's."""
        self._interruptible = False
        self._pending: int | None = None
        self._before = {}
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                self._before[number] = signal.signal(number, self._handle)

    def restore(self) -> None:
        """Give the signals back to whoever had them."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, _frame: object) -> None:
        self._pending = number
        if self._interruptible:
            self._interruptible = False
            raise Stopped(number)

    @contextmanager
    def interrupt(self) -> Iterator[None]:
        """Raise Stopped if a signal comes within the block, or came before it."""
        self._interruptible = True
        try:
            if self._pending is not None:
                raise Stopped(self._pending)
            yield
        finally:
            self._interruptible = False
