"""The daily credit: what the image runs, once for each day."""

from __future__ import annotations

import k8sjob

AMOUNT = 10


def credit(run: k8sjob.Run) -> None:
    """Credit every account, and note for which day.

    Everything goes through ``run.conn``: it commits together with the claim of the day, or not at
    all. Whoever starts the day again comes to nothing.
    """
    noted = run.conn.execute(
        "INSERT INTO shop.credits (day, account, amount) SELECT %s, name, %s FROM shop.accounts",
        (str(run.key.period), AMOUNT),
    )
    if not noted.rowcount:
        raise k8sjob.Blocked("there are no accounts yet")  # kept as the day's reason, not as done
    run.conn.execute("UPDATE shop.accounts SET balance = balance + %s", (AMOUNT,))
