from __future__ import annotations

import psycopg
import pytest

from k8sjob import NotApplied, Outcome
from tests.races.arena import FREE, Arena
from tests.races.racer import KEY, Racer, applied

KEY_TEXTS = (str(KEY.job), str(KEY.period))


def balance_in(racer: Racer) -> object:
    ((value,),) = racer.sql("SELECT balance FROM app.accounts WHERE name = 'alice'")
    return value


@pytest.mark.parametrize("free", FREE)
def test_a_claim_whose_savepoint_is_rolled_back_frees_the_key_before_the_transaction_ends(
    arena: Arena, free: str
) -> None:
    arena.set_up(free)
    first, second = arena.two()
    first.sql("SAVEPOINT before_the_claim")
    first.claim()
    pending = arena.start_behind(first, second)
    first.sql("ROLLBACK TO before_the_claim")
    assert applied(pending.answer())
    second.credit()
    second.commit()
    first.commit()
    assert (arena.balance(), arena.state()) == (10, "done")


def test_a_claim_whose_savepoint_is_released_is_part_of_the_transaction(arena: Arena) -> None:
    first, second = arena.two()
    first.sql("SAVEPOINT around_the_claim")
    first.claim_and_credit()
    first.sql("RELEASE around_the_claim")
    pending = arena.start_behind(first, second)
    first.commit()
    assert arena.after_commit(pending).outcome is Outcome.DUPLICATE
    assert (arena.balance(), arena.state()) == (10, "done")


def test_an_error_that_a_later_savepoint_caught_leaves_the_claim_as_it_is(arena: Arena) -> None:
    racer = arena.racer()
    racer.claim_and_credit()
    racer.sql("SAVEPOINT before_the_extra")
    with pytest.raises(psycopg.errors.DivisionByZero):
        racer.sql("UPDATE app.accounts SET balance = balance / 0")
    racer.sql("ROLLBACK TO before_the_extra")
    racer.commit()
    assert (arena.balance(), arena.state()) == (10, "done")


def test_a_claim_is_made_again_after_its_savepoint_was_rolled_back(arena: Arena) -> None:
    racer = arena.racer()
    racer.sql("SAVEPOINT before_the_claim")
    racer.claim_and_credit()
    racer.sql("ROLLBACK TO before_the_claim")
    racer.claim_and_credit()
    racer.commit()
    assert (arena.balance(), arena.state()) == (10, "done")


def test_a_refusal_in_sql_that_a_savepoint_caught_lets_the_transaction_go_on(arena: Arena) -> None:
    arena.racer().run()
    racer = arena.racer()
    racer.sql("SAVEPOINT before_the_claim")
    with pytest.raises(psycopg.Error) as refusal:
        racer.sql("SELECT k8sjob.claim(%s, %s)", *KEY_TEXTS)
    assert refusal.value.sqlstate == "KJ001"
    racer.sql("ROLLBACK TO before_the_claim")
    assert balance_in(racer) == 10


def test_a_block_of_plpgsql_that_catches_the_refusal_applies_nothing_twice(arena: Arena) -> None:
    racer = arena.racer()
    work = """DO $$ BEGIN
        PERFORM k8sjob.claim('{}', '{}');
        UPDATE app.accounts SET balance = balance + 10;
      EXCEPTION WHEN SQLSTATE 'KJ001' THEN NULL;
      END $$""".format(*KEY_TEXTS)
    for _ in range(2):
        racer.sql(work)
    racer.commit()
    racer.sql(work)
    racer.commit()
    assert (arena.balance(), arena.state()) == (10, "done")


def test_a_refusal_in_python_needs_no_savepoint_for_the_transaction_to_go_on(
    arena: Arena,
) -> None:
    arena.racer().run()
    racer = arena.racer()
    with pytest.raises(NotApplied):
        racer.claim()
    assert balance_in(racer) == 10
