from __future__ import annotations

import psycopg
import pytest

from k8sjob import Key, NotApplied, Outcome
from tests.races.arena import FREE, Arena
from tests.races.racer import KEY


@pytest.mark.parametrize("free", FREE)
def test_a_claim_that_waited_for_a_rival_is_a_duplicate_once_the_rival_has_committed(
    arena: Arena, free: str
) -> None:
    arena.set_up(free)
    first, second = arena.two()
    winner = first.claim_and_credit()
    pending = arena.start_behind(first, second)
    first.commit()
    answer = arena.after_commit(pending)
    assert answer.outcome is Outcome.DUPLICATE
    assert str(winner.attempt)[:13] in str(answer)
    assert (arena.balance(), arena.state()) == (10, "done")


def test_try_claim_answers_with_the_row_that_the_rival_has_committed(arena: Arena) -> None:
    first, second = arena.two()
    winner = first.claim_and_credit(payload="invoice 7")
    pending = arena.start_behind(first, second, payload="invoice 7")
    first.commit()
    arena.after_commit(pending)
    second.rollback()
    answer = second.try_claim(payload="invoice 7")
    assert answer.outcome is Outcome.DUPLICATE
    assert not answer
    assert (answer.attempt, answer.payload_sha256) == (winner.attempt, winner.payload_sha256)
    assert answer.done_at == winner.done_at


def test_a_rival_that_has_committed_since_the_transaction_began_is_met_too(arena: Arena) -> None:
    first, second = arena.two()
    second.look()
    first.run()
    if arena.strict:
        with pytest.raises(psycopg.errors.SerializationFailure):
            second.claim()
        second.rollback()
    with pytest.raises(NotApplied) as refusal:
        second.claim()
    assert refusal.value.outcome is Outcome.DUPLICATE
    assert arena.balance() == 10


def test_of_two_parts_of_a_job_none_waits_for_the_other(arena: Arena) -> None:
    first, second = arena.two()
    one, two = (Key.of("billing/daily-credit/" + part, KEY.period) for part in ("eu", "us"))
    first.claim_and_credit(one)
    assert second.claim(two)
    first.commit()
    second.commit()
    assert (arena.state(one), arena.state(two)) == ("done", "done")
