"""What the connections of a proxy write down together, and the cuts that wait for them."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.wire_frames import Frame


@dataclass
class Cut:
    """A cut that was armed, and what came of it.

    `done`: the client's connection has been cut. `answered`: the server said ReadyForQuery after
    the statement. `ended`: the server's session is gone, and its locks with it. `settled`: one of
    these two. `answers` are the tags and SQLSTATEs that the client was never told: those of the
    statement and, in a pipeline, of its neighbours.
    """

    matches: Callable[[str], bool]
    forward: bool
    await_answer: bool
    connection: int = 0
    sql: str = ""
    forwarded: bool = False
    answers: list[str] = field(default_factory=list)
    done: threading.Event = field(default_factory=threading.Event)
    answered: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    settled: threading.Event = field(default_factory=threading.Event)

    @property
    def server_answered(self) -> bool:
        """Whether the server is known to have finished the statement."""
        return self.answered.is_set()


class Journal:
    """Frames, round trips, cuts and failures of all connections; safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._frames: list[Frame] = []
        self._round_trips = 0
        self._armed: list[Cut] = []
        self._failures: list[str] = []

    def log(self, frame: Frame) -> None:
        """Keep a frame."""
        with self._lock:
            self._frames.append(frame)

    def frames(self) -> tuple[Frame, ...]:
        """All frames so far, in the order in which they reached the proxy."""
        with self._lock:
            return tuple(self._frames)

    def count(self) -> None:
        """Note that one more request is answered."""
        with self._lock:
            self._round_trips += 1

    def round_trips(self) -> int:
        """How many requests were answered so far."""
        with self._lock:
            return self._round_trips

    def arm(self, cut: Cut) -> None:
        """Let the cut wait for its statement."""
        with self._lock:
            self._armed.append(cut)

    def take(self, sql: str, connection: int) -> Cut | None:
        """Return the first armed cut that this statement meets; it is armed no more."""
        with self._lock:
            cut = next((cut for cut in self._armed if cut.matches(sql)), None)
            if cut is not None:
                self._armed.remove(cut)
                cut.sql, cut.connection = sql, connection
            return cut

    def fail(self, text: str) -> None:
        """Keep what went wrong in a thread, for the test to be told at the end."""
        with self._lock:
            self._failures.append(text)

    def failures(self) -> list[str]:
        """All that went wrong, and the cuts that met no statement: they have tested nothing."""
        with self._lock:
            unmet = [
                f"a cut is armed but no statement met {cut.matches.__name__}: "
                "send the statement through the proxy before it closes"
                for cut in self._armed
            ]
            return self._failures + unmet


class RoundTrips:
    """The requests that were answered since this was made, until it was stopped."""

    def __init__(self, journal: Journal) -> None:
        self._journal, self._start = journal, journal.round_trips()
        self._end: int | None = None

    def stop(self) -> None:
        """Let the count stand as it is now."""
        self._end = self._journal.round_trips()

    @property
    def count(self) -> int:
        """How many there were."""
        return (self._journal.round_trips() if self._end is None else self._end) - self._start
