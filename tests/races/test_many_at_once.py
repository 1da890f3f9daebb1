from __future__ import annotations

import threading
import time
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, wait

from k8sjob import Key, Outcome
from tests.races.arena import NEW_JOB, Arena
from tests.races.racer import KEY, WAIT, Pending, applied

CROWD = 50
POOLED = 20  # connections to the server that PgBouncer opens by default


def wait_for_a_queue(arena: Arena, length: int) -> None:
    """Return once so many backends wait for a lock."""
    waiting = """SELECT count(*) FROM pg_stat_activity
                  WHERE datname = current_database() AND wait_event_type = 'Lock'"""
    end = time.monotonic() + WAIT
    while arena.ask(waiting) < length:
        assert time.monotonic() < end, "too few wait for the key"
        threading.Event().wait(0.01)


def test_of_fifty_at_one_key_exactly_one_is_applied(arena: Arena) -> None:
    pending = [Pending(arena.racer(), KEY, {}) for _ in range(CROWD)]
    done, _ = wait([p.future for p in pending], WAIT, FIRST_COMPLETED)
    (winner,) = [p for p in pending if p.future in done]
    wait_for_a_queue(arena, (POOLED if arena.pooler else CROWD) - 1)
    assert applied(winner.answer())
    winner.racer.credit()
    winner.racer.commit()
    outcomes: Counter[Outcome] = Counter()
    for loser in pending:
        if loser is not winner:
            outcomes[arena.after_commit(loser).outcome] += 1
            loser.racer.rollback()
    assert outcomes == {Outcome.DUPLICATE: CROWD - 1}
    assert (arena.balance(), arena.state()) == (10, "done")


def test_eight_periods_of_a_job_are_claimed_side_by_side_and_all_commit(arena: Arena) -> None:
    keys = [Key.of(KEY.job, f"2024-09-{day:02}") for day in range(1, 9)]
    racers = [arena.racer() for _ in keys]
    for racer, key in zip(racers, keys, strict=True):
        racer.sql("SELECT set_config('k8sjob.lock_timeout', '1ms', true)")
        assert racer.claim(key)
    for racer in racers:
        racer.commit()
    assert [arena.state(key) for key in keys] == ["done"] * 8


def test_eight_periods_of_a_new_job_wait_for_the_first_one_only(arena: Arena) -> None:
    keys = [Key.of(NEW_JOB.job, f"2024-09-{day:02}") for day in range(1, 9)]
    first, *others = [arena.racer() for _ in keys]
    first.claim(keys[0])
    pending = [
        arena.start_behind(first, racer, key) for racer, key in zip(others, keys[1:], strict=True)
    ]
    first.commit()
    # All are given while none of the others has ended.
    assert all(applied(arena.after_commit(waiting)) for waiting in pending)
    for racer in others:
        racer.commit()
    assert [arena.state(key) for key in keys] == ["done"] * 8
