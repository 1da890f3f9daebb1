"""``claim`` and ``try_claim``: one period for one transaction, which stays the caller's.

They open, commit and swallow nothing. What the transaction does after an applied claim is done
once: the row and the work commit together, or neither does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from k8sjob import current
from k8sjob.current import current_key
from k8sjob.errors import InvalidKey, UsageError
from k8sjob.key import Key
from k8sjob.ledger.contract import Terms, digest, not_applied
from k8sjob.ledger.uuid7 import uuid7
from k8sjob.states import Outcome

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Awaitable
    from datetime import datetime
    from uuid import UUID

    import psycopg

    from k8sjob.ledger.contract import Claim

    Payload = bytes | str | None

__all__ = ["claim", "current_key", "try_claim"]


@overload
def claim(
    conn: psycopg.Connection[Any] | sqlite3.Connection,
    key: Key | str,
    *,
    payload: Payload = None,
    attempt: UUID | None = None,
    scheduled_for: datetime | None = None,
) -> Claim: ...
@overload
def claim(
    conn: psycopg.AsyncConnection[Any],
    key: Key | str,
    *,
    payload: Payload = None,
    attempt: UUID | None = None,
    scheduled_for: datetime | None = None,
) -> Awaitable[Claim]: ...
def claim(
    conn: Any,
    key: Key | str,
    *,
    payload: Payload = None,
    attempt: UUID | None = None,
    scheduled_for: datetime | None = None,
) -> Claim | Awaitable[Claim]:
    """Take the period for this transaction, or raise.

    ``conn`` is a psycopg connection (blocking, or async: then await the answer) or one of sqlite3,
    with a transaction of the caller's around claim and work. ``payload`` is what must be the same
    at each try (its SHA-256 is kept). ``attempt`` defaults to the current run's.
    ``scheduled_for`` (aware) is where a natural period begins, if you know it.

    Raises:
        NotApplied: with ``.outcome`` and ``.reason``: it was done (``duplicate``; your own
            repeated claim too), done with another payload (``conflict``), ``blocked``,
            ``awaiting``, ``skipped``, ``expired``, ``future``, or not had in time (``busy``).
        ProtocolError: the claim would commit alone.
        InvalidKey: the key has another form.
        psycopg.errors.SerializationFailure: under REPEATABLE READ and SERIALIZABLE, where a rival
            has committed; roll back and do the whole transaction again.
    """
    return _claim(conn, key, _terms(payload, attempt, scheduled_for), strict=True)


@overload
def try_claim(
    conn: psycopg.Connection[Any] | sqlite3.Connection,
    key: Key | str,
    *,
    payload: Payload = None,
    attempt: UUID | None = None,
    scheduled_for: datetime | None = None,
) -> Claim: ...
@overload
def try_claim(
    conn: psycopg.AsyncConnection[Any],
    key: Key | str,
    *,
    payload: Payload = None,
    attempt: UUID | None = None,
    scheduled_for: datetime | None = None,
) -> Awaitable[Claim]: ...
def try_claim(
    conn: Any,
    key: Key | str,
    *,
    payload: Payload = None,
    attempt: UUID | None = None,
    scheduled_for: datetime | None = None,
) -> Claim | Awaitable[Claim]:
    """Do as :func:`claim`, but answer duplicate, blocked, awaiting and skipped.

    Do the work only if the answer is true (``applied``). Conflict, expired, future and busy raise
    here too: nobody can sensibly go on after them.
    """
    return _claim(conn, key, _terms(payload, attempt, scheduled_for), strict=False)


def _claim(conn: Any, key: Key | str, terms: Terms, *, strict: bool) -> Claim | Awaitable[Claim]:
    key = key if isinstance(key, Key) else Key.parse(key)
    match _driver(conn):
        case "psycopg":
            from k8sjob.ledger.postgres.claim import ask  # noqa: PLC0415  # costs 0.1 s

            return _judge(ask(conn, key, terms), terms, strict=strict)
        case "psycopg async":
            return _claim_async(conn, key, terms, strict=strict)
        case _:
            from k8sjob.ledger.sqlite.claim import ask_sqlite  # noqa: PLC0415  # as above

            return _judge(ask_sqlite(conn, key, terms), terms, strict=strict)


async def _claim_async(conn: Any, key: Key, terms: Terms, *, strict: bool) -> Claim:
    from k8sjob.ledger.postgres.claim import ask_async  # noqa: PLC0415  # costs 0.1 s

    return _judge(await ask_async(conn, key, terms), terms, strict=strict)


def _judge(answer: Claim, terms: Terms, *, strict: bool) -> Claim:
    outcome = answer.outcome
    if outcome is Outcome.APPLIED or not (strict or outcome.raises_from_try_claim):
        return answer
    raise not_applied(answer, terms.payload_sha256)


def _terms(payload: Payload, attempt: UUID | None, scheduled_for: datetime | None) -> Terms:
    """Put the arguments together; the attempt is given, the run's, the parent's, or a new one."""
    if scheduled_for is not None and scheduled_for.utcoffset() is None:
        raise InvalidKey("scheduled_for is naive. Pass an aware datetime, e.g. with tzinfo=UTC.")
    given = attempt or current.attempt()
    return Terms(
        attempt=given or uuid7(),
        attempt_is_given=given is not None,
        payload_sha256=digest(payload),
        scheduled_for=scheduled_for,
    )


def _driver(conn: object) -> str:
    """Tell the driver by the connection's classes, without importing one that is not in use."""
    names = {f"{c.__module__.partition('.')[0]}.{c.__name__}" for c in type(conn).__mro__}
    if "psycopg.AsyncConnection" in names:
        return "psycopg async"
    if "psycopg.Connection" in names:
        return "psycopg"
    if "sqlite3.Connection" in names:
        return "sqlite3"
    raise UsageError(
        f"cannot claim over a {type(conn).__module__}.{type(conn).__name__}. Nothing was changed.\n"
        "  Pass the psycopg or sqlite3 connection itself: session.connection().connection"
        ".driver_connection in SQLAlchemy, connection.connection in Django; with any other driver "
        "call SELECT k8sjob.claim(job, period) in SQL."
    )
