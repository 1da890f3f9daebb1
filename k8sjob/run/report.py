"""What is told at the end: a line for a person, a log record, the termination message."""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING

from k8sjob.ledger.uuid7 import short
from k8sjob.states import Outcome
from k8sjob.zones import zone

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from k8sjob.run.origin.sources import Resolved
    from k8sjob.run.request import Request
    from k8sjob.run.result import Result

log = logging.getLogger("k8sjob")

#: The kubelet keeps the last 4,096 bytes (measured); fewer where a Pod has many containers.
TERMINATION_BYTES = 4096
_TERMINATION_LOG = "/dev/termination-log"
_GOOD = (Outcome.APPLIED, Outcome.DUPLICATE, Outcome.AWAITING)


def tell_period(found: Resolved, *, as_json: bool) -> None:
    """Say first which period was found: a run that is killed leaves no last line."""
    at, key = found.period.scheduled_for(found.zone), f"{found.job}:{found.period}"
    local = f"{at.astimezone(zone(found.zone)):%a %d %b %Y %H:%M}" if at and found.zone else None
    there = f", {local} {found.zone}" if local else ""
    text = f"the period is {key}{there} (source {found.source})"
    if as_json:
        more = {"scheduled_for": at and at.isoformat(), "local": local, "time_zone": found.zone}
        more |= {"period": str(found.period), "source": found.source, "job": str(found.job)}
        log.info(text, extra={"event": "period_found", "key": key, **more})
    else:
        print(f"k8sjob: {text}", file=sys.stderr)  # noqa: T201  # talk, not the result


def sentence(request: Request, result: Result, attempt: UUID, duration_ms: float) -> str:
    """Return the one line for a person; what to do follows below it, indented.

    ``billing/daily-credit:2026-09-13T00:00:00Z applied in 12 ms (attempt 0199…, source --period)``
    """
    first, *rest = result.message.splitlines()
    if not result.exit_code:
        rest = []  # nothing to worry about: one line
    if result.outcome is Outcome.APPLIED:
        first += f" in {duration_ms:,.0f} ms"
    first += f" (attempt {short(attempt)}, source {request.source})"
    return "\n".join([first, *rest])


def report(
    request: Request, result: Result, attempt: UUID, duration_ms: float, *, as_json: bool
) -> None:
    """Tell how the run ended. Results go to standard output, failures to standard error."""
    text = sentence(request, result, attempt, duration_ms)
    if as_json:
        level = logging.ERROR if result.exit_code else logging.INFO
        log.log(
            level,
            text,
            extra={
                "event": f"attempt_{result.outcome.replace('-', '_')}",
                "key": str(request.key),
                "namespace": request.key.job.namespace,
                "job": str(request.key.job),
                "period": str(request.key.period),
                "attempt": str(attempt),
                "source": request.source,
                "outcome": str(result.outcome),
                "exit_code": result.exit_code,
                "duration_ms": round(duration_ms, 1),
                "speaker": result.speaker,
                **({"tail": result.tail} if result.tail else {}),
            },
        )
    elif result.exit_code:
        if result.tail and not request.target.argv:  # a command's output was passed on already
            print(result.tail.rstrip(), file=sys.stderr)  # noqa: T201  # to the person at the terminal
        print(f"k8sjob: {text}", file=sys.stderr)  # noqa: T201  # as above
    else:
        print(text)  # noqa: T201  # the result is this command's data
    write_termination_message(text, result.tail)


def write_termination_message(
    text: str, tail: str | None, env: Mapping[str, str] | None = None
) -> None:
    """Leave the end of the output and then the summary where the kubelet reads it.

    Does nothing outside of a container, and never fails the job. The last bytes are the ones that
    count, so the summary comes last.
    """
    env = os.environ if env is None else env
    path = env.get("K8SJOB_TERMINATION_LOG", _TERMINATION_LOG)
    summary = text.encode()[-TERMINATION_BYTES:]
    room = TERMINATION_BYTES - len(summary) - 1
    before = (tail or "").rstrip().encode()[-room:] + b"\n" if tail and room > 0 else b""
    try:
        if os.path.exists(path):  # noqa: PTH110  # no pathlib at start
            with open(path, "wb") as file:  # noqa: PTH123
                file.write(before + summary)
    except OSError:
        log.debug("no termination message could be written", exc_info=True)
