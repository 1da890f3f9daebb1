"""Keys as parameters, and rows as claims: what the runner's claim and the user's have in common."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any

from k8sjob.ledger.contract import Claim
from k8sjob.ledger.queries import queries
from k8sjob.states import Outcome

if TYPE_CHECKING:
    from datetime import datetime

    from k8sjob.key import Key

SQL = queries("postgres")


def key_params(key: Key) -> dict[str, Any]:
    """Return a key as two parameters of a query."""
    return {"job": str(key.job), "period": str(key.period)}


def read_claim(key: Key, row: tuple[Any, ...]) -> Claim:
    """Turn an answer's row into a Claim."""
    outcome, reason, until, done_at, attempt, payload_sha256, generation = row
    until, done_at = _utc(until), _utc(done_at)
    return Claim(
        key, Outcome(outcome), reason, until, done_at, attempt, payload_sha256, generation or 0
    )


def _utc(instant: datetime | None) -> datetime | None:
    """Return an instant in UTC: psycopg gives it in the zone of the session."""
    return instant.astimezone(UTC) if instant else None
