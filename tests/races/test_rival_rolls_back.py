from __future__ import annotations

import pytest

from tests.races.arena import FREE, Arena
from tests.races.racer import applied


@pytest.mark.parametrize("free", FREE)
def test_a_claim_that_waited_is_applied_once_the_rival_has_rolled_back(
    arena: Arena, free: str
) -> None:
    arena.set_up(free)
    first, second = arena.two()
    first.claim_and_credit()
    pending = arena.start_behind(first, second)
    first.rollback()
    assert applied(pending.answer())
    second.credit()
    second.commit()
    assert (arena.balance(), arena.state()) == (10, "done")


def test_a_claim_that_waited_is_applied_once_the_rivals_connection_has_died(arena: Arena) -> None:
    first, second = arena.two()
    first.claim_and_credit()
    pending = arena.start_behind(first, second)
    assert arena.ask("SELECT pg_terminate_backend(%s)", first.pid)
    assert applied(pending.answer())
    second.credit()
    second.commit()
    assert (arena.balance(), arena.state()) == (10, "done")
