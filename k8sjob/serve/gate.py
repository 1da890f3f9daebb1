"""So many at once: whoever comes beyond that is told so, and holds no thread."""

from __future__ import annotations

from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import TYPE_CHECKING

from k8sjob.serve.web import Busy

if TYPE_CHECKING:
    from collections.abc import Iterator


class Gate:
    """Lets ``room`` in at once, and nobody wait."""

    def __init__(self, room: int) -> None:
        """Take for how many there is room."""
        self._room = BoundedSemaphore(room)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Be in until the end of the block. Raises Busy."""
        if not self._room.acquire(blocking=False):
            raise Busy(
                "too many requests are being answered at the moment. Nothing was read.\n"
                "  Try again in a second."
            )
        try:
            yield
        finally:
            self._room.release()
