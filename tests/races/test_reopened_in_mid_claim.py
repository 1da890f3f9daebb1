from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, wait
from typing import TYPE_CHECKING

import psycopg
import pytest

from k8sjob import Outcome
from tests.races.racer import KEY, WAIT, Racer, applied

if TYPE_CHECKING:
    from tests.races.arena import Arena


def reopen(operator: Racer) -> None:
    ((state,),) = operator.sql(
        "SELECT k8sjob.reopen(%s, %s, 'paid back', 'ops')", str(KEY.job), str(KEY.period)
    )
    assert state == "open"


def test_a_claim_waits_for_a_reopening_and_is_applied_as_the_next_generation(arena: Arena) -> None:
    claimer, operator = arena.racer(), arena.operator()
    claimer.run()
    reopen(operator)
    pending = arena.start_behind(operator, claimer)
    operator.commit()
    answer = arena.after_commit(pending)
    assert applied(answer)
    claimer.credit()
    claimer.commit()
    assert arena.ask("SELECT generation FROM k8sjob.periods") == 1
    assert (arena.balance(), arena.state()) == (20, "done")


def test_a_claim_that_waited_for_a_reopening_that_is_rolled_back_is_a_duplicate(
    arena: Arena,
) -> None:
    claimer, operator = arena.racer(), arena.operator()
    claimer.run()
    reopen(operator)
    pending = arena.start_behind(operator, claimer)
    operator.rollback()
    assert pending.answer().outcome is Outcome.DUPLICATE
    assert arena.balance() == 10


def test_a_claim_that_has_found_the_row_done_and_reads_it_reopened_claims_once_more(
    arena: Arena,
) -> None:
    claimer, operator = arena.racer(), arena.operator()
    arena.racer().run()
    with arena.stopping(claimer, "AFTER UPDATE"):
        pending = arena.start_behind(None, claimer)
        reopen(operator)
        operator.commit()
    answer = pending.answer()
    if arena.strict:  # its snapshot still has the row as done
        assert answer.outcome is Outcome.DUPLICATE
        claimer.rollback()
        answer = claimer.claim()
    assert applied(answer)
    claimer.credit()
    claimer.commit()
    assert (arena.balance(), arena.state()) == (20, "done")


def test_two_that_wait_for_a_reopening_do_the_period_once(arena: Arena) -> None:
    one, two = arena.two()
    operator = arena.operator()
    one.run()
    reopen(operator)
    pending = [arena.start_behind(operator, one), arena.start_behind(operator, two)]
    operator.commit()
    if arena.strict:
        for waiting in pending:
            with pytest.raises(psycopg.errors.SerializationFailure):
                waiting.future.result(WAIT)
            waiting.racer.rollback()
        one.run()
        assert two.try_claim().outcome is Outcome.DUPLICATE
    else:
        # Either of them may get the row; the other then waits for its end.
        (got,), _ = wait([p.future for p in pending], WAIT, FIRST_COMPLETED)
        (winner,) = [p.racer for p in pending if p.future is got]
        (loser,) = [p for p in pending if p.future is not got]
        arena.see_waiting(loser.racer, behind=winner)
        assert got.result()
        winner.credit()
        winner.commit()
        assert loser.answer().outcome is Outcome.DUPLICATE
    assert (arena.balance(), arena.state()) == (20, "done")
