"""A ledger with all that the status page can show, at 19:00 on 13 September 2026."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from k8sjob.cycle import Cycle
from k8sjob.period import Period
from k8sjob.schedule import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from k8sjob.ledger.settings import Address
    from tests.fix_stores import Connection

    Find = Callable[[], Address]

NOW = datetime(2026, 9, 13, 19, tzinfo=UTC)
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)

HOUR, DAY = timedelta(hours=1), timedelta(days=1)

TRACEBACK = """\
crediting 1,204 accounts
Traceback (most recent call last):
  File "/app/credit.py", line 41, in credit
    new = old["balance"] + interest
KeyError: 'balance'"""


def at(text: str) -> datetime:
    """Read ``2026-09-13 12:00`` as UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@dataclass
class Painter:
    """Puts rows into a ledger as they are, over a superuser's connection."""

    conn: Connection
    _ids: int = 0
    _rows: dict[tuple[str, ...], list[list[Any]]] = field(default_factory=dict)

    def add(self, table: str, **values: Any) -> None:
        """Keep a row for `write`; None stands for a column that is left out."""
        known = {name: value for name, value in values.items() if value is not None}
        self._rows.setdefault((table, *known), []).append(list(known.values()))

    def write(self) -> None:
        """Write what was kept."""
        for (table, *columns), rows in self._rows.items():
            names = ", ".join(f'"{name}"' for name in columns)
            with self.conn.cursor().copy(f"COPY k8sjob.{table} ({names}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        self._rows.clear()

    def job(  # noqa: PLR0913  # all that a job has
        self,
        name: str,
        expr: str | None,
        *,
        zone: str | None = "Europe/Rome",
        kind: str = "scheduled",
        mark: datetime | None = NOW - timedelta(minutes=20),
        earliest: datetime = BEGAN,
        since: datetime = BEGAN,
        **more: Any,
    ) -> None:
        """Let the ledger know a job; without a schedule nobody tracks it."""
        self.add("gate", job=name, kind=kind)
        row: dict[str, Any] = {"catch_up": "flag", "limits": "{}", "suspended": False}
        row |= {"tracked_since": BEGAN, "done_until": mark, "last_success_at": NOW - HOUR}
        if expr is None:
            row |= {"tracked_since": None, "done_until": None, "catch_up": None}
        known = {k: json.dumps(v) if k == "limits" else v for k, v in more.items()}
        self.add("jobs", job=name, zone=zone, cronjob=name.partition("/")[2], **(row | known))
        if expr is not None:
            suspended = bool(more.get("suspended"))
            self.version(name, 1, expr, zone, earliest, since, suspended=suspended)

    def version(  # noqa: PLR0913, PLR0917  # all that a version has
        self,
        name: str,
        number: int,
        expr: str,
        zone: str | None,
        earliest: datetime,
        since: datetime,
        *,
        until: datetime | None = None,
        suspended: bool = False,
    ) -> None:
        """Add a version of a schedule."""
        values = {"n": number, "expr": expr, "zone": zone, "suspended": suspended}
        times = {"earliest_from": earliest, "valid_from": since}
        times |= {"earliest_to": until, "valid_to": until} if until else {}
        self.add("schedule_versions", job=name, **values, **times)

    def period(self, name: str, period: str | datetime, state: str, **more: Any) -> None:
        """Add a period's row: done 7 s after its time, or open since its deadline."""
        one = Period.at(period) if isinstance(period, datetime) else Period(period)
        begin = one.scheduled_for("Europe/Rome")
        row: dict[str, Any] = {"job": name, "period": str(one), "scheduled_for": begin}
        if one.cycle is not Cycle.SCHEDULED:
            row["scheduled_for"] = None
        begin = begin or NOW
        row |= {"state": state, "origin": "claim" if state == "done" else "reconciler"}
        row |= {"done_at": begin + timedelta(seconds=7) if state == "done" else None}
        row |= {"changed_at": begin + timedelta(minutes=15), "db_user": "k8sjob_runner"}
        self.add("periods", **(row | more))

    def done(self, name: str, expr: str, start: datetime, end: datetime, **but: str) -> None:
        """Add done periods for each fire of a schedule in Rome; ``but`` names other states."""
        other = {period: state for state, texts in but.items() for period in texts.split()}
        for fire in parse(expr, "Europe/Rome").between(start, end):
            state = other.get(str(Period.at(fire)), "done")
            if state != "none":
                reason = "superseded by a later one" if state == "skipped" else None
                self.period(name, fire, state, reason=reason)

    def tried(self, name: str, period: str, started: datetime, **more: Any) -> None:
        """Add an attempt that ended after 41 s."""
        self._ids += 1
        row: dict[str, Any] = {
            "id": f"0199a{self._ids:03x}-0000-7000-8000-{self._ids:012}",
            "job": name,
            "period": period,
            "mode": "command",
            "source": "job-name",
            "client": "0.1.0",
            "db_user": "k8sjob_runner",
            "started_at": started,
            "ended_at": started + timedelta(seconds=41),
            "outcome": "applied",
            "pod_name": f"{name.partition('/')[2]}-29901{self._ids:03}-x2v",
        }
        self.add("attempts", **(row | more))

    def passes(self, scope: str = "*", last: datetime = NOW - timedelta(seconds=20)) -> None:
        """Add passes of the reconciler, one a minute."""
        self.add("scopes", scope=scope, last_complete_list_at=last)
        for minute in reversed(range(30)):
            start = last - timedelta(minutes=minute)
            end = start + timedelta(seconds=1)
            self.add("passes", scope=scope, started_at=start, ended_at=end, ok=True, failing=0)


def paint(conn: Connection) -> None:
    """Make the whole scene."""
    painter = Painter(conn)
    for part in (_billing, _ops, _data, _shop):
        part(painter)
    painter.passes()
    painter.write()


def _billing(p: Painter) -> None:
    credit, first = "billing/daily-credit", at("2026-07-01 00:00")
    told: dict[str, Any] = {
        "owner": "payments",
        "severity": "page",
        "runbook": "https://example.org/credit",
    }
    limits = {"max_lateness_s": 7200, "manual_runs": "oldest-missing"}
    p.job(credit, "0 2 * * *", grace_s=900, limits=limits, consecutive_failures=3, **told)
    but = "2026-09-11T00:00:00Z 2026-09-12T00:00:00Z"
    skipped = "2026-08-15T00:00:00Z 2026-08-16T00:00:00Z"
    p.done(credit, "0 2 * * *", first, NOW, none=but, skipped=skipped)
    missing = {"deadline_at": at("2026-09-11 00:15")}
    p.period(credit, at("2026-09-11 00:00"), "open",
             reason="no Job was created (controller down?)", **missing)  # fmt: skip
    p.period(credit, at("2026-09-12 00:00"), "open", reason="OOMKilled",
             deadline_at=at("2026-09-12 00:15"))  # fmt: skip
    night = at("2026-09-12 00:00")
    killed = {"outcome": "lost", "message": "OOMKilled", "exit_code": 137}
    p.tried(credit, "2026-09-12T00:00:00Z", night + timedelta(seconds=5), **killed)
    p.tried(credit, "2026-09-12T00:00:00Z", night + timedelta(seconds=58), **killed)
    p.tried(credit, "2026-09-12T00:00:00Z", night + timedelta(seconds=151), outcome="failed",
            exit_code=1, message="KeyError: 'balance'", tail=TRACEBACK)  # fmt: skip
    p.tried(credit, "2026-09-13T00:00:00Z", at("2026-09-13 00:00") + timedelta(seconds=4))
    for outcome, n in (("applied", 72), ("failed", 1), ("lost", 2)):
        p.add("counters", job=credit, outcome=outcome, n=n)
    invoices = "billing/invoices"
    p.job(invoices, "0 6 1 * *", owner="payments", severity="ticket")
    p.done(invoices, "0 6 1 * *", at("2026-01-01 12:00"), at("2026-08-30 00:00"))
    p.period(invoices, at("2026-09-01 04:00"), "blocked", reason="card declined", generation=1)
    p.job("billing/reminders", "0 9-17 * * 1-5", owner="payments")
    p.done("billing/reminders", "0 9-17 * * 1-5", at("2026-08-10 00:00"), NOW)


def _ops(p: Painter) -> None:
    p.job("ops/vacuum", "*/30 * * * *", owner="platform")
    p.done("ops/vacuum", "*/30 * * * *", NOW - 8 * DAY, NOW - HOUR / 2,
           skipped="2026-09-10T08:00:00Z")  # fmt: skip
    heartbeat = "ops/heartbeat"
    p.job(heartbeat, "* * * * *", owner="platform", mark=NOW - timedelta(minutes=5))
    lost = ["2026-09-13T17:20:00Z", "2026-09-13T17:21:00Z", "2026-09-13T17:22:00Z"]
    p.done(heartbeat, "* * * * *", NOW - 8 * HOUR, NOW - timedelta(minutes=1), none=" ".join(lost))
    for period in lost:
        p.period(heartbeat, period, "open", reason="its Job failed without an attempt",
                 deadline_at=at("2026-09-13 17:25"))  # fmt: skip
    p.job("ops/backup", "15 3 * * *", owner="platform", severity="page")
    p.done("ops/backup", "15 3 * * *", at("2026-03-01 00:00"), NOW)
    p.tried("ops/backup", "2026-09-13T01:15:00Z", at("2026-09-13 01:15"))


def _data(p: Painter) -> None:
    p.job("data/export", "0 4 * * 1", owner="analytics")
    p.done("data/export", "0 4 * * 1", at("2026-01-01 12:00"), at("2026-09-06 00:00"))
    p.period("data/export", at("2026-09-07 02:00"), "awaiting", reason="handed to the bank",
             indicator="bank.balance", await_deadline=at("2026-09-14 08:00"))  # fmt: skip
    p.job("data/ingest", "*/5 * * * *", owner="analytics", mark=NOW - timedelta(minutes=10))
    p.done("data/ingest", "*/5 * * * *", NOW - 3 * DAY, NOW - timedelta(minutes=6))
    p.tried("data/ingest", "2026-09-13T18:55:00Z", NOW - timedelta(minutes=5), ended_at=None,
            outcome=None, heartbeat_at=NOW - timedelta(seconds=20))  # fmt: skip
    p.job("data/archive", "0 1 * * 6", suspended=True, owner="analytics")
    p.done("data/archive", "0 1 * * 6", at("2026-05-01 00:00"), at("2026-08-10 00:00"))
    p.job("data/rebuild", None)
    p.period("data/rebuild", at("2026-09-10 10:00"), "done")


def _shop(p: Painter) -> None:
    p.job("shop/newsletter", "0 20 * * *", owner="marketing")
    p.done("shop/newsletter", "0 20 * * *", at("2026-08-01 00:00"), NOW - DAY)
    hold = {"from_at": NOW - HOUR, "reason": "bank holiday, no feed", "set_by": "ann"}
    p.add("holds", namespace="shop", job="shop/newsletter", set_at=NOW - HOUR, **hold)
    edited = at("2026-09-12 04:00")
    p.job("shop/prices", None, tracked_since=BEGAN, done_until=NOW - HOUR, owner="marketing")
    p.version("shop/prices", 1, "0 5 * * *", "Europe/Rome", BEGAN, BEGAN, until=edited)
    p.version("shop/prices", 2, "30 4 * * *", "Europe/Rome", edited - 2 * HOUR, edited)
    p.done("shop/prices", "0 5 * * *", at("2026-08-20 00:00"), at("2026-09-11 12:00"))
    p.period("shop/prices", at("2026-09-12 02:30"), "open", uncertain=True,
             reason="the schedule was changed around that time",
             deadline_at=at("2026-09-12 03:00"))  # fmt: skip
    p.period("shop/prices", at("2026-09-13 02:30"), "done")
    p.job("shop/stock", "0 3 * * *", kind="day", owner="marketing")
    for day in range(1, 14):
        p.period("shop/stock", f"2026-09-{day:02}", "done", zone="Europe/Rome",
                 scheduled_for=at(f"2026-09-{day:02} 00:00") - 2 * HOUR)  # fmt: skip
    p.job("shop/old-report", "0 7 * * 1", gone_at=at("2026-09-01 10:00"), mark=None)
    p.done("shop/old-report", "0 7 * * 1", at("2026-07-01 00:00"), at("2026-08-31 12:00"))


def many(conn: Connection, names: Sequence[str]) -> None:
    """Add jobs that are done, one for each name."""
    painter = Painter(conn)
    for name in names:
        painter.job(name, "0 2 * * *", owner="many")
        painter.period(name, at("2026-09-13 00:00"), "done")
    painter.write()
