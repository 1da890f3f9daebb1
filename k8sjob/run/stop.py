"""SIGTERM and SIGINT: they interrupt the target, and never a commit."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from k8sjob.errors import PermanentError
from k8sjob.states import Blocked, Skipped

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")

#: What a target may say of its period even where it was stopped.
_ANSWERS = (Blocked, Skipped, PermanentError)


class Stopped(KeyboardInterrupt):
    """A stop signal came while the target ran; its work is rolled back.

    A KeyboardInterrupt, because psycopg cancels what the server is at when one passes through it.
    """

    def __init__(self, number: int) -> None:
        """Keep the signal's number."""
        super().__init__(signal.Signals(number).name)
        self.number = number


class StopSignals:
    """Takes stop signals from now on; PID 1 has no default action for them (pid_namespaces(7))."""

    def __init__(self) -> None:
        """Install handlers, where this is the main thread; else signals are somebody else's."""
        #: Set where the runner is a task of an event loop.
        self.asynchronous = False
        self._pending: int | None = None
        self._interrupt: Callable[[], None] | None = None
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
        interrupt, self._interrupt = self._interrupt, None
        if interrupt is not None:
            interrupt()

    def _stop(self) -> NoReturn:
        assert self._pending is not None  # noqa: S101  # for the type checker
        raise Stopped(self._pending)

    async def interruptible(self, work: Callable[[], Awaitable[T]]) -> T:
        """Await ``work``; raise Stopped if a signal comes meanwhile, or came before."""
        try:
            if self.asynchronous:
                return await self._in_task(work)
            self._interrupt = self._stop
            if self._pending is not None:
                self._stop()
            return await work()
        except BaseException as error:
            if self._pending is None or isinstance(error, (Stopped, *_ANSWERS)):
                raise
            raise Stopped(self._pending) from error
        finally:
            self._interrupt = None

    async def _in_task(self, work: Callable[[], Awaitable[T]]) -> T:
        """Await ``work`` in a task of its own: one can be cancelled without the runner's."""
        import asyncio  # noqa: PLC0415  # for coroutines only

        loop = asyncio.get_running_loop()
        task = loop.create_task(_caught(work))

        def interrupt() -> None:
            if asyncio.current_task(loop) is task:
                self._stop()  # it computes, or blocks the loop: cancelling would not reach it
            loop.call_soon_threadsafe(task.cancel)  # which wakes the loop too

        self._interrupt = interrupt
        if self._pending is not None:
            task.cancel()
        value, error = await task
        if error is not None:
            raise error
        return value  # type: ignore[no-any-return]  # Any, as the task's result


async def _caught(work: Callable[[], Awaitable[Any]]) -> tuple[Any, BaseException | None]:
    """Keep the error in: asyncio lets SystemExit and KeyboardInterrupt of a task end the loop."""
    try:
        return await work(), None
    except BaseException as error:  # noqa: BLE001  # it is raised again by whoever awaits the task
        return None, error
