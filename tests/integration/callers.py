"""What a claim can be made over, each with a transaction open: sqlite3, psycopg, psycopg async."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.pq import TransactionStatus

from k8sjob import Claim, Key, NotApplied, Outcome, claim, try_claim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from tests.fix_stores import Store

KEY = Key.parse("billing/daily-credit:2024-09-13")
NEXT_DAY = Key.parse("billing/daily-credit:2024-09-14")


@dataclass(frozen=True)
class Caller:
    """A transaction over one kind of connection; it is rolled back unless it is committed."""

    name: str
    claim: Callable[..., Claim]
    try_claim: Callable[..., Claim]
    run: Callable[[str], object] = field(repr=False)
    is_open: Callable[[], bool] = field(repr=False)

    def commit(self) -> None:
        """Commit."""
        self.run("COMMIT")


@contextmanager
def over_sqlite3(store: Store) -> Iterator[Caller]:
    """Begin over sqlite3, which waits for no lock."""
    assert store.path
    with closing(sqlite3.connect(store.path, timeout=0, isolation_level=None)) as conn:
        conn.execute("BEGIN")
        yield Caller(
            "sqlite3",
            lambda *args, **terms: claim(conn, *args, **terms),
            lambda *args, **terms: try_claim(conn, *args, **terms),
            conn.execute,
            lambda: conn.in_transaction,
        )


IMPATIENT = "SELECT set_config('k8sjob.lock_timeout', '100ms', true)"


@contextmanager
def over_psycopg(store: Store) -> Iterator[Caller]:
    """Begin over a blocking connection."""
    with closing(psycopg.connect(store.dsn, autocommit=True)) as conn:
        conn.execute("BEGIN")
        conn.execute(IMPATIENT)
        yield Caller(
            "psycopg",
            lambda *args, **terms: claim(conn, *args, **terms),
            lambda *args, **terms: try_claim(conn, *args, **terms),
            lambda query: conn.execute(query.encode()),
            lambda: conn.info.transaction_status == TransactionStatus.INTRANS,
        )


@contextmanager
def over_async_psycopg(store: Store) -> Iterator[Caller]:
    """Begin over an async connection, whose loop runs as long as a call does."""
    with asyncio.Runner() as loop:

        async def wait(call: Any, *args: Any, **terms: Any) -> Any:
            return await call(conn, *args, **terms)

        def run(query: str) -> object:
            return loop.run(conn.execute(query.encode()))

        conn = loop.run(psycopg.AsyncConnection.connect(store.dsn, autocommit=True))
        try:
            run("BEGIN")
            run(IMPATIENT)
            yield Caller(
                "psycopg async",
                lambda *args, **terms: loop.run(wait(claim, *args, **terms)),
                lambda *args, **terms: loop.run(wait(try_claim, *args, **terms)),
                run,
                lambda: conn.info.transaction_status == TransactionStatus.INTRANS,
            )
        finally:
            loop.run(conn.close())


def ways(store: Store) -> list[Callable[[Store], AbstractContextManager[Caller]]]:
    """Return how a transaction can be begun on ``store``."""
    return [over_sqlite3] if store.kind == "sqlite" else [over_psycopg, over_async_psycopg]


def do(store: Store, key: Key | str = KEY, **terms: Any) -> Claim:
    """Claim and commit: the period is done."""
    with ways(store)[0](store) as caller:
        answer = caller.claim(key, **terms)
        caller.commit()
    return answer


def applications(store: Store, key: Key | str = KEY, **terms: Any) -> list[Claim]:
    """Return what each caller is given by either function; all is rolled back."""
    given = []
    for begin in ways(store):
        for name in ("claim", "try_claim"):
            with begin(store) as caller:
                given.append(getattr(caller, name)(key, **terms))
                assert caller.is_open()
    return given


def refusals(
    store: Store, key: Key | str = KEY, *, function: str = "claim", **terms: Any
) -> list[NotApplied]:
    """Return what ``claim``, or ``try_claim``, raises over each caller."""
    raised = []
    for begin in ways(store):
        with begin(store) as caller:
            with pytest.raises(NotApplied) as refusal:
                getattr(caller, function)(key, **terms)
            # Only a lock that was not had in time aborts a transaction of Postgres.
            aborted = refusal.value.outcome is Outcome.BUSY and store.kind == "postgres"
            assert caller.is_open() is not aborted
            raised.append(refusal.value)
    return raised


def answers(store: Store, key: Key | str = KEY, **terms: Any) -> list[Claim]:
    """Return what ``try_claim`` answers over each caller."""
    told = []
    for begin in ways(store):
        with begin(store) as caller:
            told.append(caller.try_claim(key, **terms))
            assert caller.is_open()
    return told


def in_three_parts(refusal: NotApplied, key: Key = KEY) -> bool:
    """Whether the message says what happened, what it means for the data, and what to do."""
    happened, meaning = str(refusal).split("\n")
    unchanged, _, advice = meaning.partition("Nothing was changed. ")
    return (
        happened.startswith(f"{key} {refusal.outcome}: ")
        and len(happened) > len(f"{key} {refusal.outcome}: ")
        and unchanged == "  "
        and bool(advice)
    )
