"""The states of a period, the moves between them, and what one attempt can come to.

The database holds the same two lists (``CHECK`` constraints and ``k8sjob.may_move``) and
``docs/states.md`` draws them; a test compares the three.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from k8sjob.errors import ExitCode, K8sjobError

if TYPE_CHECKING:
    from datetime import datetime, timedelta
    from decimal import Decimal


class State(StrEnum):
    """What a period is. The first five are stored, the others are computed when somebody looks."""

    OPEN = "open"
    DONE = "done"
    BLOCKED = "blocked"
    AWAITING = "awaiting"
    SKIPPED = "skipped"

    UPCOMING = "upcoming"
    DUE = "due"
    RUNNING = "running"
    MISSING = "missing"
    SUSPENDED = "suspended"


#: The states that a row can have.
STORED = (State.OPEN, State.DONE, State.BLOCKED, State.AWAITING, State.SKIPPED)

#: Which state may follow which; ``None`` is a period without a row. A row goes only by pruning.
#: blocked → done is late evidence (confirm) or a claim after the block's ``until`` has passed;
#: done → awaiting only in the claim's own transaction; done → open only by reopen.
MOVES: dict[State | None, frozenset[State]] = {
    None: frozenset(STORED),
    State.OPEN: frozenset({State.DONE, State.BLOCKED, State.AWAITING, State.SKIPPED}),
    State.BLOCKED: frozenset({State.OPEN, State.DONE}),
    State.SKIPPED: frozenset({State.OPEN}),
    State.AWAITING: frozenset({State.DONE, State.BLOCKED, State.OPEN}),
    State.DONE: frozenset({State.AWAITING, State.OPEN}),
}


def may_move(before: State | None, after: State) -> bool:
    """Tell whether a period may go from ``before`` (None: no row) to ``after``."""
    return after in MOVES.get(before, frozenset())


class Outcome(StrEnum):
    """What one attempt at a period came to."""

    APPLIED = "applied"
    DUPLICATE = "duplicate"
    CONFLICT = "conflict"
    BLOCKED = "blocked"
    AWAITING = "awaiting"
    SKIPPED = "skipped"
    EXPIRED = "expired"
    FUTURE = "future"
    BUSY = "busy"
    IN_DOUBT = "in-doubt"
    FAILED = "failed"
    UNPROVEN = "unproven"
    LOST = "lost"

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of a run with this outcome; 0 where nothing is wrong."""
        return _EXIT_CODES.get(self, ExitCode.OK)

    @property
    def raises_from_try_claim(self) -> bool:
        """Whether even ``try_claim`` raises: nobody can sensibly go on after these."""
        return self in _ALWAYS_RAISED


_EXIT_CODES = {
    Outcome.CONFLICT: ExitCode.CONFLICT,
    Outcome.EXPIRED: ExitCode.EXPIRED,
    Outcome.FUTURE: ExitCode.NO_PERIOD,
    Outcome.BUSY: ExitCode.TRY_AGAIN,
    Outcome.IN_DOUBT: ExitCode.TRY_AGAIN,
    Outcome.FAILED: ExitCode.FAILED,
    Outcome.LOST: ExitCode.FAILED,
    Outcome.UNPROVEN: ExitCode.UNPROVEN,
}
_ALWAYS_RAISED = (Outcome.CONFLICT, Outcome.EXPIRED, Outcome.FUTURE, Outcome.BUSY)


class NotApplied(K8sjobError):
    """The claim was not given: this attempt must not do the work."""

    def __init__(self, outcome: Outcome, message: str, reason: str | None = None) -> None:
        """Keep the ``outcome`` and the ``reason`` somebody gave for it, where there is one."""
        super().__init__(message)
        self.outcome = outcome
        self.reason = reason
        self.exit_code = outcome.exit_code  # type: ignore[misc]  # by outcome, not by class


class Blocked(Exception):  # an answer of the target, not a fault
    """Raise it from a target that cannot be done now: all is rolled back, the period is blocked.

    ``until`` (aware) is when another try makes sense; without it a person has to release it.
    """

    def __init__(self, reason: str, until: datetime | None = None) -> None:
        """Block the period for ``reason``."""
        if not reason.strip():
            raise ValueError("Blocked needs a reason: whoever finds the period has only this line")
        if until is not None and until.utcoffset() is None:
            raise ValueError("Blocked(until=…) needs an aware datetime, e.g. datetime.now(UTC)")
        super().__init__(reason)
        self.reason = reason
        self.until = until


class Skipped(Exception):  # an answer of the target, not a fault
    """Raise it from a target that need not be done: all is rolled back, the period is skipped."""

    def __init__(self, reason: str) -> None:
        """Skip the period for ``reason``."""
        if not reason.strip():
            raise ValueError("Skipped needs a reason: whoever finds the period has only this line")
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Awaiting:
    """Return it from a target that has handed the effect over to somebody else.

    The hand-over commits with the state ``awaiting``; it is done once it is confirmed.
    ``indicator`` names what will show the effect: one period at a time may wait on it, unless
    ``expected_delta`` says by how much it should move. ``before`` is what it showed before.
    ``deadline`` and ``recheck_after`` are durations from now.
    """

    reason: str
    indicator: str | None = None
    before: Any = None
    expected_delta: Decimal | int | None = None
    recheck_after: timedelta | None = None
    deadline: timedelta | None = None
