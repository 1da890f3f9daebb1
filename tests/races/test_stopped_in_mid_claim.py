from __future__ import annotations

import pytest

from k8sjob import Outcome
from tests.races.arena import FREE, NEXT_DAY, Arena
from tests.races.racer import KEY, WAIT, applied

KEY_TEXTS = (str(KEY.job), str(KEY.period))
SAY = {
    Outcome.BLOCKED: "SELECT k8sjob.block(%s, %s, 'the rate is wrong')",
    Outcome.SKIPPED: "SELECT k8sjob.skip(%s, %s, 'nobody to credit')",
}
each_word = pytest.mark.parametrize("outcome", SAY, ids=str)


@each_word
@pytest.mark.parametrize("free", FREE)
def test_a_claim_waits_for_whoever_is_about_to_stop_the_period_and_learns_why(
    arena: Arena, outcome: Outcome, free: str
) -> None:
    arena.set_up(free)
    claimer, operator = arena.racer(), arena.operator()
    operator.sql(SAY[outcome], *KEY_TEXTS)
    pending = arena.start_behind(operator, claimer)
    operator.commit()
    answer = arena.after_commit(pending)
    assert (answer.outcome, arena.state()) == (outcome, str(outcome))
    assert str(answer.reason) in SAY[outcome]


@each_word
def test_a_claim_is_applied_once_whoever_wanted_to_stop_the_period_has_rolled_back(
    arena: Arena, outcome: Outcome
) -> None:
    claimer, operator = arena.racer(), arena.operator()
    operator.sql(SAY[outcome], *KEY_TEXTS)
    pending = arena.start_behind(operator, claimer)
    operator.rollback()
    assert applied(pending.answer())


@each_word
def test_a_period_cannot_be_stopped_any_more_once_its_claim_has_committed(
    arena: Arena, outcome: Outcome
) -> None:
    claimer, operator = arena.racer(), arena.operator()
    claimer.claim_and_credit()
    stopping = operator.start(lambda: operator.conn.execute(SAY[outcome], KEY_TEXTS).fetchall())
    arena.see_waiting(operator, behind=claimer)
    claimer.commit()
    assert stopping.result(WAIT) == [("done",)]
    operator.commit()
    assert (arena.balance(), arena.state()) == (10, "done")


@each_word
def test_a_prune_waits_for_whoever_is_about_to_stop_a_period(
    arena: Arena, outcome: Outcome
) -> None:
    stopper, operator = arena.racer(), arena.operator()
    arena.racer().run()  # so that there is something to prune
    stopper.sql(SAY[outcome], str(NEXT_DAY.job), str(NEXT_DAY.period))
    prune = "SELECT k8sjob.prune_periods(%s, %s)"
    pruning = operator.start(lambda: operator.conn.execute(prune, KEY_TEXTS).fetchall())
    arena.see_waiting(operator, behind=stopper)
    stopper.commit()
    assert pruning.result(WAIT) == [(1,)]
    operator.commit()
    assert (arena.state(), arena.state(NEXT_DAY)) == (None, str(outcome))
