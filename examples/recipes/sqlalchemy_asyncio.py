"""SQLAlchemy 2 with asyncio, which needs its extra: ``sqlalchemy[asyncio]``."""

from __future__ import annotations

import asyncio
from typing import Any

from sqlalchemy import make_url, text
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine

import k8sjob
from examples.recipes.program import main

# region: credit
CREDIT = text("UPDATE accounts SET balance = balance + :amount WHERE name = 'alice'")


async def credit(engine: AsyncEngine, key: k8sjob.Key, amount: int) -> None:
    """Credit alice, once per period."""
    async with AsyncSession(engine) as session, session.begin():
        raw = await (await session.connection()).get_raw_connection()
        driver: Any = raw.driver_connection
        await k8sjob.claim(driver, key, payload=str(amount))
        await session.execute(CREDIT, {"amount": amount})


# endregion


async def _program(url: str, key: k8sjob.Key, amount: int) -> None:
    engine = create_async_engine(make_url(url).set(drivername="postgresql+psycopg"))
    try:
        await credit(engine, key, amount)
    finally:
        await engine.dispose()


if __name__ == "__main__":
    main(lambda url, key, amount: asyncio.run(_program(url, key, amount)))
