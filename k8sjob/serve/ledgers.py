"""The ledgers that are served: one connection each, one snapshot for all who ask at once.

A ledger that is away, or takes too long, is told as such at each scrape and tried anew at the next:
the others stay, and the process stays.
"""

from __future__ import annotations

import logging
import threading
import time
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from k8sjob.errors import K8sjobError, Unavailable
from k8sjob.ledger.scrape import open_scraper
from k8sjob.serve.numbers import Reading
from k8sjob.serve.tail import Tails

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from k8sjob.ledger.scrape import Facts, Scraper
    from k8sjob.ledger.settings import Address

log = logging.getLogger("k8sjob")

#: A snapshot is given to all who ask within that time of its end (seconds).
SHARED_FOR_S = 1.0
#: A ledger that takes longer counts as away: Prometheus waits 10 s by default, for all of them.
WITHIN_S = 8.0


@dataclass(slots=True)
class ServedLedger:
    """One ledger; ``find`` reads its address anew at each connect, as passwords change."""

    name: str
    find: Callable[[], Address]
    clock: Callable[[], float] = time.monotonic
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _asked: Future[Reading] | None = None
    _ended_at: float = 0.0
    _scraper: Scraper | None = None
    _tails: Tails = field(default_factory=Tails)
    _was_up: bool = True

    def ask(self) -> Future[Reading]:
        """Return a snapshot to come: a new one, or one that somebody else has asked for.

        It has a thread of its own, which a ledger that hangs keeps until the connection breaks.
        """
        with self._lock:
            asked = self._asked
            if asked is None or (asked.done() and self.clock() - self._ended_at >= SHARED_FOR_S):
                asked = Future()
                name = f"ledger {self.name}"
                threading.Thread(target=self._answer, args=(asked,), name=name, daemon=True).start()
                self._asked = asked
            return asked

    def result(self, asked: Future[Reading], within_s: float) -> Reading:
        """Return what was asked for, or that there was nothing within that time."""
        try:
            reading = asked.result(within_s)
        except TimeoutError:
            trouble = f"the ledger has not answered within {within_s:.1f} s"
            reading = Reading(ledger=self.name, took_s=within_s, trouble=trouble)
        self._tell(reading.trouble)
        return reading

    def close(self, within_s: float = WITHIN_S) -> None:
        """Give the connection back; what is being read is waited for."""
        asked = self._asked
        if asked is None or wait([asked], within_s).done:
            self._drop()

    def _tell(self, trouble: str | None) -> None:
        """Log a change: a ledger that is away for a night is one line, and not one a scrape."""
        with self._lock:
            was_up, self._was_up = self._was_up, trouble is None
        if was_up and trouble:
            log.warning("ledger %s is away: %s", self.name, trouble, extra={"event": "ledger_away"})
        if not was_up and not trouble:
            log.info("ledger %s is back", self.name, extra={"event": "ledger_back"})

    # --------------------------------------------------------------------------- in its thread

    def _answer(self, asked: Future[Reading]) -> None:
        began = self.clock()
        facts, trouble = None, None
        try:
            facts = self._scrape()
        except K8sjobError as error:
            trouble = str(error)
        except Exception as error:  # what is wrong with one ledger hides none of the others
            log.exception("ledger %s cannot be read", self.name, extra={"event": "ledger_broken"})
            trouble = f"{type(error).__name__}: {error}"
        if trouble is not None:
            self._drop()
        self._ended_at = self.clock()
        took_s = self._ended_at - began
        asked.set_result(
            Reading(ledger=self.name, took_s=took_s, facts=facts, trouble=trouble),
        )

    def _scrape(self) -> Facts:
        kept = self._scraper
        try:
            return self._read()
        except Unavailable:
            if kept is None or not kept.is_broken:
                raise
        # The kept connection was gone: a server that was restarted since is not away.
        self._drop()
        return self._read()

    def _read(self) -> Facts:
        if self._scraper is None:
            self._scraper = open_scraper(self.find())
        return self._scraper.read(self._tails)

    def _drop(self) -> None:
        scraper, self._scraper = self._scraper, None
        if scraper is not None:
            scraper.close()


class Ledgers:
    """All ledgers that are served, read beside each other: a slow one hides none."""

    def __init__(
        self,
        finds: Mapping[str, Callable[[], Address]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take how to find each of them; ``clock`` says in seconds when a snapshot is old."""
        self.each = [ServedLedger(name, find, clock) for name, find in finds.items()]

    def read(self, within_s: float = WITHIN_S) -> list[Reading]:
        """Return a snapshot of each; ``within_s`` is for all of them together."""
        until = time.monotonic() + within_s
        asked = [(ledger, ledger.ask()) for ledger in self.each]
        return [
            ledger.result(future, max(0.0, until - time.monotonic())) for ledger, future in asked
        ]

    def close(self) -> None:
        """Give the connections back."""
        for ledger in self.each:
            ledger.close()
