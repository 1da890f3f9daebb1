from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

import psycopg
import pytest

from tests.races.arena import FREE, Arena
from tests.races.racer import KEY, WAIT, Racer

if TYPE_CHECKING:
    from concurrent.futures import Future


def start_landed(asker: Racer, attempt: UUID | None) -> Future[bool]:
    """Begin to ask whether the commit of ``attempt`` has landed."""
    landed = "SELECT k8sjob.landed(%s, %s, %s)"
    params = (str(KEY.job), str(KEY.period), attempt)
    return asker.start(lambda: bool(asker.conn.execute(landed, params).fetchall()[0][0]))


def landed(arena: Arena, asker: Racer, asking: Future[bool], attempt: UUID | None) -> bool:
    """Return what was told; a stricter level fails where somebody has committed meanwhile."""
    if arena.strict:
        with pytest.raises(psycopg.errors.SerializationFailure):
            asking.result(WAIT)
        asker.rollback()
        asking = start_landed(asker, attempt)
    return asking.result(WAIT)


@pytest.mark.parametrize("free", FREE)
def test_landed_waits_for_the_commit_that_it_asks_about_and_says_yes(
    arena: Arena, free: str
) -> None:
    arena.set_up(free)
    holder, asker = arena.two()
    attempt = holder.claim_and_credit().attempt
    asking = start_landed(asker, attempt)
    arena.see_waiting(asker, behind=holder)
    holder.commit()
    assert landed(arena, asker, asking, attempt)
    asker.commit()
    assert (arena.balance(), arena.state()) == (10, "done")


@pytest.mark.parametrize("free", FREE)
def test_landed_waits_for_the_rollback_of_what_it_asks_about_and_says_no(
    arena: Arena, free: str
) -> None:
    arena.set_up(free)
    state = arena.state()
    holder, asker = arena.two()
    attempt = holder.claim_and_credit().attempt
    asking = start_landed(asker, attempt)
    arena.see_waiting(asker, behind=holder)
    holder.rollback()
    assert asking.result(WAIT) is False
    asker.commit()
    assert (arena.balance(), arena.state()) == (0, state)


def test_landed_says_no_where_another_attempt_has_the_key_and_commits(arena: Arena) -> None:
    holder, asker = arena.two()
    mine = UUID("01990000-0000-7000-8000-000000000001")
    holder.claim_and_credit()
    asking = start_landed(asker, mine)
    arena.see_waiting(asker, behind=holder)
    holder.commit()
    assert landed(arena, asker, asking, mine) is False


def test_whoever_claims_while_landed_looks_waits_for_nobody(arena: Arena) -> None:
    asker, claimer = arena.two()
    assert start_landed(asker, UUID("01990000-0000-7000-8000-000000000001")).result(WAIT) is False
    claimer.sql("SELECT set_config('k8sjob.lock_timeout', '1ms', true)")
    assert claimer.claim_and_credit()
    claimer.commit()
    asker.commit()
    assert (arena.balance(), arena.state()) == (10, "done")


def test_landed_that_waits_too_long_is_sqlstate_55p03(arena: Arena) -> None:
    holder, asker = arena.two()
    attempt = holder.claim_and_credit().attempt
    with pytest.raises(psycopg.errors.LockNotAvailable):
        asker.sql(
            "SELECT k8sjob.landed(%s, %s, %s, '200ms')", str(KEY.job), str(KEY.period), attempt
        )
