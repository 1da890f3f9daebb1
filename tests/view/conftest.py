"""A ledger with a history, rows as a crashed world leaves them too, seen at a fixed moment."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from k8sjob.cli import looking
from k8sjob.cli.main import main
from tests.fix_stores import Store

if TYPE_CHECKING:
    from tests.fix_stores import Database
    from tests.template import Role
    from tests.view.tracked import Tracked

JOB = "billing/daily-credit"
NOW = datetime(2026, 9, 13, 19, tzinfo=UTC)


def at(text: str) -> str:
    """Return ``13T00:00:07`` of September 2026 as both stores take it."""
    return f"2026-09-{text}.000000Z"


def period(day: int) -> str:
    """Return the scheduled period at 00:00 of a day of September 2026."""
    return f"2026-09-{day:02}T00:00:00Z"


def attempt_id(number: int) -> str:
    """Return an id whose first characters are the number."""
    return f"0199a{number:03}-0000-7000-8000-{number:012}"


class Told(NamedTuple):
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """What went to standard output, by lines."""
        return self.out.splitlines()

    @property
    def json(self) -> Any:
        """What ``-o json`` said."""
        return json.loads(self.out)


@dataclass
class Ledger:
    """Puts rows into the store as they are, and looks at them with the commands."""

    store: Store
    patch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def call(self, *args: str, role: Role = "reader", dsn: str | None = None) -> Told:
        """Call ``k8sjob`` with these arguments, as somebody who may only look."""
        db = self.store.db
        self.patch.setenv("K8SJOB_DSN", dsn or (db.dsn(role) if db else self.store.dsn))
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main(list(args))
        code = end.value.code
        assert isinstance(code, int)
        return Told(code, *self.capsys.readouterr())

    def insert(self, table: str, **values: Any) -> None:
        """Write a row; None stands for a column that is left out."""
        known = {name: value for name, value in values.items() if value is not None}
        columns = ", ".join(f'"{name}"' for name in known)
        given = ", ".join(_literal(value) for value in known.values())
        override = " OVERRIDING SYSTEM VALUE" if self.store.db and table == "holds" else ""
        name = self.store.table(table)
        self.store.query(f"INSERT INTO {name} ({columns}){override} VALUES ({given})")

    def know(
        self, job: str = JOB, *, zone: str | None = "Europe/Rome", floor: str | None = None
    ) -> None:
        """Let the ledger know a job whose periods are scheduled."""
        self.insert("gate", job=job, kind="scheduled", floor=floor)
        self.insert("jobs", job=job, zone=zone, created_at=at("01T00:00:00"))

    def put(self, day: int, state: str, job: str = JOB, **more: Any) -> None:
        """Write the row of a period at 00:00 of a day of September 2026."""
        values = {
            "job": job,
            "period": period(day),
            "scheduled_for": at(f"{day:02}T00:00:00"),
            "state": state,
            "origin": "claim" if state == "done" else "reconciler",
            "done_at": at(f"{day:02}T00:00:07") if state == "done" else None,
            "changed_at": at(f"{day:02}T00:15:20"),
        }
        self.insert("periods", **(values | more))

    def tried(self, number: int, day: int, start: str, job: str = JOB, **more: Any) -> None:
        """Write an attempt; without ``ended_at`` it has no end."""
        values = {
            "id": attempt_id(number),
            "job": job,
            "period": period(day),
            "mode": "callable",
            "source": "--period",
            "client": "0.1.0",
            "started_at": at(start),
        }
        self.insert("attempts", **(values | more))

    def hold(self, number: int, **more: Any) -> None:
        """Write a hold of the job since the 12th."""
        values = {
            "id": number,
            "namespace": "billing",
            "job": JOB,
            "from_at": at("12T00:00:00"),
            "set_at": at("12T00:00:00"),
            "set_by": "ann",
        }
        self.insert("holds", **(values | more))


def _literal(value: Any) -> str:
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


@pytest.fixture
def ledger(
    store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Ledger:
    """Give an empty ledger to the test, once per store; it is 19:00 on 13 September 2026."""
    monkeypatch.setattr(looking, "now", lambda _reader: NOW)
    return Ledger(store, monkeypatch, capsys)


@pytest.fixture
def tracked(
    db: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Tracked:
    """Give a ledger of Postgres to the test, for jobs that a reconciler tracks; same time."""
    from tests.view.tracked import Tracked

    monkeypatch.setattr(looking, "now", lambda _reader: NOW)
    store = Store("postgres", db.server.name, db.dsn("runner"), db=db)
    return Tracked(store, monkeypatch, capsys)


LIMITS = {
    "manual_runs": "oldest-missing",
    "max_lateness_s": 7200.0,
    "catch_up_max_count": 3,
    "catch_up_max_age_s": 86400.0,
}


@pytest.fixture
def credit(tracked: Tracked) -> Tracked:
    """Give a job at midnight by UTC whose schedule was edited; the mark is at the 12th."""
    tracked.track(
        cronjob="credit-cron",
        zone="Europe/Rome",
        catch_up="every",
        limits=LIMITS,
        grace_s=900,
        max_duration_s=3600,
        owner="payments",
        severity="page",
        runbook="https://example.org/credit",
    )
    tracked.version("0 1 * * *", "01T00:00:00")
    tracked.version("0 2 * * *", "09T10:05:00", earliest="09T10:00:00")
    tracked.expect(11, "11T00:15:00")
    tracked.put(12, "done")
    tracked.mark("12T00:00:00")
    return tracked
