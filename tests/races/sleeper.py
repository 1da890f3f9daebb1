"""A process that claims, works and commits, a step for each line it reads: it can stop anywhere.

The first line is the DSN (a command line could be read by others), then come the isolation level
and the key. Each step is answered with a line.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import psycopg

from k8sjob import NotApplied, try_claim

if TYPE_CHECKING:
    from collections.abc import Callable

CREDIT = "UPDATE app.accounts SET balance = balance + 10 WHERE name = 'alice'"


def steps(conn: psycopg.Connection[Any], key: str) -> dict[str, Callable[[], object]]:
    """Return what may be asked for."""
    return {
        "look": lambda: conn.execute("SELECT pg_backend_pid()").fetchall()[0][0],
        "claim": lambda: try_claim(conn, key).outcome,
        "credit": lambda: conn.execute(CREDIT).rowcount,
        "commit": conn.commit,
        "rollback": conn.rollback,
    }


def answer(step: Callable[[], object]) -> str:
    """Take the step; return in one line what came of it."""
    try:
        return str(step())
    except NotApplied as refusal:
        return str(refusal.outcome)
    except psycopg.Error as error:
        return "40001" if error.sqlstate == "40001" else "failed"


def main() -> None:
    """Answer until the input ends."""
    dsn, level, key = (sys.stdin.readline().strip() for _ in range(3))
    with psycopg.connect(dsn, prepare_threshold=None) as conn:
        conn.isolation_level = psycopg.IsolationLevel[level]
        known = steps(conn, key)
        for line in sys.stdin:
            print(answer(known[line.strip()]), flush=True)  # noqa: T201  # that is its answer
        conn.close()


if __name__ == "__main__":
    main()
