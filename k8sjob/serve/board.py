"""What the overview shows of one ledger: read once for all who look within a moment."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from k8sjob.view import jobs
from k8sjob.view.asked import Asked, read_asked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future
    from datetime import datetime

    from k8sjob.ledger.read import PassRow, Reader, Snapshot
    from k8sjob.serve.readers import Shelf
    from k8sjob.view.jobs import JobLine

#: A snapshot is given to all who ask within that time of its end (seconds).
SHARED_FOR_S = 1.0


class Seen(NamedTuple):
    """All jobs of a ledger at a moment, and the last passes over them."""

    snapshot: Snapshot
    lines: Sequence[JobLine]
    passes: Sequence[PassRow]


@dataclass(slots=True)
class Board:
    """The jobs of a ledger; ``now`` returns the moment that they are told for."""

    shelf: Shelf
    now: Callable[[Reader], datetime]
    clock: Callable[[], float] = time.monotonic
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _asked: Future[Seen] | None = None
    _good_until: float = 0.0

    def ask(self) -> Future[Seen]:
        """Return a snapshot that is being read or has just been, else read one."""
        with self._lock:
            if self._asked is None or not self._is_good(self._asked):
                self._asked = self.shelf.ask(self._look)
            return self._asked

    def _is_good(self, asked: Future[Seen]) -> bool:
        if not asked.done():
            return True
        return asked.exception() is None and self.clock() < self._good_until

    def _look(self, reader: Reader) -> Seen:
        began = self.clock()
        now = self.now(reader)
        where, _ = read_asked(Asked(what="jobs", everything=True), now)
        snapshot = replace(reader.jobs(where), now=now)
        seen = Seen(snapshot, jobs.lines(snapshot), reader.passes())
        # A ledger that takes long is asked less often.
        self._good_until = self.clock() + max(SHARED_FOR_S, self.clock() - began)
        return seen
