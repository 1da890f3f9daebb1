"""sqlite3: the ledger is in the same file as the business tables."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import k8sjob
from examples.recipes.program import main


# region: credit
def credit(file: str, key: k8sjob.Key, amount: int) -> None:
    """Credit alice, once per period."""
    with closing(sqlite3.connect(file)) as conn, conn:  # the second commits or rolls back
        k8sjob.claim(conn, key, payload=str(amount))
        conn.execute("UPDATE accounts SET balance = balance + ? WHERE name = 'alice'", [amount])


# endregion

if __name__ == "__main__":
    main(lambda url, key, amount: credit(url.removeprefix("sqlite:///"), key, amount))
