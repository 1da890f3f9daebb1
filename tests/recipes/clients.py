"""The recipes behind one contract: credit alice for a key, or claim with nothing around it."""

from __future__ import annotations

import asyncio
import re
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg

import k8sjob
from k8sjob.ledger.sqlstates import ERRORS, OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import URL

JOB = "billing/daily-credit"
KEY = k8sjob.Key.parse(f"{JOB}:2026-09-13")


@dataclass(frozen=True)
class Client:
    """One way to reach the ledger. Both calls take the database's URL and raise what they meet."""

    credit: Callable[[str, k8sjob.Key, int], object]
    alone: Callable[[str, k8sjob.Key], object]


def outcome(client: Client, url: str, key: k8sjob.Key = KEY, amount: int = 10) -> str:
    """Credit, and return what came of it in a word; see :func:`word`."""
    try:
        answer = client.credit(url, key, amount)
    except Exception as error:  # noqa: BLE001  # every driver has its own
        return word(error)
    if isinstance(answer, str):
        return answer
    return "duplicate" if answer is False else "applied"


def word(error: BaseException) -> str:
    """Return the outcome that ``error`` tells, or the name of k8sjob's error, or ``failed``."""
    if isinstance(error, k8sjob.NotApplied):
        return str(error.outcome)
    if isinstance(error, k8sjob.K8sjobError):
        return type(error).__name__
    state = sqlstate(error)
    if state in ERRORS:
        return ERRORS[state][0].__name__
    return str(OUTCOMES.get(state, "failed"))


def sqlstate(error: BaseException) -> str:
    """Return the SQLSTATE, where SQLAlchemy, Django, psycopg or a program's talk has it."""
    if isinstance(error, subprocess.CalledProcessError):
        return state_in(error.stderr)
    places = (error, getattr(error, "orig", None), error.__cause__)
    return next(filter(None, (getattr(place, "sqlstate", None) for place in places)), "")


def state_in(talk: str) -> str:
    """Return the first SQLSTATE of class KJ in what a program said."""
    found = re.search(r"\bKJ\d{3}\b", talk)
    return found[0] if found else ""


def psycopg_blocking() -> Client:
    """Return psycopg's blocking connection."""
    from examples.recipes.psycopg_blocking import credit

    def alone(url: str, key: k8sjob.Key) -> None:
        with psycopg.connect(url, autocommit=True) as conn:
            k8sjob.claim(conn, key)

    return Client(credit, alone)


def psycopg_asyncio() -> Client:
    """Return psycopg's async connection."""
    from examples.recipes.psycopg_asyncio import credit

    async def alone(url: str, key: k8sjob.Key) -> None:
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as conn:
            await k8sjob.claim(conn, key)

    return Client(
        lambda url, key, amount: asyncio.run(credit(url, key, amount)),
        lambda url, key: asyncio.run(alone(url, key)),
    )


def sqlalchemy_url(url: str) -> URL:
    """Return ``url`` as SQLAlchemy's, for psycopg 3."""
    from sqlalchemy import make_url

    return make_url(url).set(drivername="postgresql+psycopg")


def _sqlalchemy(credit: Callable[[Any, k8sjob.Key, int], object]) -> Client:
    from sqlalchemy import create_engine

    def with_engine(url: str, key: k8sjob.Key, amount: int, **options: Any) -> object:
        engine = create_engine(sqlalchemy_url(url), **options)
        try:
            return credit(engine, key, amount)
        finally:
            engine.dispose()

    return Client(
        with_engine, lambda url, key: with_engine(url, key, 10, isolation_level="AUTOCOMMIT")
    )


def sqlalchemy_session() -> Client:
    """Return SQLAlchemy's session with the driver's connection."""
    from examples.recipes.sqlalchemy_session import credit

    return _sqlalchemy(credit)


def sqlalchemy_sql() -> Client:
    """Return SQLAlchemy's session with nothing but SQL."""
    from examples.recipes.sqlalchemy_sql import credit

    return _sqlalchemy(lambda engine, key, n: credit(engine, str(key.job), str(key.period), n))


def sqlalchemy_serializable() -> Client:
    """Return SQLAlchemy's session at SERIALIZABLE; AUTOCOMMIT is the session's own case."""
    from examples.recipes.sqlalchemy_serializable import credit

    return Client(_sqlalchemy(credit).credit, sqlalchemy_session().alone)


def sqlalchemy_asyncio() -> Client:
    """Return SQLAlchemy's async session."""
    from sqlalchemy.ext.asyncio import create_async_engine

    from examples.recipes.sqlalchemy_asyncio import credit

    async def with_engine(url: str, key: k8sjob.Key, amount: int, **options: Any) -> None:
        engine = create_async_engine(sqlalchemy_url(url), **options)
        try:
            await credit(engine, key, amount)
        finally:
            await engine.dispose()

    return Client(
        lambda url, key, amount: asyncio.run(with_engine(url, key, amount)),
        lambda url, key: asyncio.run(with_engine(url, key, 10, isolation_level="AUTOCOMMIT")),
    )


def django_atomic() -> Client:
    """Return Django inside and outside of ``atomic``."""

    def credit(url: str, key: k8sjob.Key, amount: int) -> None:
        with django_database(url):
            from examples.recipes import django_atomic as recipe

            recipe.credit(key, amount)

    def alone(url: str, key: k8sjob.Key) -> None:
        with django_database(url):
            from django.db import connection

            connection.ensure_connection()
            k8sjob.claim(connection.connection, key)

    return Client(credit, alone)


@contextmanager
def django_database(url: str) -> Iterator[None]:
    """Let Django's default database be ``url``; it has one set of settings per process."""
    import django
    from django.conf import settings
    from django.db import connections

    if not settings.configured:
        settings.configure()
        django.setup()
    from examples.recipes.django_atomic import database

    connections.settings = connections.configure_settings({"default": database(url)})
    try:
        yield
    finally:
        connections.close_all()
        del connections["default"]
