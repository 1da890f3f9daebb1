"""What an attempt came to, from what is known; nothing is asked."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from k8sjob.key import Key
from k8sjob.ledger.contract import Claim
from k8sjob.run.sidecar.end import MainEnd, Seen, judge
from k8sjob.states import Outcome
from tests.sidecar.pod import ATTEMPT, KEY, OTHER

DONE_AT = datetime(2026, 9, 13, 0, 0, 7, tzinfo=UTC)
UNKNOWN = MainEnd(None, "no file exit")


def claim(outcome: Outcome, attempt: object = None) -> Claim:
    return Claim(Key.parse(KEY), outcome, "why", None, DONE_AT, attempt)  # type: ignore[arg-type]


FREE = claim(Outcome.APPLIED, ATTEMPT)
OURS = claim(Outcome.DUPLICATE, ATTEMPT)
THEIRS = claim(Outcome.DUPLICATE, OTHER)


def judged(seen: Claim | None, end: MainEnd, *, was_done: bool = False) -> tuple[str, object, str]:
    ending = judge(Key.parse(KEY), ATTEMPT, end, Seen(claim=seen, was_done=was_done))
    return str(ending.outcome), ending.exit_code, ending.speaker


@pytest.mark.parametrize(
    ("seen", "with_0", "with_3", "unknown"),
    [
        (OURS, "applied", "applied", "applied"),
        (claim(Outcome.CONFLICT, ATTEMPT), "applied", "applied", "applied"),
        (claim(Outcome.DUPLICATE), "applied", "applied", "applied"),
        (claim(Outcome.AWAITING, ATTEMPT), "awaiting", "awaiting", "awaiting"),
        (THEIRS, "duplicate", "failed", "lost"),
        (claim(Outcome.CONFLICT, OTHER), "duplicate", "failed", "lost"),
        (claim(Outcome.AWAITING, OTHER), "awaiting", "failed", "lost"),
        (claim(Outcome.BLOCKED), "blocked", "failed", "lost"),
        (claim(Outcome.BLOCKED, ATTEMPT), "blocked", "failed", "lost"),
        (claim(Outcome.SKIPPED, ATTEMPT), "skipped", "failed", "lost"),
        (claim(Outcome.EXPIRED), "expired", "failed", "lost"),
        (claim(Outcome.FUTURE), "future", "failed", "lost"),
        (FREE, "unproven", "failed", "lost"),
        (None, "in-doubt", "failed", "lost"),
    ],
)
def test_the_row_decides_and_then_the_exit_code(
    seen: Claim | None, with_0: str, with_3: str, unknown: str
) -> None:
    assert judged(seen, MainEnd(0)) == (with_0, 0, "child")
    assert judged(seen, MainEnd(3)) == (with_3, 3, "child")
    assert judged(seen, UNKNOWN) == (unknown, None, "k8sjob")


def test_a_row_without_an_attempt_that_was_there_before_is_not_ours() -> None:
    nobodys = claim(Outcome.DUPLICATE)

    assert judged(nobodys, MainEnd(0), was_done=True)[0] == "duplicate"
    assert judged(nobodys, MainEnd(3), was_done=True)[0] == "failed"


def test_a_row_of_ours_that_was_there_before_is_ours() -> None:
    """The ledger came back only after the work was done."""
    assert judged(OURS, MainEnd(0), was_done=True)[0] == "applied"


@pytest.mark.parametrize(
    ("seen", "end", "first"),
    [
        (OURS, MainEnd(0), "applied"),
        (OURS, MainEnd(3), "applied, although the main container ended with 3"),
        (OURS, UNKNOWN, "applied; how the main container ended is not known (no file exit)"),
        (
            claim(Outcome.AWAITING, ATTEMPT),
            MainEnd(143),
            "awaiting: why, although the main container ended with 143, by signal 15",
        ),
        (THEIRS, MainEnd(0), "duplicate: done 2026-09-13 00:00:07Z by attempt 0199a002"),
        (
            THEIRS,
            UNKNOWN,
            "lost: how the main container ended is not known (no file exit), and the period is",
        ),
        (FREE, MainEnd(137, "OOMKilled"), "failed: the main container ended with 137, by signal 9"),
        (FREE, MainEnd(0, "OOMKilled"), "unproven: the main container ended with 0, but its"),
        (None, MainEnd(0), "in doubt: the main container ended with 0, but another transaction"),
        (
            None,
            UNKNOWN,
            "lost: how the main container ended is not known (no file exit), and anoth",
        ),
    ],
)
def test_the_message_says_both(seen: Claim | None, end: MainEnd, first: str) -> None:
    ending = judge(Key.parse(KEY), ATTEMPT, end, Seen(claim=seen))

    assert (ending.message or "").startswith(f"{KEY} {first}")
