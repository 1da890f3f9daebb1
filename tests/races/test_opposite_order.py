from __future__ import annotations

import psycopg

from k8sjob import Outcome
from tests.races.arena import NEXT_DAY, Arena
from tests.races.racer import KEY, WAIT, Pending


def test_of_two_that_claim_in_opposite_order_one_is_refused_and_finds_both_done_afterwards(
    arena: Arena,
) -> None:
    one, two = arena.two()
    one.claim(KEY)
    two.claim(NEXT_DAY)
    pending = [arena.start_behind(two, one, NEXT_DAY), Pending(two, KEY, {})]
    (refused,) = [p.racer for p in pending if is_deadlock(p)]
    (winner,) = {one, two} - {refused}
    winner.credit()
    refused.rollback()
    winner.commit()
    assert [refused.try_claim(key).outcome for key in (KEY, NEXT_DAY)] == [Outcome.DUPLICATE] * 2
    assert (arena.balance(), arena.state(KEY), arena.state(NEXT_DAY)) == (10, "done", "done")


def is_deadlock(pending: Pending) -> bool:
    """Whether this is the one whose transaction the server ended; the other's claim is applied."""
    error = pending.future.exception(WAIT)
    if error is None:
        assert pending.future.result(WAIT)
        return False
    assert isinstance(error, psycopg.errors.DeadlockDetected), error
    pending.racer.rollback()
    return True


def test_of_two_that_claim_in_one_order_the_second_waits_once_and_finds_both_done(
    arena: Arena,
) -> None:
    one, two = arena.two()
    one.claim(KEY)
    pending = arena.start_behind(one, two, KEY)
    one.claim_and_credit(NEXT_DAY)
    one.commit()
    assert arena.after_commit(pending).outcome is Outcome.DUPLICATE
    assert two.try_claim(NEXT_DAY).outcome is Outcome.DUPLICATE
    assert arena.balance() == 10
