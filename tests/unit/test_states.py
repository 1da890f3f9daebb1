from __future__ import annotations

from datetime import UTC, datetime
from itertools import product

import pytest

from k8sjob.errors import ExitCode
from k8sjob.states import (
    MOVES,
    STORED,
    Blocked,
    NotApplied,
    Outcome,
    Skipped,
    State,
    may_move,
)

NAIVE = datetime(2026, 9, 13)  # noqa: DTZ001  # what is refused


def test_moves_lead_only_to_stored_states_and_no_state_moves_to_itself() -> None:
    for before, after in MOVES.items():
        assert after <= set(STORED)
        assert before not in after


def test_a_computed_state_is_never_moved_from_or_to() -> None:
    computed = [s for s in State if s not in STORED]

    assert not any(may_move(a, b) for a, b in product(computed, State))
    assert not any(may_move(a, b) for a, b in product([None, *STORED], computed))


def test_a_done_period_goes_back_only_by_reopen_or_within_its_own_claim() -> None:
    assert MOVES[State.DONE] == {State.OPEN, State.AWAITING}


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (Outcome.APPLIED, 0),
        (Outcome.DUPLICATE, 0),
        (Outcome.BLOCKED, 0),
        (Outcome.AWAITING, 0),
        (Outcome.SKIPPED, 0),
        (Outcome.CONFLICT, 65),
        (Outcome.FUTURE, 66),
        (Outcome.BUSY, 75),
        (Outcome.IN_DOUBT, 75),
        (Outcome.FAILED, 1),
        (Outcome.LOST, 1),
        (Outcome.UNPROVEN, 81),
        (Outcome.EXPIRED, 82),
    ],
)
def test_each_outcome_has_its_exit_code(outcome: Outcome, code: int) -> None:
    assert outcome.exit_code == code
    assert outcome.exit_code in list(ExitCode)


def test_not_applied_carries_outcome_reason_and_exit_code() -> None:
    error = NotApplied(Outcome.CONFLICT, "a/b:once conflict", "why")

    assert (error.outcome, error.reason, error.exit_code) == (Outcome.CONFLICT, "why", 65)
    assert str(error) == "a/b:once conflict"


@pytest.mark.parametrize("empty", ["", "  ", "\n"])
def test_stopping_work_needs_a_reason(empty: str) -> None:
    with pytest.raises(ValueError, match="needs a reason"):
        Blocked(empty)
    with pytest.raises(ValueError, match="needs a reason"):
        Skipped(empty)


def test_a_naive_until_is_refused() -> None:
    with pytest.raises(ValueError, match="aware datetime"):
        Blocked("x", until=NAIVE)
    assert Blocked("x", until=datetime(2026, 9, 13, tzinfo=UTC)).until is not None
