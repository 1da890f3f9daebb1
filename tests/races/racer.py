"""A connection with a thread of its own, on which it takes one step after the other."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from psycopg.pq import TransactionStatus

from k8sjob import Claim, Key, NotApplied, Outcome, claim, try_claim

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fix_stores import Connection

T = TypeVar("T")
#: What came of a claim, raised or returned: both have ``.outcome`` and ``.reason``.
Answer: TypeAlias = Claim | NotApplied

WAIT = 30.0  # seconds
KEY = Key.parse("billing/daily-credit:2024-09-13")


class Racer:
    """One connection, and the thread that its statements run on."""

    def __init__(self, conn: Connection, *, pooled: bool) -> None:
        self.conn = conn
        self._pooled = pooled
        self._pid = 0
        self._known = threading.Event()
        self._thread = ThreadPoolExecutor(1)
        self.waiting: list[Future[Any]] = []

    @property
    def pid(self) -> int:
        """The backend that this transaction runs on: behind a pooler, each may have another."""
        if not self._pooled:
            return self.conn.info.backend_pid
        assert self._known.wait(WAIT), "the pooler gave no connection"
        return self._pid

    def start(self, call: Callable[[], T]) -> Future[T]:
        """Begin a step on this racer's thread and come back at once."""
        future = self._thread.submit(self._run, call)
        self.waiting.append(future)
        return future

    def _run(self, call: Callable[[], T]) -> T:
        # A statement takes the snapshot, so there is none before the claim where it can be avoided.
        if self._pooled and self.conn.info.transaction_status == TransactionStatus.IDLE:
            row = self.conn.execute("SELECT pg_backend_pid()").fetchone()
            assert row
            self._pid = row[0]
            self._known.set()
        return call()

    def do(self, call: Callable[[], T]) -> T:
        """Take a step to its end."""
        return self.start(call).result(WAIT)

    def sql(self, text: str, *params: object) -> list[tuple[Any, ...]]:
        """Run a statement; return its rows."""
        cursor = self.do(lambda: self.conn.execute(text.encode(), params or None))
        return cursor.fetchall() if cursor.description else []

    def look(self) -> None:
        """Begin, and take the snapshot that the stricter levels keep for the whole transaction."""
        self.sql("SELECT count(*) FROM app.accounts")

    def claim(self, key: Key = KEY, **terms: Any) -> Claim:
        """Claim; raises as :func:`k8sjob.claim` does."""
        return self.do(lambda: claim(self.conn, key, **terms))

    def try_claim(self, key: Key = KEY, **terms: Any) -> Claim:
        """Claim; answers as :func:`k8sjob.try_claim` does."""
        return self.do(lambda: try_claim(self.conn, key, **terms))

    def credit(self) -> None:
        """Do the work that the key stands for."""
        self.sql("UPDATE app.accounts SET balance = balance + 10 WHERE name = 'alice'")

    def claim_and_credit(self, key: Key = KEY, **terms: Any) -> Claim:
        """Do claim and work, as a job does, and leave the transaction open."""
        answer = self.claim(key, **terms)
        self.credit()
        return answer

    def commit(self) -> None:
        """Commit."""
        self.do(self.conn.commit)
        self._known.clear()

    def rollback(self) -> None:
        """Roll back."""
        self.do(self.conn.rollback)
        self._known.clear()

    def run(self, key: Key = KEY, **terms: Any) -> None:
        """Do claim, work and commit."""
        self.claim_and_credit(key, **terms)
        self.commit()

    def close(self) -> None:
        """Give thread and connection back; nothing may be waiting any more."""
        self._thread.shutdown()
        self.conn.close()


@dataclass
class Pending:
    """A claim that was started, and how to make it again."""

    racer: Racer
    key: Key
    terms: dict[str, Any]
    future: Future[Claim] = field(init=False)

    def __post_init__(self) -> None:
        """Start it."""
        self.future = self.racer.start(self.call)

    def call(self) -> Claim:
        """Make the claim on the thread that this is called from."""
        return claim(self.racer.conn, self.key, **self.terms)

    def answer(self) -> Answer:
        """Return what it came to, within bounds."""
        return caught(lambda: self.future.result(WAIT))


def caught(call: Callable[[], Claim]) -> Answer:
    """Return the answer of a claim, be it returned or raised."""
    try:
        return call()
    except NotApplied as refusal:
        return refusal


def applied(answer: Answer) -> bool:
    """Whether the period was given."""
    return answer.outcome is Outcome.APPLIED
