"""What a run of the newest period makes needless is skipped with it, and never before it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from k8sjob.run.doubt import first_line
from k8sjob.states import Outcome

if TYPE_CHECKING:
    from uuid import UUID

    from k8sjob.ledger.contract import Ledger
    from k8sjob.run.request import Request
    from k8sjob.run.result import Result

log = logging.getLogger("k8sjob")


async def supersede(ledger: Ledger, request: Request, attempt: UUID) -> None:
    """Skip the older periods, after the work and right before the commit; do nothing if none are.

    Of a part nothing is superseded: its job is claimed last.
    """
    older = request.supersedes
    if older is None or request.key.job.part is not None:
        return
    count = await ledger.supersede(older, request.key.period, attempt)
    log.info(
        "%s supersedes %d older periods of %s",
        *(request.key, count, older),
        extra={"event": "superseded", "key": str(request.key), "count": count},
    )


async def supersede_afterwards(
    ledger: Ledger, request: Request, attempt: UUID, result: Result
) -> None:
    """Skip the older periods of a command that has claimed by itself; the result stands anyway."""
    if result.outcome is not Outcome.APPLIED:
        return
    try:
        await supersede(ledger, request, attempt)
    except Exception as error:  # noqa: BLE001  # see above
        log.warning(
            "the periods that %s supersedes stay open: %s",
            *(request.key, first_line(error)),
            extra={"event": "not_superseded", "key": str(request.key)},
        )
