"""psycopg 3: the transaction is the connection's ``with`` block."""

from __future__ import annotations

import psycopg

import k8sjob
from examples.recipes.program import main


# region: credit
def credit(url: str, key: k8sjob.Key, amount: int) -> None:
    """Credit alice, once per period."""
    with psycopg.connect(url) as conn:  # commits at its end, rolls back on an exception
        k8sjob.claim(conn, key, payload=str(amount))
        conn.execute("UPDATE accounts SET balance = balance + %s WHERE name = 'alice'", [amount])


# endregion

if __name__ == "__main__":
    main(credit)
