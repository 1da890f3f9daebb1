"""The claim on SQLite: the same steps as on Postgres, in the caller's transaction."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from k8sjob.errors import ConfigError, K8sjobError, ProtocolError, SchemaAbsent, Unavailable
from k8sjob.ledger.contract import Claim, not_applied
from k8sjob.ledger.queries import queries
from k8sjob.states import Outcome, State

if TYPE_CHECKING:
    from k8sjob.key import Key
    from k8sjob.ledger.contract import Terms

SQL = queries("sqlite")
_FUTURE = timedelta(minutes=5)
#: The zone where a calendar day begins first: UTC+14. (The sign is POSIX's.)
_EARLIEST_ZONE = "Etc/GMT-14"


def text(instant: datetime | None) -> str | None:
    """Return an aware instant as the ledger's text, which sorts by time."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ") if instant else None


def instant(value: str | None) -> datetime | None:
    """Read the ledger's text back."""
    return datetime.fromisoformat(value) if value else None


def now() -> str:
    """Return this moment as the ledger's text."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def key_params(key: Key) -> dict[str, Any]:
    """Return what the queries need of a key, and the time."""
    return {
        "job": str(key.job),
        "whole_job": str(key.job.job),
        "namespace": key.job.namespace,
        "period": str(key.period),
        "kind": str(key.period.cycle),
        "now": now(),
    }


def answer(conn: sqlite3.Connection, key: Key, terms: Terms) -> Claim:
    """Claim in the open transaction. The first statement writes, so rivals wait from there."""
    scheduled_for = key.period.scheduled_for(terms.zone) or terms.scheduled_for
    if _is_future(key, scheduled_for):
        return Claim(key, Outcome.FUTURE)
    params = key_params(key) | {
        "attempt": str(terms.attempt),
        "payload_sha256": terms.payload_sha256,
        "scheduled_for": text(scheduled_for),
        "window_end": text(terms.window_end),
        "zone": terms.zone,
    }
    cursor = conn.cursor()
    cursor.row_factory = None  # plain rows, whatever the connection's row factory
    cursor.execute(SQL["make_gate"], params)
    kind, floor = cursor.execute(SQL["gate"], params).fetchone()
    if kind != params["kind"]:
        raise ConfigError(
            f"{params['whole_job']} has periods of kind {kind}, this one is of kind "
            f"{params['kind']}\n"
            "  Nothing was changed. The kind of a job's periods is fixed: give the job a new name, "
            "or pass a period of its kind."
        )
    hold = cursor.execute(SQL["hold"], params).fetchone()
    below = floor is not None and params["period"] <= floor
    if hold is None:
        row = None if below else cursor.execute(SQL["insert_done"], params).fetchone()
        row = row or cursor.execute(SQL["update_done"], params).fetchone()
        if row is not None:
            done_at = instant(params["now"])
            return Claim(
                *(key, Outcome.APPLIED, None, None, done_at),
                *(terms.attempt, terms.payload_sha256, row[0]),
            )
    row = cursor.execute(SQL["period"], params).fetchone()
    return _refusal(key, row, hold, terms.payload_sha256, params["now"])


def _is_future(key: Key, scheduled_for: datetime | None) -> bool:
    start = scheduled_for or key.period.scheduled_for(_EARLIEST_ZONE)
    return start is not None and start > datetime.now(UTC) + _FUTURE


def _refusal(key: Key, row: Any, hold: Any, payload_sha256: bytes | None, moment: str) -> Claim:
    state, reason, until, done_at, attempt, sha, generation = row or (None,) * 6 + (0,)
    known = (
        instant(until), instant(done_at), UUID(attempt) if attempt else None, sha, generation,
    )  # fmt: skip
    if state == State.DONE:
        same = sha == payload_sha256
        return Claim(key, Outcome.DUPLICATE if same else Outcome.CONFLICT, reason, *known)
    if state in (State.AWAITING, State.SKIPPED) or (
        state == State.BLOCKED and (until is None or until > moment)
    ):
        return Claim(key, Outcome(state), reason, *known)
    if hold is not None:
        return Claim(key, Outcome.BLOCKED, hold[0], instant(hold[1]), generation=generation)
    return Claim(key, Outcome.EXPIRED)


def ask_sqlite(conn: sqlite3.Connection, key: Key, terms: Terms) -> Claim:
    """Claim over a connection of the user's. Raises ProtocolError where it would commit alone."""
    automatic = getattr(conn, "autocommit", None) is True or conn.isolation_level is None
    if automatic and not conn.in_transaction:
        raise ProtocolError(
            f"the claim of {key} would commit alone: this connection is in autocommit mode\n"
            "  Nothing was changed. Put claim and work into one transaction: "
            'conn.execute("BEGIN IMMEDIATE") first.'
        )
    factory, conn.text_factory = conn.text_factory, str  # plain text, whatever the caller's is
    try:
        return answer(conn, key, terms)
    except sqlite3.OperationalError as error:
        raise translate(error, key) from error
    finally:
        conn.text_factory = factory


def is_busy(error: BaseException) -> bool:
    """Tell whether another process holds the file (SQLITE_BUSY and its extended codes)."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF == sqlite3.SQLITE_BUSY


def translate(error: sqlite3.OperationalError, key: Key) -> K8sjobError:
    """Return the k8sjob error for what SQLite raised at one of our statements."""
    if is_busy(error):
        return not_applied(Claim(key, Outcome.BUSY))
    if "no such table: k8sjob_" in str(error):
        return SchemaAbsent(
            "this SQLite file has no ledger. Nothing was changed.\n"
            "  Make one: K8SJOB_DSN=sqlite:///FILE k8sjob migrate"
        )
    return Unavailable(f"the ledger's file cannot be used: {error}. Nothing was changed.")
