from __future__ import annotations

import pytest

from k8sjob import Key
from k8sjob.errors import ConfigError
from tests.races.arena import NEW_JOB, NEW_JOBS_NEXT_DAY, Arena
from tests.races.racer import applied

# The gate's row of a job that never ran is made by its first claim, which others then wait for.


def test_a_new_jobs_second_period_is_applied_once_its_first_has_committed(arena: Arena) -> None:
    first, second = arena.two()
    first.claim_and_credit(NEW_JOB)
    pending = arena.start_behind(first, second, NEW_JOBS_NEXT_DAY)
    first.commit()
    assert applied(arena.after_commit(pending))
    second.credit()
    second.commit()
    assert arena.balance() == 20
    assert (arena.state(NEW_JOB), arena.state(NEW_JOBS_NEXT_DAY)) == ("done", "done")


def test_a_new_jobs_second_period_is_applied_once_its_first_is_rolled_back(arena: Arena) -> None:
    first, second = arena.two()
    first.claim_and_credit(NEW_JOB)
    pending = arena.start_behind(first, second, NEW_JOBS_NEXT_DAY)
    first.rollback()
    assert applied(pending.answer())
    second.credit()
    second.commit()
    assert arena.balance() == 10
    assert (arena.state(NEW_JOB), arena.state(NEW_JOBS_NEXT_DAY)) == (None, "done")


def test_a_new_jobs_periods_are_of_the_kind_that_its_first_claim_has_committed(
    arena: Arena,
) -> None:
    first, second = arena.two()
    first.claim_and_credit(NEW_JOB)
    pending = arena.start_behind(first, second, Key.of(NEW_JOB.job, "2024-09"))
    first.commit()
    with pytest.raises(ConfigError, match="periods of kind day, this one is of kind month"):
        arena.after_commit(pending)
    assert arena.balance() == 10
