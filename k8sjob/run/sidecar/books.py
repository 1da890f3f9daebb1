"""The rows of an attempt that is made in another container, kept on a thread of their own.

A database that hangs then delays neither a look at the main container nor the answer to a signal.
"""

from __future__ import annotations

import logging
import threading
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from k8sjob.errors import Denied, K8sjobError, TryAgain, Unavailable
from k8sjob.ledger.contract import Claim, Terms, drive
from k8sjob.run.child.ticking import ticking
from k8sjob.run.doubt import first_line
from k8sjob.run.heartbeat import Heartbeat, beats
from k8sjob.run.sidecar.end import BUSY, Seen, judge, was_done
from k8sjob.states import NotApplied, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from k8sjob.ledger.contract import Attempt, Ending, Ledger
    from k8sjob.run.sidecar.end import MainEnd

log = logging.getLogger("k8sjob")

#: Denied too: somebody may be granting it just now.
_GOES_AWAY = (Unavailable, TryAgain, Denied)

_FIRST_PAUSE_S = 0.25
_LONGEST_PAUSE_S = 30.0


@dataclass(frozen=True, slots=True)
class Shelf:
    """A ledger to connect to, and what blackens its secrets.

    ``takes_heartbeats``: whether it can be written during a claim.
    """

    ledger: Ledger
    takes_heartbeats: bool
    redact: Callable[[str], str] = str


class Telling(Protocol):
    """Tells people what the books say."""

    def begun(self) -> None:
        """Say that the start row is written."""

    def ended(self, ending: Ending) -> None:
        """Say what is in the end row, now that it is written."""


class Books:
    """Start row, signs of life, end row. Each is tried for as long as the process lives."""

    def __init__(
        self,
        find: Callable[[], Shelf],
        attempt: Attempt,
        tell: Telling,
        *,
        resolved_at: datetime | None = None,
    ) -> None:
        """``find`` returns a ledger that is not connected yet; it is called at each connect."""
        self._find, self._attempt, self._tell = find, attempt, tell
        self._resolved_at = resolved_at
        self._end: MainEnd | None = None
        self._written: Ending | None = None
        self._was_done = False
        self._takes_heartbeats = False
        self._hurry = False
        self._ended, self._kicked, self._closed = (threading.Event() for _ in range(3))

    def open(self) -> None:
        """Begin. The thread ends with the process, whatever it waits for."""
        threading.Thread(target=self._keep, name="books", daemon=True).start()

    def end(self, end: MainEnd) -> None:
        """Say that the main container has ended: the end row is written from now on."""
        self._end = end
        self._ended.set()
        self._kicked.set()

    def hurry(self) -> None:
        """Say that little time is left: pauses begin anew, and nobody is waited for any more."""
        self._hurry = True
        self._kicked.set()

    def wait(self, seconds: float) -> bool:
        """Wait until the end row is written, at most so long; return whether it is."""
        return self._closed.wait(seconds)

    # ----------------------------------------------------------------------------- the thread

    def _keep(self) -> None:
        self._until_done(self._write_start, "the attempt's start")
        self._tell.begun()
        heartbeat = Heartbeat(lambda: beats(self._find().ledger, self._attempt.id))
        with closing(heartbeat), ticking(heartbeat if self._takes_heartbeats else None):
            self._ended.wait()
        self._until_done(self._write_end, "the attempt's end")
        assert self._written  # noqa: S101  # for the type checker
        self._tell.ended(self._written)
        self._closed.set()

    def _until_done(self, step: Callable[[], None], what: str) -> None:
        """Try until it is done; say once for each reason why it is not."""
        told, pause = "", _FIRST_PAUSE_S
        while True:
            try:
                step()
            except Exception as error:  # noqa: BLE001  # whatever it is: the next try may go well
                if (reason := first_line(error)) != told:
                    log.warning(
                        "%s of %s cannot be written yet: %s",
                        *(what, self._attempt.key, reason),
                        extra={"event": "sidecar_waits", "key": str(self._attempt.key)},
                    )
                told = reason
            else:
                if told:
                    log.info("%s of %s is written now", what, self._attempt.key)
                return
            if self._kicked.wait(pause):
                self._kicked.clear()
                pause = _FIRST_PAUSE_S
            else:
                pause = min(pause * 2, _LONGEST_PAUSE_S)

    def _write_start(self) -> None:
        shelf = self._find()
        self._takes_heartbeats = shelf.takes_heartbeats
        drive(shelf.ledger.open())
        try:
            try:
                drive(shelf.ledger.start(self._attempt))
            except Exception as error:
                if not _is_there_already(error):
                    raise
            self._was_done = was_done(self._look(shelf.ledger).claim, self._resolved_at)
        finally:
            drive(shelf.ledger.close())

    def _write_end(self) -> None:
        assert self._end  # noqa: S101  # for the type checker
        shelf = self._find()
        ledger = shelf.ledger
        drive(ledger.open())
        try:
            seen = replace(self._last_look(ledger), was_done=self._was_done)
            ending = judge(self._attempt.key, self._attempt.id, self._end, seen)
            ending = replace(ending, message=shelf.redact(ending.message or ""))
            drive(ledger.end(self._attempt.id, ending))
        finally:
            drive(ledger.close())
        self._written = ending

    def _last_look(self, ledger: Ledger) -> Seen:
        seen = self._look(ledger)
        while seen.is_busy and not self._hurry:
            seen = self._look(ledger)  # which waits for whoever holds the key
        return seen

    def _look(self, ledger: Ledger) -> Seen:
        """Ask for the period and give it back. Raises what goes away: then all is done again."""
        key = self._attempt.key
        try:
            return Seen(claim=drive(ledger.claim(key, Terms(attempt=self._attempt.id))))
        except NotApplied as refusal:
            busy = refusal.outcome is Outcome.BUSY
            return BUSY if busy else Seen(claim=Claim(key, refusal.outcome, refusal.reason))
        except _GOES_AWAY:
            raise
        except K8sjobError as error:  # a claim of another kind of period, say
            return Seen(claim=None, problem=first_line(error))
        finally:
            drive(ledger.rollback())


def _is_there_already(error: BaseException | None) -> bool:
    """Whether the attempt has its row: the sidecar was started anew, or an answer was lost."""
    while error is not None:
        state: Any = getattr(error, "sqlstate", None) or getattr(error, "sqlite_errorname", None)
        if state in ("23505", "SQLITE_CONSTRAINT_PRIMARYKEY"):
            return True
        error = error.__cause__
    return False
