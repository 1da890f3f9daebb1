"""What an attempt came to whose work was done in another container. Pure.

The period's row decides, not the exit code: a sidecar sees neither the work nor its transaction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from k8sjob.ledger.contract import Ending, explain
from k8sjob.states import Outcome

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from k8sjob.key import Key
    from k8sjob.ledger.contract import Claim

_DONE = (Outcome.DUPLICATE, Outcome.CONFLICT)
_SIGNALLED = 128
_HELD = "another transaction holds the period"


@dataclass(frozen=True, slots=True)
class MainEnd:
    """How the main container ended. ``exit_code`` is None where nobody could tell.

    ``remark``: what Kubernetes says of it (``OOMKilled``), or why nobody could tell.
    """

    exit_code: int | None
    remark: str | None = None

    def __str__(self) -> str:
        if self.exit_code is None:
            return f"how the main container ended is not known ({self.remark or 'no word of it'})"
        killed = f", by signal {self.exit_code - _SIGNALLED}" if self.exit_code > _SIGNALLED else ""
        remark = f" ({self.remark})" if self.remark and self.exit_code else ""
        return f"the main container ended with {self.exit_code}{killed}{remark}"


def is_done(seen: Claim | None) -> bool:
    """Whether the period's row said done. The payload is the main container's own affair."""
    return seen is not None and seen.outcome in _DONE


def was_done(seen: Claim | None, resolved_at: datetime | None) -> bool:
    """Whether what was seen at the start was done before the main container began.

    It may be quicker than the sidecar, which then finds the main container's own row.
    """
    if seen is None or not is_done(seen):
        return False
    return resolved_at is None or seen.done_at is None or seen.done_at <= resolved_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the ledger said of the period once the main container had ended.

    ``claim``: the answer to a claim that was given back; None where there was none, for the
    ``problem``. ``was_done``: whether the period was done already before it began.
    """

    claim: Claim | None
    problem: str = _HELD
    was_done: bool = False

    @property
    def is_busy(self) -> bool:
        """Whether another transaction held the key, which it will let go."""
        return self.claim is None and self.problem == _HELD

    def is_done_by(self, attempt: UUID) -> bool:
        """Whether the row is this attempt's.

        A claim from plain SQL may name no attempt: if it was not there before, it is this one's.
        """
        if self.claim is None or not is_done(self.claim):
            return False
        return self.claim.attempt == attempt or (self.claim.attempt is None and not self.was_done)


BUSY = Seen(claim=None)


def judge(key: Key, attempt: UUID, end: MainEnd, seen: Seen) -> Ending:
    """Return how the attempt ended."""
    claim, code = seen.claim, end.exit_code
    although = "" if code == 0 else f", although {end}" if code else f"; {end}"
    if seen.is_done_by(attempt):
        return _ending(Outcome.APPLIED, end, f"{key} applied{although}")
    if claim is not None and claim.outcome is Outcome.AWAITING and claim.attempt == attempt:
        return _ending(Outcome.AWAITING, end, f"{key} awaiting: {claim.reason}{although}")
    if code is None:
        return _ending(Outcome.LOST, end, f"{key} lost: {end}, and {_no_row(seen)}\n  {_FIND_OUT}")
    if code:
        return _ending(Outcome.FAILED, end, f"{key} failed: {end}")
    if claim is None:
        what = f"{key} in doubt: {end}, but {seen.problem}"
        return _ending(Outcome.IN_DOUBT, end, f"{what}\n  {_FIND_OUT}")
    if claim.applied:
        what = f"{key} unproven: {end}, but its period is not done"
        return _ending(Outcome.UNPROVEN, end, f"{what}\n  {_CLAIM}")
    if is_done(claim):
        claim = replace(claim, outcome=Outcome.DUPLICATE)
    return _ending(claim.outcome, end, explain(claim))


_FIND_OUT = "Run the period again: if its work was done, nothing is done twice."
_CLAIM = (
    "Nothing says that the work was done. Claim in its transaction: SELECT "
    "k8sjob.claim('$K8SJOB_JOB', '$K8SJOB_PERIOD', attempt => '$K8SJOB_ATTEMPT')."
)


def _no_row(seen: Seen) -> str:
    if seen.claim is None:
        return seen.problem
    if is_done(seen.claim):
        return "the period is done by another attempt"
    return "the period is not done by it"


def _ending(outcome: Outcome, end: MainEnd, message: str) -> Ending:
    """Return an ending with the main container's own exit code: k8sjob's tell nothing here."""
    speaker = "k8sjob" if end.exit_code is None else "child"
    return Ending(outcome=outcome, exit_code=end.exit_code, speaker=speaker, message=message)
