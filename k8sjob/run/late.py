"""A run that comes too late: its period is skipped, and the target is not run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.ledger.contract import Claim
from k8sjob.run.context import terms_of
from k8sjob.run.result import Result, from_claim, from_error, judged
from k8sjob.states import Outcome, State

if TYPE_CHECKING:
    from uuid import UUID

    from k8sjob.ledger.contract import Ledger
    from k8sjob.run.request import Request


async def skip(ledger: Ledger, request: Request, attempt: UUID) -> Result:
    """Skip the period, unless it is done or decided on already, or another attempt is at it."""
    try:
        claim = await _look(ledger, request, attempt)
        if not claim.applied:
            return from_claim(claim, request)
        state = await ledger.lapse(request.key, str(request.late), attempt)
        if state is State.SKIPPED:
            return judged(request, Outcome.SKIPPED, f"{request.key} skipped: {request.late}")
        claim = await _look(ledger, request, attempt) if state else claim
        who = "; ".join(await ledger.holders(request.key)) or None
        busy = Claim(request.key, Outcome.BUSY, who)
        return from_claim(busy if claim.applied else claim, request)
    except Exception as error:  # noqa: BLE001  # whatever it is, it is this attempt's end
        return from_error(error, request)


async def _look(ledger: Ledger, request: Request, attempt: UUID) -> Claim:
    """Ask for the period and give it back: the answer tells what the ledger knows of it."""
    try:
        return await ledger.claim(request.key, terms_of(request, attempt))
    finally:
        await ledger.rollback()
