"""A ledger with a history, rows as a crashed world leaves them too, seen at a fixed moment."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from k8sjob.cli import looking
from k8sjob.cli.main import main

if TYPE_CHECKING:
    from tests.fix_stores import Store
    from tests.template import Role

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

    def call(self, *args: str, role: Role = "reader") -> Told:
        """Call ``k8sjob`` with these arguments, as somebody who may only look."""
        db = self.store.db
        self.patch.setenv("K8SJOB_DSN", db.dsn(role) if db else self.store.dsn)
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
