"""``k8sjob run TARGET`` from request to exit code."""

from __future__ import annotations

import logging
import time
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from k8sjob.ledger import settings
from k8sjob.ledger.contract import drive
from k8sjob.ledger.open import open_ledger
from k8sjob.ledger.secrets import Redactor
from k8sjob.ledger.uuid7 import uuid7
from k8sjob.run.child.ticking import ticking
from k8sjob.run.heartbeat import Heartbeat, beats
from k8sjob.run.perform import perform
from k8sjob.run.record import record
from k8sjob.run.report import report, write_termination_message
from k8sjob.run.stop import StopSignals
from k8sjob.run.work import load

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from k8sjob.errors import K8sjobError
    from k8sjob.ledger.contract import Ledger
    from k8sjob.ledger.settings import Address
    from k8sjob.run.command import Command
    from k8sjob.run.origin.sources import Asked, Resolved
    from k8sjob.run.request import Request
    from k8sjob.run.result import Result

log = logging.getLogger("k8sjob")


def redactor(address: Address, env: Mapping[str, str]) -> Redactor:
    """Return what blackens the ledger's secrets: those of its DSN and of libpq's PGPASSWORD.

    K8SJOB_DSN too, where the run asked for another ledger: the target sees it all the same.
    """
    dsns = address.dsn, env.get("K8SJOB_DSN", "")
    return Redactor(*dsns, passwords=[env.get("PGPASSWORD", "")])


def run(
    request: Request, address: Address, *, as_json: bool, command: Command | None = None
) -> int:
    """Run the request's target, or ``command``, and report; return the exit code.

    Raises what kept it from starting (Unavailable, Denied, SchemaAbsent, ClientTooOld).
    """
    attempt, started = uuid7(), time.monotonic()
    if command is not None:
        result = command_once(request, address, attempt, command)
    else:
        stop = StopSignals()
        try:
            result = attempt_once(request, address, attempt, stop)
        finally:
            stop.restore()
    report(request, result, attempt, (time.monotonic() - started) * 1000, as_json=as_json)
    return result.exit_code


def attempt_once(request: Request, address: Address, attempt: UUID, stop: StopSignals) -> Result:
    """Load the target and run it, in an event loop only where it needs one."""
    work = load(request.target, sqlite=address.kind is settings.Kind.SQLITE)
    ledger = open_ledger(
        address,
        application_name=f"k8sjob {request.key}",
        lock_timeout_s=request.lock_timeout_s,
        asynchronous=work.needs_loop,
    )
    stop.asynchronous = work.needs_loop
    attempted = perform(ledger, request, attempt, work.do, stop)
    # On SQLite nothing can be written while the claim holds the file.
    writable = address.kind is settings.Kind.POSTGRES
    heartbeat = _heartbeat(request, address, attempt)
    with closing(heartbeat), ticking(heartbeat if writable else None):
        if not work.needs_loop:
            return drive(attempted)
        import asyncio  # noqa: PLC0415  # for coroutines only

        return asyncio.run(attempted)


def command_once(request: Request, address: Address, attempt: UUID, command: Command) -> Result:
    """Run the command between two looks at the ledger."""
    from k8sjob.run.command import (  # noqa: PLC0415  # not for targets in this process
        hold_signals,
        settle_command,
    )

    hold_signals()
    ledger = _ledger(request, address)
    with closing(_heartbeat(request, address, attempt)) as tick:
        return drive(
            record(
                ledger,
                request,
                attempt,
                lambda known: settle_command(ledger, known, attempt, command, tick),
            )
        )


def _ledger(request: Request, address: Address) -> Ledger:
    return open_ledger(
        address,
        application_name=f"k8sjob {request.key}",
        lock_timeout_s=request.lock_timeout_s,
    )


def _heartbeat(request: Request, address: Address, attempt: UUID) -> Heartbeat:
    return Heartbeat(lambda: beats(_ledger(request, address), attempt))


def find_period(asked: Asked, address: Address, env: Mapping[str, str]) -> Resolved:
    """Ask the ledger and the cluster for the period. Raises as :func:`resolve` does.

    Over a connection of its own: the run's is called after the period.
    """
    from k8sjob.run.origin.facts import AskedFacts  # noqa: PLC0415  # most often the period is passed
    from k8sjob.run.origin.resolve import resolve  # noqa: PLC0415  # as above

    ledger = open_ledger(address, application_name="k8sjob resolve", lock_timeout_s=30.0)
    drive(ledger.open())
    try:
        return resolve(asked, AskedFacts(ledger, env))
    finally:
        drive(ledger.close())


def with_secrets_hidden(request: Request, address: Address, env: Mapping[str, str]) -> Request:
    """Return the request with what blackens the ledger's secrets."""
    return replace(request, redact=redactor(address, env))


def tell_failure_to_start(error: K8sjobError, *, as_json: bool) -> None:
    """Leave the reason where it can be found: there is no attempt that could carry it."""
    write_termination_message(str(error), None)
    if as_json:
        fields = {"event": "attempt_not_started", "exit_code": int(error.exit_code)}
        log.error("%s", error, extra=fields)
