from __future__ import annotations

import psycopg
import pytest

from k8sjob import NotApplied, Outcome
from tests.races.arena import FREE, Arena
from tests.races.racer import KEY

KEY_TEXTS = (str(KEY.job), str(KEY.period))


@pytest.mark.parametrize("free", FREE)
def test_a_second_claim_in_one_transaction_raises_and_the_first_one_stands(
    arena: Arena, free: str
) -> None:
    arena.set_up(free)
    racer = arena.racer()
    own = racer.claim_and_credit()
    with pytest.raises(NotApplied) as refusal:
        racer.claim()
    assert refusal.value.outcome is Outcome.DUPLICATE
    assert str(own.attempt)[:13] in str(refusal.value)
    racer.commit()
    assert (arena.balance(), arena.state()) == (10, "done")


def test_a_second_try_claim_in_one_transaction_answers_duplicate(arena: Arena) -> None:
    racer = arena.racer()
    assert racer.try_claim()
    for _ in range(2):
        answer = racer.try_claim()
        assert (answer.outcome, bool(answer)) == (Outcome.DUPLICATE, False)


def test_a_second_claim_with_another_payload_in_one_transaction_is_a_conflict(
    arena: Arena,
) -> None:
    racer = arena.racer()
    racer.claim(payload="10")
    with pytest.raises(NotApplied) as refusal:
        racer.try_claim(payload="11")
    assert refusal.value.outcome is Outcome.CONFLICT


def test_a_second_claim_in_sql_fails_its_transaction(arena: Arena) -> None:
    racer = arena.racer()
    assert racer.sql("SELECT k8sjob.claim(%s, %s)", *KEY_TEXTS) == [("applied",)]
    with pytest.raises(psycopg.Error) as refusal:
        racer.sql("SELECT k8sjob.claim(%s, %s)", *KEY_TEXTS)
    assert refusal.value.sqlstate == "KJ001"
    racer.commit()  # which rolls back
    assert arena.state() is None


def test_two_claims_in_one_statement_fail_it(arena: Arena) -> None:
    racer = arena.racer()
    with pytest.raises(psycopg.Error) as refusal:
        racer.sql("SELECT k8sjob.claim(%s, %s), k8sjob.claim(%s, %s)", *KEY_TEXTS, *KEY_TEXTS)
    assert refusal.value.sqlstate == "KJ001"


def test_of_three_try_claims_in_one_statement_one_is_applied(arena: Arena) -> None:
    answers = arena.racer().sql(
        """SELECT outcome FROM generate_series(1, 3) n,
                  LATERAL k8sjob.try_claim(%s, %s || left(n::text, 0))""",
        *KEY_TEXTS,
    )
    assert answers == [("applied",), ("duplicate",), ("duplicate",)]
