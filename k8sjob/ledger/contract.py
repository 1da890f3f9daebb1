"""What every ledger can do, in the words of the claim; Postgres and SQLite keep it alike.

The methods are coroutines so that one runner serves blocking and async connections. Those of a
blocking ledger never wait inside a coroutine: :func:`drive` runs them without an event loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from k8sjob.errors import TryAgain
from k8sjob.ledger.uuid7 import short
from k8sjob.states import NotApplied, Outcome

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence
    from datetime import datetime
    from uuid import UUID

    from k8sjob.errors import ProtocolError
    from k8sjob.key import JobName, Key, KeyRange
    from k8sjob.ledger.known import Known, Resolution
    from k8sjob.period import Period
    from k8sjob.states import Awaiting, State

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Claim:
    """The answer to a claim; where it is not ``applied``, what is known of the row that was there.

    ``done_at`` and ``until`` are aware UTC; ``attempt`` and ``payload_sha256`` are this attempt's
    own when it applied, else those of the attempt that was there first.
    """

    key: Key
    outcome: Outcome
    reason: str | None = None
    until: datetime | None = None
    done_at: datetime | None = None
    attempt: UUID | None = None
    payload_sha256: bytes | None = None
    generation: int = 0

    @property
    def applied(self) -> bool:
        """Whether the period is yours: do the work now, in this transaction."""
        return self.outcome is Outcome.APPLIED

    def __bool__(self) -> bool:
        return self.applied


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try at a period, as it is written before the work starts."""

    id: UUID
    key: Key
    mode: str
    source: str
    client: str
    pid: int | None = None
    job_uid: str | None = None
    job_name: str | None = None
    pod_uid: str | None = None
    pod_name: str | None = None
    node: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How an attempt ended. ``speaker`` says whose words these are: ``k8sjob`` or ``child``.

    ``exit_code`` is None where it is not known.
    """

    outcome: Outcome
    exit_code: int | None
    speaker: str = "k8sjob"
    message: str | None = None
    tail: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a claim brings with it beside its key. Times are aware UTC.

    ``attempt_is_given``: else the transaction's own settings may name another.
    ``sql_file``: the work is statements of a file, one right after the other.
    """

    attempt: UUID
    attempt_is_given: bool = True
    payload_sha256: bytes | None = None
    scheduled_for: datetime | None = None
    window_end: datetime | None = None
    zone: str | None = None
    sql_file: bool = False


class Ledger(Protocol):
    """One connection to a ledger: attempts, and one transaction at a time that carries a claim.

    ``conn`` is what a target works with. It refuses to end its transaction, and to work outside of
    one: only the methods here do.
    """

    conn: Any

    async def open(self) -> None:
        """Connect. Raises Unavailable, ConfigError."""

    async def close(self) -> None:
        """Give the connection back; an open transaction is rolled back."""

    async def known(self, job: JobName) -> Known:
        """Return what is known of a job, in one round trip; a part is known by its job."""

    async def resolution(self, job_uid: str) -> Resolution | None:
        """Return what the Kubernetes Job of this UID stands for; None: nobody has said so yet."""

    async def remember(self, job_uid: str, resolution: Resolution) -> Resolution:
        """Keep what a Kubernetes Job stands for, unless that is known; return what is kept."""

    async def missing(self, job: JobName, tail: Sequence[Period]) -> Sequence[Period]:
        """Return, in order, a job's open periods, and those of ``tail`` without a row.

        A block whose time is up is open. Uncertain and future ones, and those that an attempt gave
        a sign of life for just now (`known.ALIVE_FOR`), are left out.
        """

    async def start(self, attempt: Attempt) -> None:
        """Write the attempt's row, in a transaction of its own."""

    async def end(self, attempt: UUID, ending: Ending) -> None:
        """Close the attempt's row, in a transaction of its own."""

    async def claim(self, key: Key, terms: Terms) -> Claim:
        """Begin the transaction that will carry the work and claim the key in it."""

    async def execute(self, statement: str) -> None:
        """Run exactly one statement of a file in the transaction; nothing is put into its text."""

    async def be_alone(self, key: Key) -> bool:
        """Hold the key's liveness until the next commit, rollback or close; False if another does.

        The claim that follows is made in the same transaction.
        """

    async def beat(self, attempt: UUID) -> None:
        """Write a sign of life of the attempt."""

    async def commit(self, attempt: UUID) -> None:
        """Commit claim and work. Raises ProtocolError where the target ended the transaction.

        Raises CommitInDoubt where the connection died before the answer came.
        """

    async def rollback(self) -> None:
        """Undo claim and work. Does nothing where there is no transaction."""

    async def say(
        self, key: Key, state: State, reason: str, *, until: datetime | None, attempt: UUID
    ) -> State | None:
        """Block or skip the period, in a transaction of its own; return its state afterwards."""

    async def lapse(self, key: Key, reason: str, attempt: UUID) -> State | None:
        """Skip a period that is too late, in a transaction of its own; return its state.

        None: another attempt is at it, and nothing was changed.
        """

    async def supersede(self, older: KeyRange, period: Period, attempt: UUID) -> int:
        """Skip the open periods of a range that nobody is at; return how many they were.

        ``period`` is newer, and was claimed in this transaction, or is done by ``attempt``, which
        is under way; else UsageError. Raises ConfigError on SQLite, which has no catch-up.
        """

    async def hand_over(self, key: Key, awaiting: Awaiting, attempt: UUID) -> None:
        """Turn the row claimed in this transaction from done to awaiting."""

    async def landed(self, key: Key, attempt: UUID) -> bool:
        """Find out whether the commit has landed, on a new connection. Raises NotApplied (busy)."""

    async def holders(self, key: Key) -> list[str]:
        """Say who is at the key, a line each; for a message."""

    def is_alive(self) -> bool:
        """Whether the connection still stands."""

    def violation(self) -> ProtocolError | None:
        """Return what the target tried on the connection and was refused, let out or swallowed."""

    def check_transaction(self) -> None:
        """Raise ProtocolError, or K8sjobError, where the transaction cannot be committed."""


class CommitInDoubt(Exception):  # internal: the runner finds out and never lets it out
    """COMMIT was sent and no answer came."""


def drive(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits, without the cost of an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]  # StopIteration.value is Any
    coroutine.close()
    raise RuntimeError("a blocking ledger waited for an event loop")


def not_applied(claim: Claim, payload_sha256: bytes | None = None) -> NotApplied:
    """Return the exception that says in three parts why the claim was not given."""
    return NotApplied(claim.outcome, explain(claim, payload_sha256), claim.reason)


def indicator_is_taken(doing: str) -> TryAgain:
    """Return the error for a second period that would be awaited by one indicator."""
    return TryAgain(
        f"could not {doing}: another period awaits its effect by the same indicator, and one at a "
        "time can be told\n  Nothing was changed. Confirm the other one first: "
        "k8sjob get periods -A --state awaiting"
    )


def digest(payload: bytes | str | None) -> bytes | None:
    """SHA-256 of exactly these bytes (of text: its UTF-8 bytes); None matches only None."""
    if payload is None:
        return None
    import hashlib  # noqa: PLC0415  # loads OpenSSL; most jobs have no payload

    return hashlib.sha256(payload.encode() if isinstance(payload, str) else payload).digest()


def _sha(value: bytes | None) -> str:
    return f"payload sha256:{value.hex()[:16]}…" if value else "no payload"


def explain(claim: Claim, payload_sha256: bytes | None = None) -> str:
    """Say what happened, what it means for the data, and what to do."""
    text, advice = _words(claim, payload_sha256)
    return f"{claim.key} {claim.outcome}: {text}\n  Nothing was changed. {advice}".rstrip()


def _words(claim: Claim, payload_sha256: bytes | None) -> tuple[str, str]:
    """Return what happened, and what to do about it."""
    key = claim.key
    by = f" by attempt {short(claim.attempt)}" if claim.attempt else ""
    when = f"{claim.done_at:%Y-%m-%d %H:%M:%SZ}" if claim.done_at else "at an unknown time"
    match claim.outcome:
        case Outcome.DUPLICATE:
            return f"done {when}{by}", "There is nothing left to do."
        case Outcome.CONFLICT:
            return (
                f"done {when}{by} with {_sha(claim.payload_sha256)}, this attempt brings "
                + _sha(payload_sha256),
                f'If the new payload is the right one: k8sjob reopen {key} --reason "…"',
            )
        case Outcome.BLOCKED:
            until = f" (until {claim.until:%Y-%m-%d %H:%M:%SZ})" if claim.until else ""
            return (
                f"{claim.reason}{until}",
                f'Once the reason is gone: k8sjob release {key} --reason "…"',
            )
        case Outcome.AWAITING:
            return (
                str(claim.reason),
                f'Once the effect is seen: k8sjob confirm {key} --reason "…"',
            )
        case Outcome.SKIPPED:
            return (
                str(claim.reason),
                f'If it must be done after all: k8sjob reopen {key} --reason "…"',
            )
        case Outcome.EXPIRED:
            return (
                "it lies at or below the retention floor and its row is gone",
                "It may have been done and then pruned, so it is never done again.",
            )
        case Outcome.FUTURE:
            return (
                "its time has not come yet",
                "Run it then; 5 minutes of clock difference are allowed.",
            )
        case Outcome.BUSY:
            who = f": {claim.reason}" if claim.reason else ""
            return (
                f"another transaction holds it{who}",
                "The other one decides; run the same command again.",
            )
        case _:
            return str(claim.reason or ""), ""
