from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from k8sjob import NotApplied, Outcome
from tests.races.arena import NEXT_DAY, Arena
from tests.races.racer import KEY, WAIT, Racer, applied

if TYPE_CHECKING:
    from concurrent.futures import Future


def start_prune(operator: Racer) -> Future[list[tuple[object, ...]]]:
    """Begin to raise the floor to KEY and to delete what is done up to there."""
    prune = "SELECT k8sjob.prune_periods(%s, %s)"
    return operator.start(
        lambda: operator.conn.execute(prune, (str(KEY.job), str(KEY.period))).fetchall()
    )


def prune(operator: Racer) -> None:
    assert start_prune(operator).result(WAIT) == [(1,)]


def floor(arena: Arena) -> object:
    return arena.ask("SELECT floor FROM k8sjob.gate")


def test_a_claim_whose_transaction_is_older_than_the_prune_is_expired_and_not_applied_again(
    arena: Arena,
) -> None:
    old, operator = arena.racer(), arena.operator()
    arena.racer().run()
    old.look()
    prune(operator)
    operator.commit()
    assert (arena.state(), floor(arena)) == (None, str(KEY.period))
    if arena.strict:
        with pytest.raises(psycopg.errors.SerializationFailure):
            old.claim()
        old.rollback()
    with pytest.raises(NotApplied) as refusal:
        old.claim()
    assert refusal.value.outcome is Outcome.EXPIRED
    assert (arena.balance(), arena.state()) == (10, None)


def test_a_claim_that_began_during_the_prune_waits_for_it_and_is_expired(arena: Arena) -> None:
    late, operator = arena.racer(), arena.operator()
    arena.racer().run()
    prune(operator)
    pending = arena.start_behind(operator, late)
    operator.commit()
    assert arena.after_commit(pending).outcome is Outcome.EXPIRED
    assert (arena.balance(), arena.state()) == (10, None)


def test_a_claim_that_waited_for_a_prune_that_is_rolled_back_is_a_duplicate(arena: Arena) -> None:
    late, operator = arena.racer(), arena.operator()
    arena.racer().run()
    prune(operator)
    pending = arena.start_behind(operator, late)
    operator.rollback()
    assert pending.answer().outcome is Outcome.DUPLICATE
    assert (arena.balance(), arena.state(), floor(arena)) == (10, "done", None)


def test_a_prune_waits_for_a_claim_in_progress_and_then_takes_its_row_too(arena: Arena) -> None:
    claimer, operator = arena.racer(), arena.operator()
    claimer.claim_and_credit()
    pruning = start_prune(operator)
    arena.see_waiting(operator, behind=claimer)
    claimer.commit()
    assert pruning.result(WAIT) == [(1,)]
    operator.commit()
    with pytest.raises(NotApplied) as refusal:
        claimer.claim()
    assert refusal.value.outcome is Outcome.EXPIRED
    assert (arena.balance(), arena.state(), floor(arena)) == (10, None, str(KEY.period))


def test_a_prune_waits_for_a_claim_that_has_read_the_floor_and_not_yet_inserted(
    arena: Arena,
) -> None:
    claimer, operator = arena.racer(), arena.operator()
    arena.racer().run()
    with arena.stopping(claimer, "BEFORE INSERT"):
        pending = arena.start_behind(None, claimer)
        pruning = start_prune(operator)
        arena.see_waiting(operator, behind=claimer)
    assert pending.answer().outcome is Outcome.DUPLICATE
    claimer.rollback()
    assert pruning.result(WAIT) == [(1,)]
    operator.commit()
    assert (arena.balance(), arena.state()) == (10, None)


def test_a_prune_waits_for_a_claim_that_has_found_a_row_and_not_yet_read_it(arena: Arena) -> None:
    claimer, operator = arena.racer(), arena.operator()
    arena.racer().run()
    with arena.stopping(claimer, "AFTER UPDATE"):
        pending = arena.start_behind(None, claimer)
        pruning = start_prune(operator)
        arena.see_waiting(operator, behind=claimer)
    assert pending.answer().outcome is Outcome.DUPLICATE
    claimer.rollback()
    assert pruning.result(WAIT) == [(1,)]


def test_a_period_above_the_raised_floor_is_applied_as_ever(arena: Arena) -> None:
    late, operator = arena.racer(), arena.operator()
    arena.racer().run()
    prune(operator)
    pending = arena.start_behind(operator, late, NEXT_DAY)
    operator.commit()
    assert applied(arena.after_commit(pending))


def test_an_open_period_below_the_floor_is_left_by_the_prune_and_applied(arena: Arena) -> None:
    late, operator = arena.racer(), arena.operator()
    arena.racer().run()
    operator.sql("SELECT k8sjob.reopen(%s, %s, 'paid back', 'ops')", str(KEY.job), str(KEY.period))
    operator.commit()
    arena.ask("UPDATE k8sjob.gate SET floor = %s RETURNING 1", str(KEY.period))
    assert start_prune(operator).result(WAIT) == [(0,)]
    operator.commit()
    assert late.claim_and_credit().generation == 1
    late.commit()
    assert (arena.balance(), arena.state()) == (20, "done")
