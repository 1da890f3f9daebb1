"""The connections that pages and API read through: few, kept, and thrown away when they fail.

A ledger has threads of its own, as many as it may have connections: one that hangs keeps nobody
waiting for the others, and nobody for long.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from k8sjob.errors import ConfigError, InvalidKey, K8sjobError, UsageError
from k8sjob.ledger.read import open_reader
from k8sjob.ledger.settings import Kind
from k8sjob.serve.web import NotThere

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from k8sjob.ledger.read import Reader
    from k8sjob.ledger.settings import Address

T = TypeVar("T")

#: Connections of one ledger, beside the exporter's own.
MOST = 4
#: A page waits no longer for a ledger, and no query of it goes on for longer (seconds).
WITHIN_S, QUERY_S = 10.0, 5.0
#: Where nobody could connect, nobody tries again for so long (seconds).
PAUSE_S = 2.0
#: A ledger that has answered within that time counts as there (seconds).
LATELY_S = 15.0

#: The fault of whoever asks: the connection is as good as before.
_OF_THE_ASKER = (UsageError, InvalidKey, NotThere)


@dataclass(slots=True)
class Shelf:
    """The readers of one ledger; ``find`` reads its address anew at each connect."""

    name: str
    find: Callable[[], Address]
    clock: Callable[[], float] = time.monotonic
    most: int = MOST
    query_s: float = QUERY_S
    _idle: list[Reader] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _answered_at: float | None = None
    #: How often it has answered.
    answers: int = 0
    _trouble: K8sjobError | None = None
    _trouble_at: float = 0.0
    _pool: ThreadPoolExecutor = field(init=False)

    def __post_init__(self) -> None:
        """Have threads; they start when there is something to read."""
        self._pool = ThreadPoolExecutor(self.most, thread_name_prefix=f"reader {self.name}")

    def ask(self, look: Callable[[Reader], T]) -> Future[T]:
        """Let ``look`` read the ledger in a thread. It raises what reader and ``look`` raise."""
        return self._pool.submit(self._look, look)

    def has_answered_lately(self) -> bool:
        """Whether it is there as far as is known."""
        at = self._answered_at
        return at is not None and self.clock() - at <= LATELY_S

    def close(self) -> None:
        """Give the connections back; what is being read is read first."""
        self._pool.shutdown(cancel_futures=True)
        while self._idle:
            self._idle.pop().close()

    # ------------------------------------------------------------------------- in a thread of it

    def _look(self, look: Callable[[Reader], T]) -> T:
        reader = self._take()
        try:
            found = look(reader)
        except BaseException as error:
            if isinstance(error, _OF_THE_ASKER):
                self._put_back(reader)
            else:
                reader.close()
            raise
        self._put_back(reader)
        return found

    def _take(self) -> Reader:
        while (reader := self._kept()) is not None:
            try:
                reader.now()  # the server may have ended it meanwhile
            except K8sjobError:
                reader.close()
            else:
                return reader
        return self._connect()

    def _kept(self) -> Reader | None:
        with self._lock:
            return self._idle.pop() if self._idle else None

    def _connect(self) -> Reader:
        trouble = self._trouble
        if trouble is not None and self.clock() - self._trouble_at < PAUSE_S:
            raise type(trouble)(str(trouble))
        try:
            reader = open_reader(served(self.find()), timeout_s=self.query_s)
        except K8sjobError as error:
            self._trouble, self._trouble_at = error, self.clock()
            raise
        self._trouble = None
        return reader

    def _put_back(self, reader: Reader) -> None:
        with self._lock:
            self._answered_at = self.clock()
            self.answers += 1
            self._idle.append(reader)


def served(address: Address) -> Address:
    """Return an address of Postgres; ConfigError for a file, whose readers keep to one thread."""
    if address.kind is Kind.POSTGRES:
        return address
    raise ConfigError(
        f"{address.origin} is a SQLite file, and what is served is a ledger on Postgres. Nothing "
        "was read.\n  Look at it with k8sjob get jobs -A, or set K8SJOB_DSN=postgresql://…"
    )


def late(within_s: float) -> str:
    """Return the words for a ledger that takes too long."""
    return (
        f"the ledger has not answered within {within_s:g} s\n"
        "  Nothing was changed. It is asked again with the next request."
    )
