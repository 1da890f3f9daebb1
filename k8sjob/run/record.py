"""The attempt's rows: one before the work, one after it, each in a transaction of its own.

The start row is committed before the work, so a kill leaves a trace; the end row after it, so a
failure to write it changes nothing about the work.
"""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

from k8sjob.ledger.contract import Attempt, Ending
from k8sjob.run.doubt import first_line
from k8sjob.run.late import skip
from k8sjob.run.origin.on_schedule import checked
from k8sjob.run.points import reached
from k8sjob.version import __version__

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from uuid import UUID

    from k8sjob.ledger.contract import Ledger
    from k8sjob.run.request import Request
    from k8sjob.run.result import Result

log = logging.getLogger("k8sjob")


async def record(
    ledger: Ledger,
    request: Request,
    attempt: UUID,
    settle: Callable[[Request], Awaitable[Result]],
) -> Result:
    """Write the start row, await ``settle``, write the end row; return what it came to.

    ``settle`` gets the request with what the ledger knows of the job. Raises NoPeriod where the
    period that was passed is not on the job's schedule; Unavailable, Denied, SchemaAbsent,
    ClientTooOld where the attempt's row could not be written: then nothing was run. Whatever
    happens afterwards is in the result.
    """
    await ledger.open()
    try:
        if request.unchecked:
            request = checked(request, await ledger.known(request.key.job))
        await ledger.start(
            Attempt(
                id=attempt,
                key=request.key,
                mode=request.target.mode,
                source=request.source,
                client=__version__,
                pid=os.getpid(),
                **request.place,
            )
        )
        reached("started")
        settled = settle(request) if request.late is None else skip(ledger, request, attempt)
        result = (await settled).redacted(request.redact)
        reached("committed")
        await _end(ledger, request, attempt, result)
        return result
    finally:
        await ledger.close()


async def _end(ledger: Ledger, request: Request, attempt: UUID, result: Result) -> None:
    """Close the attempt's row. Failing to log never fails the job."""
    size = request.output_bytes
    tail = result.tail.encode()[-size:].decode(errors="ignore") if result.tail and size else None
    ending = Ending(
        outcome=result.outcome,
        exit_code=result.exit_code,
        speaker=result.speaker,
        message=result.message,
        tail=tail,
    )
    try:
        await ledger.end(attempt, ending)
    except Exception as error:  # noqa: BLE001  # see above
        log.warning(
            "the end of attempt %s could not be written: %s",
            *(attempt, first_line(error)),
            extra={"event": "end_not_written"},
        )
