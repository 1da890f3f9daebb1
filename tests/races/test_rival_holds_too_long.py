from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from k8sjob import K8sjobError, NotApplied, Outcome
from tests.races.arena import NEXT_DAY, Arena
from tests.races.racer import KEY, Racer

if TYPE_CHECKING:
    from collections.abc import Callable

IMPATIENT = "SELECT set_config('k8sjob.lock_timeout', '200ms', true)"


def lock_timeout(racer: Racer) -> str:
    ((value,),) = racer.sql("SHOW lock_timeout")
    assert isinstance(value, str)
    return value


def test_a_claim_that_waits_too_long_is_busy_and_its_transaction_can_only_be_rolled_back(
    arena: Arena,
) -> None:
    first, second = arena.two()
    first.claim_and_credit()
    second.sql(IMPATIENT)
    with pytest.raises(NotApplied, match="another transaction holds it") as refusal:
        second.claim()
    assert refusal.value.outcome is Outcome.BUSY
    assert isinstance(refusal.value.__cause__, psycopg.errors.LockNotAvailable)
    with pytest.raises(psycopg.errors.InFailedSqlTransaction):
        second.sql("SELECT 1")
    second.rollback()
    first.commit()
    assert second.try_claim().outcome is Outcome.DUPLICATE
    assert arena.balance() == 10


def test_a_claim_that_is_busy_says_so_out_of_try_claim_too(arena: Arena) -> None:
    first, second = arena.two()
    first.claim_and_credit()
    second.sql(IMPATIENT)
    with pytest.raises(NotApplied) as refusal:
        second.try_claim()
    assert refusal.value.outcome is Outcome.BUSY


def test_a_claim_that_waits_too_long_is_sqlstate_55p03_in_sql(arena: Arena) -> None:
    first, second = arena.two()
    first.claim_and_credit()
    second.sql(IMPATIENT)
    with pytest.raises(psycopg.errors.LockNotAvailable):
        second.sql("SELECT k8sjob.claim(%s, %s)", str(KEY.job), str(KEY.period))


def test_a_prune_that_holds_the_gate_too_long_makes_a_claim_busy(arena: Arena) -> None:
    claimer, operator = arena.racer(), arena.operator()
    claimer.run()
    operator.sql("SELECT k8sjob.prune_periods(%s, %s)", str(KEY.job), str(KEY.period))
    claimer.sql(IMPATIENT)
    with pytest.raises(NotApplied) as refusal:
        claimer.claim(NEXT_DAY)
    assert refusal.value.outcome is Outcome.BUSY


def test_a_claim_that_was_busy_inside_a_savepoint_costs_no_more_than_the_savepoint(
    arena: Arena,
) -> None:
    first, second = arena.two()
    first.claim()
    second.claim_and_credit(NEXT_DAY)
    second.sql(IMPATIENT)
    second.sql("SAVEPOINT before_the_claim")
    with pytest.raises(NotApplied):
        second.claim()
    second.sql("ROLLBACK TO before_the_claim")
    assert lock_timeout(second) == "0"
    second.commit()
    assert (arena.balance(), arena.state(), arena.state(NEXT_DAY)) == (10, None, "done")


def claimed(racer: Racer) -> None:
    assert racer.try_claim()


def done_before(racer: Racer) -> None:
    racer.claim()
    assert racer.try_claim().outcome is Outcome.DUPLICATE


@pytest.mark.parametrize("claiming", [claimed, done_before])
def test_the_lock_timeout_of_the_transaction_is_what_it_was_after_a_claim(
    arena: Arena, claiming: Callable[[Racer], None]
) -> None:
    racer = arena.racer()
    racer.sql("SELECT set_config('lock_timeout', '7s', true)")
    claiming(racer)
    assert lock_timeout(racer) == "7s"
    racer.commit()
    assert lock_timeout(racer) == "0"


@pytest.mark.parametrize(("setting", "seconds"), [(None, "30s"), ("", "30s"), ("4s", "4s")])
def test_a_claim_waits_as_long_as_the_setting_says_and_else_thirty_seconds(
    arena: Arena, setting: str | None, seconds: str
) -> None:
    racer = arena.racer()
    racer.sql("SELECT set_config('races.stop', 'tell', true)")
    if setting is not None:
        racer.sql("SELECT set_config('k8sjob.lock_timeout', %s, true)", setting)
    with pytest.raises(K8sjobError, match=f"this claim waits {seconds} for a lock"):
        racer.claim()
