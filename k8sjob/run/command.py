"""``k8sjob run -- COMMAND``: a program in any language, and whether its period is done afterwards.

::

    start row │ done already? │ command, with no connection of ours │ done now? │ end row

The command claims in its own transaction, with the attempt that its environment names. Exit 0
without the row is *unproven*. With ``--record-on-success`` the record follows the exit instead; a
second attempt of the period is refused while the first one lives.
"""

from __future__ import annotations

import logging
import os
import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from k8sjob.errors import Unavailable
from k8sjob.ledger.contract import Claim, CommitInDoubt
from k8sjob.run.child.supervise import PASSED_ON, STOP, ChildEnd, supervise
from k8sjob.run.context import terms_of, window_of
from k8sjob.run.doubt import find_out, first_line
from k8sjob.run.result import Result, from_claim, from_error, judged
from k8sjob.run.supersede import supersede, supersede_afterwards
from k8sjob.states import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from k8sjob.ledger.contract import Ledger
    from k8sjob.run.request import Request

log = logging.getLogger("k8sjob")

#: What the ledger says of a period that is done: the payload was the command's own affair.
_DONE = (Outcome.DUPLICATE, Outcome.CONFLICT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What to run, and how to stop it. ``stop_grace_s`` is seconds between TERM and KILL."""

    argv: Sequence[str]
    stop_grace_s: float = 25.0
    record_on_success: bool = False
    env: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))


def child_environment(request: Request, attempt: UUID, env: Mapping[str, str]) -> dict[str, str]:
    """Return ``env`` with what the command needs in order to claim."""
    window = window_of(request)
    told = {
        "K8SJOB_KEY": str(request.key),
        "K8SJOB_JOB": str(request.key.job),
        "K8SJOB_PERIOD": str(request.key.period),
        "K8SJOB_SCHEDULED_FOR": _instant(request.scheduled_for),
        "K8SJOB_WINDOW_END": _instant(window.end if window else None),
        "K8SJOB_ATTEMPT": str(attempt),
        "K8SJOB_SOURCE": request.source,
    }
    return dict(env) | told


def _instant(value: object) -> str:
    return f"{value:%Y-%m-%dT%H:%M:%SZ}" if value is not None else ""


async def settle_command(
    ledger: Ledger, request: Request, attempt: UUID, command: Command, tick: Callable[[], None]
) -> Result:
    """Run the command between two looks at the ledger; raise nothing but what no row could tell."""
    try:
        result = await _refusal(ledger, request, attempt, command)
        if result is None:
            end = _run(request, attempt, command, tick)
            result = await _judged(ledger, request, attempt, command, end)
    except Exception as error:  # noqa: BLE001  # whatever it is, it is this attempt's end
        result = from_error(error, request)
    try:
        await ledger.rollback()  # what it watched over, if it did: the end row has its own
    except Exception:  # a dead connection watches over nothing
        log.debug("rollback failed", exc_info=True)
    return result


async def _refusal(
    ledger: Ledger, request: Request, attempt: UUID, command: Command
) -> Result | None:
    """Return why the command is not to be started; None where it is, with the ledger ready."""
    seen = await _look(ledger, request, attempt)
    if not seen.applied:
        return from_claim(seen, request)
    if command.record_on_success and not await ledger.be_alone(request.key):
        who = "; ".join(await ledger.holders(request.key)) or None
        return from_claim(Claim(request.key, Outcome.BUSY, who), request)
    if (number := _stop_pending()) is not None:
        return _stopped_before(request, number)
    if not command.record_on_success:
        await ledger.close()
    return None


def _run(request: Request, attempt: UUID, command: Command, tick: Callable[[], None]) -> ChildEnd:
    return supervise(
        command.argv,
        env=child_environment(request, attempt, command.env),
        stop_grace_s=command.stop_grace_s,
        output_bytes=request.output_bytes,
        tick=tick,
    )


async def _judged(
    ledger: Ledger, request: Request, attempt: UUID, command: Command, end: ChildEnd
) -> Result:
    try:
        if command.record_on_success:
            return await _record(ledger, request, attempt, end)
        return await _prove(ledger, request, attempt, end)
    except Exception as error:  # noqa: BLE001  # the ledger may be away by now
        return _unknown(request, end, error, recorded_by_us=command.record_on_success)


async def _look(ledger: Ledger, request: Request, attempt: UUID) -> Claim:
    """Ask for the period and give it back: the answer tells what the ledger knows of it."""
    claim = await ledger.claim(request.key, terms_of(request, attempt))
    await ledger.rollback()
    return claim


async def _prove(ledger: Ledger, request: Request, attempt: UUID, end: ChildEnd) -> Result:
    await ledger.open()
    claim = await _look(ledger, request, attempt)
    result = judge(request, attempt, end, claim)
    await supersede_afterwards(ledger, request, attempt, result)
    return result


async def _record(ledger: Ledger, request: Request, attempt: UUID, end: ChildEnd) -> Result:
    if end.exit_code or end.stopped_by:
        return _ended_badly(request, end)
    terms = terms_of(request, attempt)
    try:
        claim = await ledger.claim(request.key, terms)
    except Unavailable:
        # The connection was lost while the command ran. Nothing was claimed on it, so another does.
        await ledger.open()
        claim = await ledger.claim(request.key, terms)
    if not claim.applied:
        await ledger.rollback()
        return from_claim(claim, request)
    await supersede(ledger, request, attempt)
    try:
        await ledger.commit(attempt)
    except CommitInDoubt as doubt:
        if not await find_out(ledger, request.key, attempt, doubt):
            return judged(request, Outcome.IN_DOUBT, f"{request.key} in doubt: not recorded")
    return _with_tail(judged(request, Outcome.APPLIED, f"{request.key} applied"), end)


def judge(request: Request, attempt: UUID, end: ChildEnd, claim: Claim) -> Result:
    """Say what the attempt came to: the ledger has the last word, not the exit code."""
    # A claim from plain SQL may name no attempt; it was not there before, so it is ours.
    if (claim.outcome in _DONE and claim.attempt == attempt) or (
        claim.outcome is Outcome.DUPLICATE and claim.attempt is None
    ):
        how = f", although the command then ended with {end.exit_code}" if end.exit_code else ""
        done = judged(request, Outcome.APPLIED, f"{request.key} applied{how}")
        return _with_tail(done, end, end.exit_code or None)
    if end.exit_code or (end.stopped_by and claim.applied):
        return _ended_badly(request, end)
    if claim.applied:
        return _with_tail(
            judged(
                request,
                Outcome.UNPROVEN,
                f"{request.key} unproven: the command ended with 0, but its period is not done\n"
                "  Nothing says that the work was done. Claim in its transaction: SELECT "
                "k8sjob.claim('$K8SJOB_JOB', '$K8SJOB_PERIOD', attempt => '$K8SJOB_ATTEMPT'), or "
                "pass --record-on-success.",
            ),
            end,
        )
    return _with_tail(from_claim(claim, request), end)


def _ended_badly(request: Request, end: ChildEnd) -> Result:
    code = end.exit_code or 128 + (end.stopped_by or 0)
    message = f"{request.key} failed: {_how(end)}"
    return Result(
        outcome=Outcome.FAILED,
        exit_code=code,
        message=message,
        tail=end.tail or None,
        speaker="k8sjob" if end.error else "child",
    )


def _how(end: ChildEnd) -> str:
    if end.error:
        return end.error
    if end.stopped_by:
        name = signal.Signals(end.stopped_by).name
        killed = ", and was killed when its grace was over" if end.killed else ""
        return f"the command was stopped by {name}{killed}"
    if end.signal:
        oom = " (out of memory?)" if end.oom_suspected else ""
        return f"the command was killed by {signal.Signals(end.signal).name}{oom}"
    oom = " (out of memory?)" if end.oom_suspected else ""
    return f"the command ended with {end.exit_code}{oom}"


def _with_tail(result: Result, end: ChildEnd, exit_code: int | None = None) -> Result:
    return Result(
        outcome=result.outcome,
        exit_code=result.exit_code if exit_code is None else exit_code,
        message=result.message,
        tail=end.tail or None,
        speaker="k8sjob" if exit_code is None else "child",
    )


def _unknown(request: Request, end: ChildEnd, error: Exception, *, recorded_by_us: bool) -> Result:
    """Judge a command while the ledger does not answer: its own failure still stands."""
    if end.exit_code or end.stopped_by:
        return _ended_badly(request, end)
    advice = "It may not be recorded: another run would do its work again."
    if not recorded_by_us:
        advice = "Run it again: it finds out."
    return _with_tail(
        judged(
            request,
            Outcome.IN_DOUBT,
            f"{request.key} in doubt: the command ended with 0, but the ledger does not answer "
            f"({first_line(error)})\n  {advice}",
        ),
        end,
    )


def _stop_pending() -> int | None:
    return next((int(n) for n in STOP if n in signal.sigpending()), None)


def _stopped_before(request: Request, number: int) -> Result:
    name = signal.Signals(number).name
    message = f"{request.key} stopped by {name} before the command was started; nothing was done"
    return Result(outcome=Outcome.FAILED, exit_code=128 + number, message=message)


def hold_signals() -> None:
    """Keep stop signals for the command: blocked until it runs, then sent on to it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)
