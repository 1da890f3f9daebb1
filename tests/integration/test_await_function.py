"""``await``: only the transaction that has claimed a period can hand it over."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import psycopg
import pytest

from k8sjob.ledger.uuid7 import uuid7
from tests.integration.functions import JOB, SITUATIONS, Functions, call

if TYPE_CHECKING:
    from tests.fix_stores import Database

DAY = "2026-02-01"
HAND_OVER = {"job": JOB, "period": DAY, "reason": "sent to the bank"}


@pytest.fixture
def ledger(db: Database) -> Functions:
    """Give the ledger's functions to the test."""
    return Functions(db)


def test_a_claimed_period_is_handed_over_in_its_transaction(ledger: Functions) -> None:
    attempt = uuid7()
    assert (
        ledger.hand_over(
            DAY,
            attempt=attempt,
            indicator="balance at the bank",
            before='{"balance": 5}',
            expected_delta=10,
            recheck_after=timedelta(minutes=5),
            deadline=timedelta(hours=2),
        )
        == "applied"
    )
    row = ledger.row(DAY)
    assert row
    assert (row["state"], row["reason"], row["done_at"]) == ("awaiting", "sent to the bank", None)
    assert (row["indicator"], row["before"]) == ("balance at the bank", {"balance": 5})
    assert row["expected_delta"] == 10
    assert row["await_deadline"] - row["recheck_after"] > timedelta(hours=1, minutes=54)
    (event,) = ledger.events(DAY)
    assert (event["from_state"], event["to_state"]) == ("done", "awaiting")
    assert (event["by"], event["db_user"]) == ("attempt", "k8sjob_runner")
    assert (event["reason"], event["attempt"]) == ("sent to the bank", attempt)


@pytest.mark.parametrize("role", ["runner", "operator"])
def test_what_others_have_seen_is_not_handed_over(ledger: Functions, role: str) -> None:
    ledger.prepare()
    before = ledger.all("SELECT * FROM k8sjob.periods")
    conn = ledger.conns["operator" if role == "operator" else "runner"]
    for period in SITUATIONS.values():
        with pytest.raises(psycopg.Error, match="was not claimed in this transaction") as caught:
            call(conn, "await", **{**HAND_OVER, "period": period})
        assert caught.value.sqlstate == "KJ015"
        assert "in the transaction that has claimed it" in str(caught.value.diag.message_hint)
    assert ledger.all("SELECT * FROM k8sjob.periods") == before


def test_a_duplicate_is_not_handed_over(ledger: Functions) -> None:
    ledger.claim(DAY)
    with pytest.raises(psycopg.Error, match="was not claimed in this transaction"):
        ledger.hand_over(DAY)
    assert ledger.state(DAY) == "done"


def test_a_hand_over_that_is_rolled_back_leaves_nothing(ledger: Functions) -> None:
    conn = ledger.db.connect("runner")
    call(conn, "claim", job=JOB, period=DAY)
    call(conn, "await", **HAND_OVER)
    conn.rollback()
    assert ledger.row(DAY) is None
    assert ledger.events(DAY) == []


def test_a_hand_over_may_stand_in_a_savepoint_but_its_claim_may_not(ledger: Functions) -> None:
    conn = ledger.conns["runner"]
    with conn.transaction():
        call(conn, "claim", job=JOB, period=DAY)
        with conn.transaction():
            call(conn, "await", **HAND_OVER)
    assert ledger.state(DAY) == "awaiting"

    conn.execute("BEGIN")
    with conn.transaction():
        call(conn, "claim", job=JOB, period="2026-02-02")
    with pytest.raises(psycopg.Error) as caught:
        call(conn, "await", **{**HAND_OVER, "period": "2026-02-02"})
    conn.execute("ROLLBACK")
    assert caught.value.sqlstate == "KJ015"
    assert "outside of savepoints" in str(caught.value.diag.message_hint)


@pytest.mark.parametrize("reason", [None, "", " \n"])
def test_nothing_is_handed_over_without_a_reason(ledger: Functions, reason: str | None) -> None:
    with pytest.raises(psycopg.Error, match="a reason is needed to make") as caught:
        ledger.hand_over(DAY, reason=reason)
    assert caught.value.sqlstate == "KJ015"
    assert ledger.row(DAY) is None


# ---------------------------------------------------------------------------------- indicators


def test_one_period_at_a_time_awaits_an_indicator(ledger: Functions) -> None:
    ledger.hand_over(DAY, indicator="balance")
    with pytest.raises(psycopg.errors.UniqueViolation, match="periods_one_awaiting"):
        ledger.hand_over("2026-02-02", indicator="balance")
    assert ledger.row("2026-02-02") is None
    ledger.hand_over("2026-02-03", indicator="another balance")
    ledger.hand_over("2026-02-04")
    ledger.hand_over("2026-02-05")  # without an indicator nothing is in the way


def test_periods_that_move_an_indicator_by_a_known_amount_await_it_together(
    ledger: Functions,
) -> None:
    for day in ("2026-02-01", "2026-02-02", "2026-02-03"):
        ledger.hand_over(day, indicator="balance", expected_delta=10)
        assert ledger.state(day) == "awaiting"


def test_an_indicator_is_free_again_once_nobody_awaits_it(ledger: Functions) -> None:
    ledger.hand_over(DAY, indicator="balance")
    ledger.reopen(DAY)
    assert ledger.hand_over("2026-02-02", indicator="balance") == "applied"
