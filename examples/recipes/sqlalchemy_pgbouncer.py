"""SQLAlchemy 2 through PgBouncer in transaction mode: no prepared statements, no second pool."""

from __future__ import annotations

from sqlalchemy import Engine, NullPool, create_engine, make_url

from examples.recipes.program import main
from examples.recipes.sqlalchemy_session import credit


# region: engine
def through_pgbouncer(url: str) -> Engine:
    """Return an engine that holds a connection for a transaction and no longer."""
    pooled = make_url(url).set(drivername="postgresql+psycopg")
    return create_engine(pooled, poolclass=NullPool, connect_args={"prepare_threshold": None})


# endregion

if __name__ == "__main__":
    main(lambda url, key, amount: credit(through_pgbouncer(url), key, amount))
