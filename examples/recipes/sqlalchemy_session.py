"""SQLAlchemy 2: a session's transaction, and its driver's connection for the claim."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, create_engine, make_url, text
from sqlalchemy.orm import Session

import k8sjob
from examples.recipes.program import main

# region: credit
CREDIT = text("UPDATE accounts SET balance = balance + :amount WHERE name = 'alice'")


def credit(engine: Engine, key: k8sjob.Key, amount: int) -> None:
    """Credit alice, once per period."""
    with Session(engine) as session, session.begin():
        driver: Any = session.connection().connection.driver_connection
        k8sjob.claim(driver, key, payload=str(amount))
        session.execute(CREDIT, {"amount": amount})


# endregion

if __name__ == "__main__":
    main(
        lambda url, key, amount: credit(
            create_engine(make_url(url).set(drivername="postgresql+psycopg")), key, amount
        )
    )
