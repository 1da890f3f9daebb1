from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from k8sjob import NotApplied, Outcome
from tests.races.racer import applied

if TYPE_CHECKING:
    from tests.races.arena import Arena


def test_a_rival_that_commits_another_payload_makes_the_waiting_claim_a_conflict(
    arena: Arena,
) -> None:
    first, second = arena.two()
    winner = first.claim_and_credit(payload="10 to alice")
    pending = arena.start_behind(first, second, payload="11 to alice")
    first.commit()
    answer = arena.after_commit(pending)
    assert isinstance(answer, NotApplied)
    assert answer.outcome is Outcome.CONFLICT
    for text in (b"10 to alice", b"11 to alice"):
        assert f"sha256:{sha256(text).hexdigest()[:16]}" in str(answer)
    assert str(winner.attempt)[:13] in str(answer)
    assert arena.balance() == 10


def test_a_rival_that_rolls_another_payload_back_leaves_the_period_to_the_waiting_claim(
    arena: Arena,
) -> None:
    first, second = arena.two()
    first.claim_and_credit(payload="10 to alice")
    pending = arena.start_behind(first, second, payload="11 to alice")
    first.rollback()
    answer = pending.answer()
    assert applied(answer)
    second.credit()
    second.commit()
    assert arena.balance() == 10
    stored = arena.ask("SELECT payload_sha256 FROM k8sjob.periods")
    assert stored == sha256(b"11 to alice").digest()


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("10", "11"), ("10", None), (None, "10"), ("", None), (b"\x00", "")],
    ids=["other", "none-now", "none-then", "empty-is-not-none", "bytes"],
)
def test_another_payload_after_the_commit_is_a_conflict_and_out_of_try_claim_too(
    arena: Arena, ours: str | bytes | None, theirs: str | None
) -> None:
    first, second = arena.two()
    first.run(payload=theirs)
    with pytest.raises(NotApplied) as refusal:
        second.try_claim(payload=ours)
    assert refusal.value.outcome is Outcome.CONFLICT
    second.rollback()
    assert second.try_claim(payload=theirs).outcome is Outcome.DUPLICATE
