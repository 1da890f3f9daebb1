from __future__ import annotations

import pytest

from k8sjob import NotApplied, Outcome
from tests.races.arena import NEXT_DAY, Arena
from tests.races.racer import KEY, Racer, applied

HOLDS = {
    "of-the-job": ("billing", str(KEY.job)),
    "of-the-namespace": ("billing", None),
    "of-all": (None, None),
}
each_hold = pytest.mark.parametrize("hold", HOLDS.values(), ids=HOLDS)
Hold = tuple[str | None, str | None]


def set_hold(operator: Racer, hold: Hold) -> None:
    operator.sql("SELECT k8sjob.set_hold(%s, %s, 'the bank is closed', 'ops')", *hold)
    operator.commit()


@each_hold
def test_a_claim_made_before_the_hold_goes_through_and_the_next_is_blocked_with_its_reason(
    arena: Arena, hold: Hold
) -> None:
    first, second = arena.two()
    first.claim_and_credit()
    set_hold(arena.operator(), hold)
    for key in (NEXT_DAY, KEY):
        with pytest.raises(NotApplied, match="the bank is closed") as refusal:
            second.claim(key)
        assert refusal.value.outcome is Outcome.BLOCKED
        assert refusal.value.reason == "the bank is closed"
    first.commit()
    assert (arena.balance(), arena.state(), arena.state(NEXT_DAY)) == (10, "done", None)


@each_hold
def test_a_claim_that_waits_while_the_hold_is_set_began_before_it_and_goes_through(
    arena: Arena, hold: Hold
) -> None:
    first, second = arena.two()
    first.claim()
    pending = arena.start_behind(first, second)
    set_hold(arena.operator(), hold)
    first.rollback()
    assert applied(pending.answer())
    second.credit()
    second.commit()
    assert arena.balance() == 10


@each_hold
def test_a_claim_that_has_looked_for_holds_and_not_yet_inserted_goes_through(
    arena: Arena, hold: Hold
) -> None:
    racer = arena.racer()
    with arena.stopping(racer, "BEFORE INSERT"):
        pending = arena.start_behind(None, racer)
        set_hold(arena.operator(), hold)
    assert applied(pending.answer())


def test_a_transaction_that_keeps_an_older_snapshot_does_not_see_the_hold(arena: Arena) -> None:
    racer = arena.racer()
    racer.look()
    set_hold(arena.operator(), HOLDS["of-the-job"])
    answer = racer.try_claim()
    assert answer.outcome is (Outcome.APPLIED if arena.strict else Outcome.BLOCKED)
    racer.rollback()
    assert racer.try_claim().outcome is Outcome.BLOCKED


def test_a_period_that_was_done_before_the_hold_is_a_duplicate_and_not_blocked(
    arena: Arena,
) -> None:
    first, second = arena.two()
    first.run()
    set_hold(arena.operator(), HOLDS["of-the-job"])
    assert second.try_claim().outcome is Outcome.DUPLICATE
