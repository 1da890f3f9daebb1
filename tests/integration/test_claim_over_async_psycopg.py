from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import psycopg
import pytest

from k8sjob import Claim, NotApplied, Outcome, claim, try_claim
from k8sjob.errors import ProtocolError
from tests.integration.callers import KEY

if TYPE_CHECKING:
    from tests.fix_stores import Database

CREDIT = "UPDATE app.accounts SET balance = balance + 10"


def balance(db: Database) -> object:
    return db.connect("admin").execute("SELECT balance FROM app.accounts").fetchall()[0][0]


def test_an_async_claim_stands_and_falls_with_its_transaction(db: Database) -> None:
    async def work() -> list[Claim]:
        async with await psycopg.AsyncConnection.connect(db.dsn()) as conn:
            async with conn.transaction(force_rollback=True):
                rolled_back = await claim(conn, KEY)
                await conn.execute(CREDIT)
            async with conn.transaction():
                kept = await claim(conn, KEY)
                await conn.execute(CREDIT)
            return [rolled_back, kept, await try_claim(conn, KEY)]

    outcomes = [answer.outcome for answer in asyncio.run(work())]
    assert outcomes == ["applied", "applied", "duplicate"]
    assert balance(db) == 10


def test_an_async_claim_in_autocommit_mode_is_refused_when_it_is_awaited(db: Database) -> None:
    async def work() -> None:
        async with await psycopg.AsyncConnection.connect(db.dsn(), autocommit=True) as conn:
            await claim(conn, KEY)

    with pytest.raises(ProtocolError, match="would commit alone"):
        asyncio.run(work())


def test_two_tasks_that_claim_one_key_apply_it_once(db: Database) -> None:
    async def work(first: asyncio.Event, *, leads: bool) -> Claim:
        async with await psycopg.AsyncConnection.connect(db.dsn()) as conn:
            if not leads:
                await first.wait()  # so the other's claim is open
            answer = await try_claim(conn, KEY)
            first.set()
            if answer:
                await conn.execute(CREDIT)
            return answer

    async def both() -> list[Claim]:
        first = asyncio.Event()
        return [*await asyncio.gather(work(first, leads=True), work(first, leads=False))]

    outcomes = [answer.outcome for answer in asyncio.run(both())]
    assert outcomes == ["applied", "duplicate"]
    assert balance(db) == 10


def test_a_busy_async_claim_says_so(db: Database) -> None:
    async def work() -> None:
        async with await psycopg.AsyncConnection.connect(db.dsn()) as conn:
            await conn.execute("SELECT set_config('k8sjob.lock_timeout', '100ms', true)")
            await claim(conn, KEY)

    rival = db.connect()
    claim(rival, KEY)
    with pytest.raises(NotApplied) as refusal:
        asyncio.run(work())
    assert refusal.value.outcome is Outcome.BUSY
