from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.testing import run_once

if TYPE_CHECKING:
    from k8sjob import Run
    from tests.fix_stores import Store

KEY = "billing/daily-credit:2026-09-13"


def credit(run: Run) -> None:
    run.conn.execute("UPDATE accounts SET balance = balance + 10")


def crash(run: Run) -> None:
    credit(run)
    raise KeyError("balance")


def test_a_function_is_run_once_and_its_outcome_told(store: Store) -> None:
    first, second = (run_once(credit, KEY, dsn=store.dsn) for _ in range(2))

    assert (first.outcome, second.outcome) == ("applied", "duplicate")
    assert store.query("SELECT balance FROM accounts") == [(10,)]


def test_what_it_raises_is_in_the_result(store: Store) -> None:
    result = run_once(crash, KEY, dsn=store.dsn)

    assert (result.outcome, result.exit_code) == ("failed", 1)
    assert "KeyError: 'balance'" in (result.tail or "")
    assert store.query("SELECT balance FROM accounts") == [(0,)]


def test_a_coroutine_is_awaited(store: Store) -> None:
    async def later(run: Run) -> None:
        done = run.conn.execute("UPDATE accounts SET balance = balance + 10")
        if hasattr(done, "__await__"):
            await done

    assert run_once(later, KEY, dsn=store.dsn).outcome == "applied"
    assert store.query("SELECT balance FROM accounts") == [(10,)]
