from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from k8sjob import NotApplied, Outcome
from tests.races.racer import KEY, Racer

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.races.arena import Arena

# A transaction that was told that there is nothing to do may stay open for hours.
AT_ONCE = (
    "SELECT set_config('k8sjob.lock_timeout', '1ms', true), set_config('lock_timeout', '1ms', true)"
)


def stays_open_after_a_duplicate(racer: Racer) -> None:
    assert racer.try_claim().outcome is Outcome.DUPLICATE


def stays_open_after_a_conflict(racer: Racer) -> None:
    with pytest.raises(NotApplied) as refusal:
        racer.try_claim(payload="another")
    assert refusal.value.outcome is Outcome.CONFLICT


each = pytest.mark.parametrize("stay", [stays_open_after_a_duplicate, stays_open_after_a_conflict])


@each
def test_a_period_is_reopened_and_done_again_past_a_transaction_that_was_refused(
    arena: Arena, stay: Callable[[Racer], None]
) -> None:
    idle, next_one = arena.two()
    operator = arena.operator()
    next_one.run()
    stay(idle)
    operator.sql(AT_ONCE)
    operator.sql("SELECT k8sjob.reopen(%s, %s, 'paid back', 'ops')", str(KEY.job), str(KEY.period))
    operator.commit()
    next_one.sql(AT_ONCE)
    assert next_one.claim_and_credit().generation == 1
    next_one.commit()
    assert arena.balance() == 20


@each
def test_others_are_refused_at_once_past_a_transaction_that_was_refused(
    arena: Arena, stay: Callable[[Racer], None]
) -> None:
    idle, other = arena.two()
    other.run()
    stay(idle)
    other.sql(AT_ONCE)
    assert other.try_claim().outcome is Outcome.DUPLICATE


@pytest.mark.parametrize("state", ["blocked", "skipped", "awaiting"])
def test_a_period_that_stands_still_is_moved_on_past_a_transaction_that_was_refused(
    arena: Arena, state: str
) -> None:
    idle, operator = arena.racer(), arena.operator()
    arena.set_state(state)
    assert str(idle.try_claim().outcome) == state
    operator.sql(AT_ONCE)
    operator.sql("SELECT k8sjob.reopen(%s, %s, 'repaired', 'ops')", str(KEY.job), str(KEY.period))
    operator.commit()
    assert arena.state() == "open"
