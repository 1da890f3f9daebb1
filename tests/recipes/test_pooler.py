from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import create_engine
from sqlalchemy.orm import Session

import k8sjob
from examples.recipes import sqlalchemy_session, sqlalchemy_sql
from examples.recipes.sqlalchemy_pgbouncer import through_pgbouncer
from tests.recipes.clients import JOB, sqlalchemy_url

if TYPE_CHECKING:
    from tests.fix_pgbouncer import PgBouncer
    from tests.recipes.conftest import Business

# psycopg prepares a statement at its sixth use on a connection (psycopg documentation, prepared
# statements): enough days for each of two connections to get there.
DAYS = [k8sjob.Key.parse(f"{JOB}:2026-09-{day:02}") for day in range(1, 21)]
OFTEN = 10


def test_the_recipes_engine_leaves_nothing_prepared(
    business: Business, pgbouncer: PgBouncer
) -> None:
    engine = through_pgbouncer(pgbouncer.dsn())
    for key in DAYS[:2]:  # what the first prepared would stand in the second one's way
        with Session(engine) as session, session.begin():
            driver: Any = session.connection().connection.driver_connection
            k8sjob.claim(driver, key, payload="1")
            for _ in range(OFTEN):
                session.execute(sqlalchemy_session.CREDIT, {"amount": 1})
    with pytest.raises(k8sjob.NotApplied):
        sqlalchemy_session.credit(engine, DAYS[0], 1)
    assert (business.balance(), business.done()) == (2 * OFTEN, [str(key) for key in DAYS[:2]])


def test_engines_with_a_pool_share_pgbouncers_connections(
    business: Business, pgbouncer: PgBouncer
) -> None:
    url, unprepared = sqlalchemy_url(pgbouncer.dsn()), {"prepare_threshold": None}
    engines = [create_engine(url, connect_args=unprepared) for _ in range(2)]
    with ExitStack() as stack:
        for engine in engines:
            stack.callback(engine.dispose)
        for number, key in enumerate(DAYS):
            sqlalchemy_session.credit(engines[number % 2], key, 10)
        for number, key in enumerate(DAYS, 1):  # each is now asked for by the other one
            assert not sqlalchemy_sql.credit(engines[number % 2], JOB, str(key.period), 10)
    assert (business.balance(), business.done()) == (200, [str(key) for key in DAYS])
