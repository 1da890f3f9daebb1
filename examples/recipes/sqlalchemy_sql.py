"""SQLAlchemy 2 with nothing but SQL: works with every driver, and shows the SQLSTATE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Engine, create_engine, make_url, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from examples.recipes.program import main

if TYPE_CHECKING:
    import k8sjob

# region: credit
CLAIM = text("SELECT k8sjob.claim_text(:job, :period, :payload)")
CREDIT = text("UPDATE accounts SET balance = balance + :amount WHERE name = 'alice'")
DUPLICATE = "KJ001"


def credit(engine: Engine, job: str, period: str, amount: int) -> bool:
    """Credit alice, once per period; tell whether this call did it."""
    try:
        with Session(engine) as session, session.begin():
            session.execute(CLAIM, {"job": job, "period": period, "payload": str(amount)})
            session.execute(CREDIT, {"amount": amount})
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) == DUPLICATE:
            return False
        raise
    return True


# endregion


def _program(url: str, key: k8sjob.Key, amount: int) -> bool:
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    return credit(engine, str(key.job), str(key.period), amount)


if __name__ == "__main__":
    main(_program)
