"""The claim in a transaction of the user's own, over psycopg's two kinds of connection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import errors as pg
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row

from k8sjob.errors import ProtocolError
from k8sjob.ledger.contract import Claim, not_applied
from k8sjob.ledger.postgres.errors import translate
from k8sjob.ledger.postgres.rows import SQL, key_params, read_claim
from k8sjob.ledger.retry import is_retryable
from k8sjob.states import Outcome

if TYPE_CHECKING:
    from k8sjob.key import Key
    from k8sjob.ledger.contract import Terms


def check_in_transaction(
    conn: psycopg.Connection[Any] | psycopg.AsyncConnection[Any], key: Key
) -> None:
    """Refuse a connection in autocommit mode outside of a block: the claim would commit alone."""
    if conn.autocommit and conn.info.transaction_status == TransactionStatus.IDLE:
        raise ProtocolError(
            f"the claim of {key} would commit alone: this connection is in autocommit mode\n"
            "  Nothing was changed. Put claim and work into one transaction: with "
            "conn.transaction(): …"
        )


def _params(key: Key, terms: Terms) -> dict[str, Any]:
    return key_params(key) | {
        "payload_sha256": terms.payload_sha256,
        "attempt": terms.attempt if terms.attempt_is_given else None,
        "new": terms.attempt,
        "scheduled_for": terms.scheduled_for,
    }


def _explain(error: psycopg.Error, key: Key) -> Exception:
    if isinstance(error, pg.LockNotAvailable):
        return not_applied(Claim(key, Outcome.BUSY))
    # Whoever owns the transaction does all of it again, and knows the driver's error.
    return error if is_retryable(error) else translate(error, doing=f"claim {key}")


def ask(conn: psycopg.Connection[Any], key: Key, terms: Terms) -> Claim:
    """Claim over a blocking connection, in one round trip."""
    check_in_transaction(conn, key)
    try:
        # Plain rows, whatever the connection's row factory.
        with psycopg.Cursor(conn, row_factory=tuple_row) as cursor:
            # In binary: text follows the session's DateStyle.
            row = cursor.execute(SQL["claim_answer"], _params(key, terms), binary=True).fetchone()
    except psycopg.Error as error:
        explained = _explain(error, key)
        if explained is error:
            raise
        raise explained from error
    return read_claim(key, row or ())


async def ask_async(conn: psycopg.AsyncConnection[Any], key: Key, terms: Terms) -> Claim:
    """Claim over an async connection, in one round trip."""
    check_in_transaction(conn, key)
    try:
        async with psycopg.AsyncCursor(conn, row_factory=tuple_row) as cursor:
            await cursor.execute(SQL["claim_answer"], _params(key, terms), binary=True)
            row = await cursor.fetchone()
    except psycopg.Error as error:
        explained = _explain(error, key)
        if explained is error:
            raise
        raise explained from error
    return read_claim(key, row or ())
