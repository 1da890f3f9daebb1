"""The ledgers that are served: one connection each, one snapshot for all who ask at once.

A ledger that is away is told as such at each scrape and tried anew at the next: the others stay,
and the process stays.
"""

from __future__ import annotations

import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from k8sjob.errors import K8sjobError
from k8sjob.ledger.scrape import open_scraper
from k8sjob.serve.numbers import Reading
from k8sjob.serve.tail import Tails

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from k8sjob.ledger.scrape import Scraper
    from k8sjob.ledger.settings import Address

log = logging.getLogger("k8sjob")

#: A snapshot is given to all who ask within that time of its end (seconds).
SHARED_FOR_S = 1.0


@dataclass(slots=True)
class ServedLedger:
    """One ledger; ``find`` reads its address anew at each connect, as passwords change."""

    name: str
    find: Callable[[], Address]
    clock: Callable[[], float] = time.monotonic
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _scraper: Scraper | None = None
    _last: Reading | None = None
    _read_at: float = 0.0
    _was_up: bool = True

    def read(self) -> Reading:
        """Return a snapshot: a new one, or one that somebody else has just been given."""
        with self._lock:
            fresh = self._last is not None and self.clock() - self._read_at < SHARED_FOR_S
            if self._last is None or not fresh:
                self._last = self._read()
                self._read_at = self.clock()
            return self._last

    def _read(self) -> Reading:
        began = self.clock()
        tails = Tails()
        if self._last is not None and self._last.tails is not None:
            tails = self._last.tails.again()
        try:
            if self._scraper is None:
                self._scraper = open_scraper(self.find())
            facts = self._scraper.read(tails)
        except K8sjobError as error:
            self._drop()
            self._tell(str(error))
            took = self.clock() - began
            return Reading(ledger=self.name, took_s=took, trouble=str(error))
        self._tell(None)
        return Reading(ledger=self.name, took_s=self.clock() - began, facts=facts, tails=tails)

    def _drop(self) -> None:
        scraper, self._scraper = self._scraper, None
        if scraper is not None:
            scraper.close()

    def _tell(self, trouble: str | None) -> None:
        """Log a change: a ledger that is away for a night is one line, and not one a scrape."""
        if self._was_up and trouble:
            log.warning("ledger %s is away: %s", self.name, trouble, extra={"event": "ledger_away"})
        if not self._was_up and not trouble:
            log.info("ledger %s is back", self.name, extra={"event": "ledger_back"})
        self._was_up = trouble is None

    def close(self) -> None:
        """Give the connection back."""
        with self._lock:
            self._drop()


class Ledgers:
    """All ledgers that are served, read beside each other: a slow one delays, and hides none."""

    def __init__(self, finds: Mapping[str, Callable[[], Address]]) -> None:
        """Take how to find each of them."""
        self.each = [ServedLedger(name, find) for name, find in finds.items()]
        self._pool = ThreadPoolExecutor(max(len(self.each), 1), thread_name_prefix="ledger")

    def read(self) -> list[Reading]:
        """Return a snapshot of each."""
        if len(self.each) == 1:
            return [self.each[0].read()]
        return list(self._pool.map(ServedLedger.read, self.each))

    def close(self) -> None:
        """Give the connections back."""
        self._pool.shutdown()
        for ledger in self.each:
            ledger.close()
