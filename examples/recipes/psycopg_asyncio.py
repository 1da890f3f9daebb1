"""psycopg 3 with asyncio: the same, awaited."""

from __future__ import annotations

import asyncio

import psycopg

import k8sjob
from examples.recipes.program import main


# region: credit
async def credit(url: str, key: k8sjob.Key, amount: int) -> None:
    """Credit alice, once per period."""
    async with await psycopg.AsyncConnection.connect(url) as conn:
        await k8sjob.claim(conn, key, payload=str(amount))
        update = "UPDATE accounts SET balance = balance + %s WHERE name = 'alice'"
        await conn.execute(update, [amount])


# endregion

if __name__ == "__main__":
    main(lambda url, key, amount: asyncio.run(credit(url, key, amount)))
