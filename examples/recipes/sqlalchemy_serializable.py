"""SQLAlchemy 2 at SERIALIZABLE: whoever owns the transaction does all of it again."""

from __future__ import annotations

from typing import Any

import psycopg
from sqlalchemy import Engine, create_engine, make_url, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

import k8sjob
from examples.recipes.program import main

# region: credit
CREDIT = text("UPDATE accounts SET balance = balance + :amount WHERE name = 'alice'")
RETRIED = ("40001", "40P01")  # serialization failure, deadlock
TRIES = 5


def credit(engine: Engine, key: k8sjob.Key, amount: int) -> None:
    """Credit alice, once per period, whatever else is going on."""
    serializable = engine.execution_options(isolation_level="SERIALIZABLE")
    for tries_left in reversed(range(TRIES)):
        try:
            with Session(serializable) as session, session.begin():
                driver: Any = session.connection().connection.driver_connection
                k8sjob.claim(driver, key, payload=str(amount))
                session.execute(CREDIT, {"amount": amount})
        except (psycopg.Error, DBAPIError) as error:  # from the claim, from SQLAlchemy
            driver_error = error.orig if isinstance(error, DBAPIError) else error
            if not tries_left or getattr(driver_error, "sqlstate", None) not in RETRIED:
                raise
        else:
            return


# endregion

if __name__ == "__main__":
    main(
        lambda url, key, amount: credit(
            create_engine(make_url(url).set(drivername="postgresql+psycopg")), key, amount
        )
    )
