"""What the Pods run: it goes into a ConfigMap as credit.py, and is imported there, not here."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import k8sjob


def credit(run: k8sjob.Run) -> None:
    """Credit 10 to alice."""
    run.conn.execute("UPDATE app.accounts SET balance = balance + 10 WHERE name = 'alice'")


def slow(run: k8sjob.Run) -> None:
    """Credit, and take five seconds for it."""
    credit(run)
    run.conn.execute("SELECT pg_sleep(5)")


def stuck_once(run: k8sjob.Run) -> None:
    """Credit; the first attempt of all then waits in its transaction until something ends it."""
    credit(run)
    if _is_first(run):
        run.conn.execute("SELECT pg_sleep(600)")


def greedy_once(run: k8sjob.Run) -> None:
    """Credit; the first attempt of all then takes more memory than there is."""
    credit(run)
    taken: list[bytearray] = []
    while _is_first(run) or taken:
        taken.append(bytearray(b"x" * 16_000_000))


def held(run: k8sjob.Run) -> None:
    """Wait in the transaction until the gate is open, then credit."""
    while not _is_open(run):
        run.conn.execute("SELECT pg_sleep(0.5)")
    credit(run)


def _is_open(run: k8sjob.Run) -> bool:
    row = run.conn.execute("SELECT is_called FROM app.gate").fetchone()
    return bool(row[0])


def _is_first(run: k8sjob.Run) -> bool:
    """Count in a sequence: no rollback takes back what it has given."""
    row = run.conn.execute("SELECT nextval('app.tries')").fetchone()
    return bool(row[0] == 1)
