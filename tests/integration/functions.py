"""The ledger's SQL functions, called as each of its roles, and the rows that they leave."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from psycopg import sql
from psycopg.rows import dict_row

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fix_stores import Connection, Database
    from tests.template import Role

JOB = "billing/daily-credit"
NOW = datetime.now(UTC)
PAST, FUTURE = NOW - timedelta(hours=1), NOW + timedelta(days=1)

#: One day for each situation that a period can be in; see :meth:`Functions.prepare`.
SITUATIONS = {
    "absent": "2026-01-01",
    "open": "2026-01-02",
    "done": "2026-01-03",
    "blocked": "2026-01-04",
    "blocked until later": "2026-01-05",
    "blocked until before": "2026-01-06",
    "awaiting": "2026-01-07",
    "skipped": "2026-01-08",
}


def call(conn: Connection, function: str, **args: Any) -> Any:
    """Call a function of schema ``k8sjob`` and return its answer."""
    named = sql.SQL(", ").join(
        sql.SQL("{} => {}").format(sql.Identifier(name), sql.Placeholder(name)) for name in args
    )
    query = sql.SQL("SELECT k8sjob.{}({})").format(sql.Identifier(function), named)
    # In binary, since text would follow the session's DateStyle.
    (answer,) = conn.execute(query, args, binary=True).fetchone() or (None,)
    return answer


@dataclass
class Functions:
    """A database, with a connection in autocommit for each role."""

    db: Database

    def __post_init__(self) -> None:
        """Connect."""
        roles: tuple[Role, ...] = ("runner", "operator", "reader", "owner", "admin")
        self.conns = {role: self.db.connect(role, autocommit=True) for role in roles}

    def as_(self, role: Role, function: str, **args: Any) -> Any:
        """Call a function as ``role``."""
        return call(self.conns[role], function, **args)

    def say(self, function: str, period: str, job: str = JOB, **args: Any) -> Any:
        """Call, as the runner, one that says what is with a period."""
        words = {"job": job, "period": period, "reason": "a reason", **args}
        return self.as_("runner", function, **words)

    def reopen(self, period: str, job: str = JOB, reason: str = "again") -> Any:
        """Reopen a period as the operator."""
        return self.as_("operator", "reopen", job=job, period=period, reason=reason, by="ann")

    def claim(self, period: str, job: str = JOB, then: Callable[[Connection], Any] = bool) -> str:
        """Try to claim as the runner, do ``then`` in the same transaction, and commit."""
        conn = self.conns["runner"]
        with conn.transaction():
            query = "SELECT outcome FROM k8sjob.try_claim(%s, %s)"
            ((outcome,),) = conn.execute(query, (job, period)).fetchall()
            then(conn)
        assert isinstance(outcome, str)
        return outcome

    def hand_over(self, period: str, **args: Any) -> str:
        """Claim and hand over."""
        words = {"job": JOB, "period": period, "reason": "sent to the bank", **args}
        return self.claim(period, then=lambda conn: call(conn, "await", **words))

    def row(self, period: str, job: str = JOB) -> dict[str, Any] | None:
        """Return a period's row, as it is committed; None where there is none."""
        return self.one("SELECT * FROM k8sjob.periods WHERE job = %s AND period = %s", job, period)

    def one(self, query: str, *args: Any) -> dict[str, Any] | None:
        """Return the one row of a query."""
        rows = self.all(query, *args)
        assert len(rows) < 2
        return rows[0] if rows else None

    def all(self, query: str, *args: Any) -> list[dict[str, Any]]:
        """Return the rows of a query, as the reader sees them."""
        with self.conns["reader"].cursor(row_factory=dict_row) as cursor:
            return cursor.execute(query.encode(), args).fetchall()

    def events(self, period: str, job: str = JOB) -> list[dict[str, Any]]:
        """Return the events of a period, oldest first."""
        query = "SELECT * FROM k8sjob.events WHERE job = %s AND period = %s ORDER BY id"
        return self.all(query, job, period)

    def state(self, period: str, job: str = JOB) -> str | None:
        """Return the state of a period's row."""
        row = self.row(period, job)
        return row["state"] if row else None

    def prepare(self) -> None:
        """Bring a period into each of the situations."""
        self.claim(SITUATIONS["open"])
        self.reopen(SITUATIONS["open"])
        self.claim(SITUATIONS["done"])
        self.say("block", SITUATIONS["blocked"])
        self.say("block", SITUATIONS["blocked until later"], until=FUTURE)
        self.say("block", SITUATIONS["blocked until before"], until=PAST)
        self.hand_over(SITUATIONS["awaiting"], indicator="balance at the bank")
        self.say("skip", SITUATIONS["skipped"])
        for situation, period in SITUATIONS.items():
            state = situation.partition(" ")[0]
            assert self.state(period) == (None if state == "absent" else state)
