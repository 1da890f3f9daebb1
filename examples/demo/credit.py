"""What a developer writes: the work of one period, on the connection that carries the claim."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import k8sjob


def credit(run: k8sjob.Run) -> None:
    """Credit 10 to every account: once per period, whoever starts it and however often."""
    amount = json.loads(run.payload)["amount"] if run.payload else 10
    run.conn.execute("UPDATE accounts SET balance = balance + %s", (amount,))


def credit_and_crash(run: k8sjob.Run) -> None:
    """Do the work, then fail: nothing of it stays."""
    credit(run)
    raise RuntimeError("the mail server does not answer")


def wait_for_the_feed(_run: k8sjob.Run) -> None:
    """Say that the period cannot be done yet, and why."""
    raise k8sjob.Blocked("bank holiday, no feed", until=datetime.now(UTC) + timedelta(days=1))
