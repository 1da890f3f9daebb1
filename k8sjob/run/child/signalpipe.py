"""Signals as bytes on a pipe, so that one loop can wait for them together with everything else."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType

    _Handler = Callable[[int, FrameType | None], object] | int | None

_AT_ONCE = 4096

#: Python ignores these for itself, and restores them in what it starts.
_PYTHONS = frozenset({signal.SIGPIPE, signal.SIGXFSZ})


class SignalPipe:
    """The reading end: the numbers of the signals that came, in their order."""

    def __init__(self, fd: int) -> None:
        """Read from ``fd``, which must not block."""
        self._fd = fd

    def fileno(self) -> int:
        """Return the descriptor to wait for."""
        return self._fd

    def read(self) -> Iterator[int]:
        """Return what came since the last call."""
        try:
            return iter(os.read(self._fd, _AT_ONCE))
        except BlockingIOError:
            return iter(())


@contextmanager
def signals_on_a_pipe(numbers: Sequence[signal.Signals]) -> Iterator[SignalPipe]:
    """Let ``numbers`` arrive on a pipe, also those that came while they were blocked.

    Within the block no signal is blocked or ignored, so that what is started then begins with an
    empty mask and default actions, whatever we were started with. The exception is a SIGHUP that
    was ignored: this is how nohup(1) speaks, to us and to the command.

    Raises ValueError outside of the main thread, where Python allows no handlers.
    """
    with _pipe() as (reading, writing):
        before_fd = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        before = _install(numbers)
        mask = signal.pthread_sigmask(signal.SIG_SETMASK, ())
        try:
            yield SignalPipe(reading)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            for number, handler in before.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(before_fd)


@contextmanager
def _pipe() -> Iterator[tuple[int, int]]:
    """Make a pipe that does not block, which set_wakeup_fd demands."""
    ends = os.pipe()
    try:
        for end in ends:
            os.set_blocking(end, False)
        yield ends
    finally:
        for end in ends:
            os.close(end)


def _install(numbers: Sequence[signal.Signals]) -> dict[int, _Handler]:
    """Take ``numbers``, reset what is ignored; return what was before, where it can be restored."""
    before: dict[int, _Handler] = {}
    for number in signal.valid_signals():
        handler = signal.getsignal(number)
        ignored = handler == signal.SIG_IGN
        if handler is None or (ignored and (number in _PYTHONS or number == signal.SIGHUP)):
            continue
        if number in numbers or ignored:
            before[number] = handler
            signal.signal(number, _nothing if number in numbers else signal.SIG_DFL)
    return before


def _nothing(_number: int, _frame: FrameType | None) -> None:
    """Do nothing: before Python calls this, its C handler has written the number to the pipe."""
