"""What a run came to, and how an exception is read."""

from __future__ import annotations

import traceback
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from k8sjob.errors import ExitCode, K8sjobError, ProtocolError, RetriesSpent, TryAgain
from k8sjob.ledger.contract import explain
from k8sjob.ledger.retry import is_retryable
from k8sjob.ledger.sqlstates import ENDED_IT
from k8sjob.run.context import PartRefused
from k8sjob.run.stop import Stopped
from k8sjob.states import NotApplied, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from k8sjob.ledger.contract import Claim
    from k8sjob.run.request import Request

_SPENT = "its transaction failed to serialize, or was in a deadlock, at each of its tries"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How one attempt ended: ``message`` for people, ``tail`` the last of what the target said.

    ``speaker``: whose exit code it is, ``k8sjob`` or ``child``.
    """

    outcome: Outcome
    exit_code: int
    message: str
    tail: str | None = None
    speaker: str = "k8sjob"

    def redacted(self, redact: Callable[[str], str]) -> Result:
        """Return the same without secrets: it is going to be stored, logged and printed."""
        tail = redact(self.tail) if self.tail else None
        return replace(self, message=redact(self.message), tail=tail)


def from_claim(claim: Claim, request: Request) -> Result:
    """Return the result of an attempt that was not given the period."""
    return judged(request, claim.outcome, explain(claim, request.payload_sha256))


def judged(request: Request, outcome: Outcome, message: str) -> Result:
    """Return a result whose exit code follows from the outcome and from K8SJOB_FAIL_ON."""
    code = ExitCode.HELD if outcome in request.fail_on else outcome.exit_code
    return Result(outcome=outcome, exit_code=int(code), message=message)


#: What became of the work of an attempt that failed.
UNDONE = "Its work was rolled back, the period is free."
UNDONE_BUT_PARTS = (
    "The parts that had ended are kept, the rest was rolled back, the period is free."
)


def from_error(error: BaseException, request: Request, undone: str = UNDONE) -> Result:
    """Return the result of an attempt that ended with ``error``; ``undone`` tells of its work."""
    key = request.key
    if isinstance(error, PartRefused) or (isinstance(error, NotApplied) and _is_ours(error)):
        return judged(request, error.outcome, str(error))
    if isinstance(error, Stopped):
        rest = undone[0].lower() + undone[1:-1]
        return _failed(128 + error.number, f"{key} stopped by {error}: {rest}")
    if isinstance(error, SystemExit):
        code = error.code if isinstance(error.code, int) and error.code else 1
        return _failed(
            code, f"{key} failed: the target called sys.exit({error.code!r}). {undone}", error
        )
    if isinstance(error, KeyboardInterrupt):
        return _failed(130, f"{key} failed: the target was interrupted. {undone}", error)
    if ended_transaction(error):
        return _failed(
            ExitCode.PROTOCOL, f"{key} failed: {_one_line(error)}\n  {_COMMIT_ADVICE}", error
        )
    if isinstance(error, RetriesSpent):
        return _failed(error.exit_code, f"{key} failed: {error}. {undone}", error)
    if isinstance(error, K8sjobError):
        # A refusal that is no fault of the ledger's (duplicate, say) is one of the target's.
        return _failed(error.exit_code or ExitCode.FAILED, f"{key} failed: {error}", error)
    if is_retryable(error):
        return _failed(
            TryAgain.exit_code, f"{key} failed: {_SPENT}: {_one_line(error)}. {undone}", error
        )
    return _failed(ExitCode.FAILED, f"{key} failed: {_one_line(error)}. {undone}", error)


_COMMIT_ADVICE = "Nothing was committed. k8sjob commits the work together with the claim."


def _failed(code: int, message: str, error: BaseException | None = None) -> Result:
    tail = last_traceback(error) if error is not None else None
    return Result(outcome=Outcome.FAILED, exit_code=int(code), message=message, tail=tail)


def _is_ours(error: NotApplied) -> bool:
    """Tell the ledger's refusals of the run's own key from those that the target met itself."""
    return error.outcome in (Outcome.BUSY, Outcome.IN_DOUBT)


def ended_transaction(error: BaseException | None) -> bool:
    """Whether the server has refused to end the transaction, and the target let its error out."""
    while error is not None:
        if isinstance(error, ProtocolError) or getattr(error, "sqlstate", None) in ENDED_IT:
            return not isinstance(error, ProtocolError)
        error = error.__cause__ or error.__context__
    return False


def _one_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0] if isinstance(error, K8sjobError) else f"{type(error).__name__}: {lines[0]}"


def last_traceback(error: BaseException) -> str | None:
    """Return the traceback from the target's first line on; the runner's own frames say nothing.

    Where the target has no frame in it, what the driver said in full; None where all is said.
    """
    trace = error.__traceback__
    while trace is not None and _is_runner(trace.tb_frame.f_globals.get("__name__", "")):
        trace = trace.tb_next
    if trace is not None:
        return "".join(traceback.format_exception(type(error), error, trace))
    cause = error.__cause__
    if cause is None or isinstance(cause, K8sjobError):
        return None
    if str(getattr(cause, "sqlstate", "")).startswith("KJ"):  # the ledger's own words, read already
        return None
    return last_traceback(cause) or f"{type(cause).__name__}: {cause}"


def _is_runner(module: str) -> bool:
    return module.startswith(("k8sjob.", "asyncio.", "importlib.", "psycopg"))
