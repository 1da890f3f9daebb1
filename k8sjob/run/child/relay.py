"""One of the command's two streams, passed on byte for byte, and kept in a tail."""

from __future__ import annotations

import array
import fcntl
import logging
import os
import select
import stat
import sys
import termios
from selectors import EVENT_READ, EVENT_WRITE
from typing import TYPE_CHECKING

from k8sjob.run.child.telling import tell

if TYPE_CHECKING:
    from selectors import BaseSelector

    from k8sjob.run.child.tail import Tail

_AT_ONCE = 64 * 1024


class Relay:
    """Reads one chunk, passes it on, and reads the next one only when this one has gone.

    A reader that is slow slows the command down, as it would without us, and costs no memory. A
    reader that has gone is forgotten: the command runs on, and its tail is still kept.
    """

    def __init__(self, source: int, sink: int, tail: Tail, selector: BaseSelector) -> None:
        """Read from ``source``, which becomes the relay's own, and write to ``sink``."""
        self._source, self._sink = source, sink
        self._tail, self._selector = tail, selector
        self._chunk, self._at = b"", 0
        self._may_read = sys.maxsize
        self._most = sys.maxsize if _is_file(sink) else select.PIPE_BUF
        self._takes = select.poll()
        self._takes.register(sink, select.POLLOUT)
        self._watched: int | None = None
        self._broken = False
        self.passed = 0
        self.is_open = True
        os.set_blocking(source, False)
        self._go_on()

    def finish(self) -> None:
        """Take what was written up to now, and no more: somebody may hold the pipe for ever."""
        there = array.array("i", [0])
        if self.is_open:
            fcntl.ioctl(self._source, termios.FIONREAD, there)
            self._may_read = there[0]
            self._go_on()

    def pass_on_no_more(self) -> None:
        """Forget the reader; what comes is still kept in the tail."""
        self._broken = True
        self._chunk, self._at = b"", 0
        if self.is_open:
            self._go_on()

    def close(self) -> None:
        """Let go of the pipe; what was not passed on is lost."""
        if self.is_open:
            self.is_open = False
            self._watch(None)
            os.close(self._source)

    def _read(self) -> None:
        try:
            chunk = os.read(self._source, min(_AT_ONCE, self._may_read))
        except BlockingIOError:
            return
        if not chunk:
            self.close()
            return
        self._may_read -= len(chunk)
        self._tail.write(chunk)
        if not self._broken:
            self._chunk, self._at = chunk, 0
        self._write()

    def _write(self) -> None:
        """Write while the reader takes it: a blocking write could not be left for a signal."""
        while self._at < len(self._chunk) and self._takes.poll(0):
            try:
                written = os.write(self._sink, self._piece())
            except BlockingIOError:  # others may have set our output so
                break
            except OSError as error:
                self._give_up(error)
                break
            self._at += written
            self.passed += written
        self._go_on()

    def _piece(self) -> bytes:
        """Return what can be written now.

        A pipe that is ready takes PIPE_BUF bytes without blocking (pipe(7)). Pieces end with a
        line where they can, so that two streams that go to one place mix by lines.
        """
        if len(self._chunk) - self._at <= self._most:
            return self._chunk[self._at :]
        most = self._at + self._most
        end = self._chunk.rfind(b"\n", self._at, most) + 1
        return self._chunk[self._at : end or most]

    def _give_up(self, error: OSError) -> None:
        self.pass_on_no_more()
        tell(
            logging.WARNING,
            "output %d of the command is not passed on any more: %s. The command runs on.",
            self._sink,
            error.strerror,
            event="output_lost",
        )

    def _go_on(self) -> None:
        """Wait for whoever is next: the reader, the command, or nobody."""
        if self._at < len(self._chunk):
            self._watch(self._sink)
        elif self._may_read:
            self._watch(self._source)
        else:
            self.close()

    def _watch(self, fd: int | None) -> None:
        if fd == self._watched:
            return
        if self._watched is not None:
            self._selector.unregister(self._watched)
        if fd == self._source:
            self._selector.register(fd, EVENT_READ, self._read)
        elif fd is not None:
            self._selector.register(fd, EVENT_WRITE, self._write)
        self._watched = fd


def _is_file(fd: int) -> bool:
    try:
        return stat.S_ISREG(os.fstat(fd).st_mode)
    except OSError:
        return False
