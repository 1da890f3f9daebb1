"""One attempt at a target in this process, between its start row and its end row.

::

    start row │ BEGIN  claim  target  seal  COMMIT │ end row
              └────────── again, where it did not serialize ──────────┘

A transaction that does not serialize is done again, all of it; one whose commit is in doubt is
looked up.
"""

from __future__ import annotations

import logging
import random
import time
from dataclasses import replace
from datetime import UTC
from typing import TYPE_CHECKING

from k8sjob import current
from k8sjob.errors import ExitCode, PermanentError, RetriesSpent, Unavailable
from k8sjob.ledger.contract import CommitInDoubt
from k8sjob.ledger.retry import is_retryable
from k8sjob.run.context import Run, terms_of
from k8sjob.run.doubt import find_out, first_line
from k8sjob.run.points import reached
from k8sjob.run.record import record
from k8sjob.run.result import (
    UNDONE,
    UNDONE_BUT_PARTS,
    Result,
    ended_transaction,
    from_claim,
    from_error,
    judged,
)
from k8sjob.run.supersede import supersede
from k8sjob.states import Awaiting, Blocked, Outcome, Skipped, State

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from uuid import UUID

    from k8sjob.ledger.contract import Ledger
    from k8sjob.run.request import Request
    from k8sjob.run.stop import StopSignals

    Work = Callable[[Run], Awaitable[object]]

log = logging.getLogger("k8sjob")

#: What a target says on purpose stands, whatever made it say so.
_ANSWERS = (Blocked, Skipped, PermanentError)

#: Tries of a transaction that does not serialize, and of a commit whose answer was lost.
TRIES = 5
_FIRST_PAUSE_S = 0.05


async def perform(
    ledger: Ledger, request: Request, attempt: UUID, work: Work, stop: StopSignals
) -> Result:
    """Run one attempt in this process and say how it ended. Raises as :func:`record` does."""
    return await record(
        ledger, request, attempt, lambda known: _settle(ledger, known, attempt, work, stop)
    )


async def _settle(
    ledger: Ledger, request: Request, attempt: UUID, work: Work, stop: StopSignals
) -> Result:
    """Run the transaction until it has ended one way or the other; raise nothing."""
    undone = UNDONE

    async def noted(run: Run) -> object:
        nonlocal undone
        try:
            return await work(run)
        finally:
            undone = UNDONE_BUT_PARTS if run.has_parts else UNDONE

    try:
        for number in range(1, TRIES + 1):
            result = await _try(ledger, request, attempt, noted, stop, number)
            if result is not None:
                return result
        return from_error(RetriesSpent(_SPENT), request, undone)
    except (Blocked, Skipped) as said:
        return await _say(ledger, request, attempt, said)
    except BaseException as error:  # noqa: BLE001  # whatever the target raised is its result
        return await _fail(ledger, request, error, undone)


_SPENT = f"its transaction did not get through at any of {TRIES} tries"


async def _try(  # noqa: PLR0913, PLR0917  # the five of perform, and which try it is
    ledger: Ledger, request: Request, attempt: UUID, work: Work, stop: StopSignals, number: int
) -> Result | None:
    """Run the transaction once; None where all of it has to be done again."""
    try:
        return await _once(ledger, request, attempt, work, stop)
    except Exception as error:
        if isinstance(error, _ANSWERS) or not is_retryable(error):
            raise
        await ledger.rollback()
        if number == TRIES:
            raise RetriesSpent(_SPENT) from error
        log.info(
            "%s did not serialize, again (try %d of %d)",
            *(request.key, number + 1, TRIES),
            extra={"event": "serialization_retry", "key": str(request.key)},
        )
        _pause(_FIRST_PAUSE_S * 2**number)
        return None


def _pause(longest_s: float) -> None:
    """Wait a random part of it, so that rivals do not meet again. Blocks: nothing else runs."""
    time.sleep(longest_s * random.random())  # noqa: S311  # not a secret


async def _once(
    ledger: Ledger, request: Request, attempt: UUID, work: Work, stop: StopSignals
) -> Result | None:
    terms = terms_of(request, attempt)
    claim = await stop.interruptible(lambda: ledger.claim(request.key, terms))
    if not claim.applied:
        await ledger.rollback()
        return from_claim(claim, request)
    reached("claimed")
    run = Run(ledger, request, attempt)
    token = current.running.set((request.key, attempt))
    try:
        answer = await stop.interruptible(lambda: work(run))
    finally:
        current.running.reset(token)
    reached("worked")
    if run.has_parts:
        run.check_parts()
        claim = await ledger.claim(request.key, terms)
        if not claim.applied:
            await ledger.rollback()
            return from_claim(claim, request)
    ledger.check_transaction()  # what the target did to it comes first
    await supersede(ledger, request, attempt)
    if isinstance(answer, Awaiting):
        answer = replace(answer, reason=request.redact(answer.reason))
        await ledger.hand_over(request.key, answer, attempt)
    if not await _commit(ledger, request, attempt):
        return None
    if isinstance(answer, Awaiting):
        return judged(request, Outcome.AWAITING, f"{request.key} awaiting: {answer.reason}")
    return judged(request, Outcome.APPLIED, f"{request.key} applied")


async def _commit(ledger: Ledger, request: Request, attempt: UUID) -> bool:
    """Commit; False where the connection broke and the commit did not land."""
    reached("committing")
    try:
        await ledger.commit(attempt)
    except CommitInDoubt as doubt:
        landed = await find_out(ledger, request.key, attempt, doubt)
        if not landed:
            await ledger.open()
        return landed
    return True


async def _say(ledger: Ledger, request: Request, attempt: UUID, said: Blocked | Skipped) -> Result:
    """Write what the target said of its period, now that its work is rolled back."""
    state = State.BLOCKED if isinstance(said, Blocked) else State.SKIPPED
    until = said.until if isinstance(said, Blocked) else None
    try:
        await ledger.rollback()
        reason = request.redact(said.reason)
        now = await ledger.say(request.key, state, reason, until=until, attempt=attempt)
    except Exception as error:  # noqa: BLE001  # the ledger may be away
        return from_error(error, request)
    message = f"{request.key} {state}: {said.reason}"
    if until is not None:
        message = (
            f"{request.key} {state} until {until.astimezone(UTC):%Y-%m-%d %H:%M:%SZ}: {said.reason}"
        )
    if now is not None and now is not state:
        message += f" (but meanwhile another attempt made it {now})"
    return judged(request, Outcome(state), message)


async def _fail(ledger: Ledger, request: Request, error: BaseException, undone: str) -> Result:
    try:
        await ledger.rollback()
    except Exception:  # the server rolls back what a dead connection left
        log.debug("rollback failed", exc_info=True)
    violation = ledger.violation()
    if violation is not None and not ended_transaction(error):
        error = violation
    elif isinstance(error, Exception) and not ledger.is_alive() and _says_no_more(error):
        error = _lost(error, undone)
    return from_error(error, request, undone)


def _says_no_more(error: Exception) -> bool:
    """Whether all that is known is that something failed; PermanentError, say, tells more."""
    return getattr(error, "exit_code", ExitCode.FAILED) == ExitCode.FAILED


def _lost(cause: Exception, undone: str) -> Unavailable:
    error = Unavailable(
        "the connection to the ledger was lost while the target ran "
        f"({first_line(cause)})\n  {undone}"
    )
    error.__cause__ = cause
    return error
