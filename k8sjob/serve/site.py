"""The ledgers as pages and API see them: each with its readers and its board."""

from __future__ import annotations

import time
from concurrent.futures import wait
from http import HTTPStatus
from typing import TYPE_CHECKING, TypeVar

from k8sjob.errors import K8sjobError, Unavailable
from k8sjob.serve.board import Board, Seen
from k8sjob.serve.ledgers import Ledgers
from k8sjob.serve.readers import WITHIN_S, Shelf, late
from k8sjob.serve.web import NotThere, status_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from concurrent.futures import Future
    from datetime import datetime

    from k8sjob.ledger.read import Reader
    from k8sjob.ledger.settings import Address

T = TypeVar("T")

#: How long a ledger is waited for that has not answered the last time (seconds).
_A_MOMENT_S = 0.25


class Answers(dict[str, T]):
    """What ledgers answered, by their names; ``errors`` says what the others did."""

    def __init__(self) -> None:
        """Begin with nothing."""
        super().__init__()
        self.errors: dict[str, K8sjobError] = {}

    @property
    def away(self) -> dict[str, str]:
        """Why ledgers did not answer; one that does not know what is asked for is not away."""
        return {
            name: str(error)
            for name, error in self.errors.items()
            if not isinstance(error, NotThere)
        }

    def refusal(self) -> K8sjobError:
        """Return why there is no answer: the asker's fault, one that is away, or nothing there."""
        order = (HTTPStatus.BAD_REQUEST, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.NOT_FOUND)
        return min(self.errors.values(), key=lambda error: order.index(status_of(error)))


def _moment(reader: Reader) -> datetime:
    return reader.now()


class Site:
    """All ledgers that are served; ``now`` returns the moment that things are told for."""

    def __init__(
        self,
        finds: Mapping[str, Callable[[], Address]],
        *,
        now: Callable[[Reader], datetime] = _moment,
        within_s: float = WITHIN_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take how to find each ledger; none of them is asked yet.

        ``clock`` says in seconds how old what is kept has become.
        """
        self.now = now
        self.within_s = within_s
        self.ledgers = Ledgers(finds, clock)
        self.shelves = {name: Shelf(name, find, clock) for name, find in finds.items()}
        #: How often those had answered that have not answered in time, nor since.
        self._slow: dict[str, int] = {}
        self._boards = {name: Board(shelf, now, clock) for name, shelf in self.shelves.items()}

    @property
    def several(self) -> bool:
        """Whether it has to be said of which ledger something is."""
        return len(self.shelves) > 1

    def overview(self) -> Answers[Seen]:
        """Return all jobs of all ledgers."""
        return self._gather({name: board.ask() for name, board in self._boards.items()})

    def read(self, ledger: str | None, look: Callable[[Reader], T]) -> Answers[T]:
        """Let ``look`` read one ledger, or each of them. Raises NotThere where there is no such."""
        shelves = self.shelves
        if ledger is not None:
            if ledger not in shelves:
                raise NotThere(
                    f"there is no ledger {ledger!r} here, so there is nothing to show.\n"
                    f"  The ledgers are {', '.join(shelves)}."
                )
            shelves = {ledger: shelves[ledger]}
        return self._gather({name: shelf.ask(look) for name, shelf in shelves.items()})

    def _gather(self, asked: Mapping[str, Future[T]]) -> Answers[T]:
        """Wait for all of them at once, and but a moment for those that let us wait before."""
        slow = {name for name, n in self._slow.items() if self.shelves[name].answers == n}
        wait([future for name, future in asked.items() if name not in slow], self.within_s)
        wait([future for name, future in asked.items() if name in slow], _A_MOMENT_S)
        for name, future in asked.items():
            if not future.done():
                self._slow[name] = self.shelves[name].answers
        answers: Answers[T] = Answers()
        for name, future in asked.items():
            try:
                if not future.done():
                    raise Unavailable(late(self.within_s))
                answers[name] = future.result()
            except K8sjobError as error:
                answers.errors[name] = error
        return answers

    def close(self) -> None:
        """Give all connections back."""
        for shelf in self.shelves.values():
            shelf.close()
        self.ledgers.close()
