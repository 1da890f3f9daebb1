"""The desk of an operator: commands in this process, on SQLite and on every server."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from k8sjob.cli.main import main
from k8sjob.key import Key
from k8sjob.ledger import settings
from k8sjob.ledger.contract import Attempt, drive
from k8sjob.ledger.open import open_ledger
from k8sjob.ledger.operate import open_operator
from k8sjob.ledger.uuid7 import uuid7
from tests.fix_report import SQLITE, uses
from tests.fix_servers import SERVERS, Offer, Server
from tests.fix_stores import Store
from tests.run.conftest import Shared

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from uuid import UUID

    from k8sjob.ledger.operate import Operator
    from tests.template import Templates

JOB = "billing/daily-credit"
DAY = "2026-09-13"
KEY = f"{JOB}:{DAY}"


class Told(NamedTuple):
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What ``-o json`` said."""
        return json.loads(self.out)


@dataclass
class Desk:
    """Calls commands as the operator, and looks at the store over a connection of its own."""

    store: Store
    patch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    @property
    def dsn(self) -> str:
        """How an operator reaches the ledger."""
        return self.store.db.dsn("operator") if self.store.db else self.store.dsn

    def call(self, *args: str, dsn: str | None = None) -> Told:
        """Call ``k8sjob`` with these arguments, without a terminal."""
        self.patch.setenv("K8SJOB_DSN", dsn or self.dsn)
        self.patch.setenv("K8SJOB_BY", "ann")
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main(list(args))
        code = end.value.code
        assert isinstance(code, int)
        return Told(code, *self.capsys.readouterr())

    def operator(self) -> Operator:
        """Connect as the commands do."""
        return open_operator(settings.parse(self.dsn, "the test"), lock_timeout_s=10)

    # ------------------------------------------------------------------------- what there is

    def know(self, job: str = JOB, kind: str = "day", zone: str | None = None) -> None:
        """Let the ledger know the job."""
        made = "" if self.store.db else ", created_at"
        moment = "" if self.store.db else ", '2026-01-01T00:00:00.000000Z'"
        named = f"'{zone}'" if zone else "NULL"
        self.query(f"INSERT INTO {self.table('gate')} (job, kind) VALUES ('{job}', '{kind}')")
        self.query(
            f"INSERT INTO {self.table('jobs')} (job, zone{made}) VALUES ('{job}', {named}{moment})"
        )

    def put(
        self,
        state: str,
        key: str = KEY,
        *,
        until: str | None = None,
        attempt: UUID | None = None,
        reason: str = "as it was",
    ) -> None:
        """Give a period a row; times are ``2026-09-13T00:00:00.000000Z``."""
        job, _, period = key.partition(":")
        moment = "2026-09-13T00:00:07.000000Z"
        values = {
            "job": job,
            "period": period,
            "scheduled_for": period if period.endswith("Z") else None,
            "state": state,
            "origin": "test",
            "reason": None if state in ("done", "open") else reason,
            "until": until,
            "attempt": str(attempt) if attempt else None,
            "done_at": moment if state == "done" else None,
            "changed_at": moment,
        }
        known = {name: value for name, value in values.items() if value is not None}
        columns, given = ", ".join(known), ", ".join(f"'{value}'" for value in known.values())
        self.query(f"INSERT INTO {self.table('periods')} ({columns}) VALUES ({given})")

    def start(self, key: str = KEY) -> UUID:
        """Write an attempt that has no end."""
        ledger = open_ledger(
            settings.parse(self.store.dsn, "the test"), application_name="test", lock_timeout_s=10
        )
        attempt = Attempt(
            id=uuid7(),
            key=Key.parse(key),
            mode="sql",
            source="--period",
            client="0.1.0",
            pod_name="daily-credit-x2v",
        )
        drive(ledger.open())
        drive(ledger.start(attempt))
        drive(ledger.close())
        return attempt.id

    # --------------------------------------------------------------------------------- looking

    def table(self, name: str) -> str:
        """Return the name of a table here."""
        return self.store.table(name)

    def query(self, text: str) -> list[tuple[Any, ...]]:
        """Return the rows of a statement, committed."""
        return self.store.query(text)

    def states(self) -> dict[str, str]:
        """Return the state of each period."""
        rows = self.query(f"SELECT job, period, state FROM {self.table('periods')}")
        return {f"{job}:{period}": state for job, period, state in rows}

    def state(self, key: str = KEY) -> str | None:
        """Return the state of one; None where there is no row."""
        return self.states().get(key)

    def events(self) -> list[tuple[Any, ...]]:
        """Return key, kind, from, to, by and reason of each event, in their order."""
        rows = self.query(
            f'SELECT job, period, kind, from_state, to_state, "by", reason FROM '
            f"{self.table('events')} ORDER BY id"
        )
        return [(f"{job}:{period}", *rest) for job, period, *rest in rows]

    def holds(self) -> list[tuple[Any, ...]]:
        """Return namespace, job, reason, set by, lifted by and lift reason of each hold."""
        return self.query(
            "SELECT namespace, job, reason, set_by, lifted_by, lift_reason FROM "
            f"{self.table('holds')} ORDER BY id"
        )


@pytest.fixture(scope="session")
def desks(templates: Templates) -> Iterator[Shared]:
    """Keep one database per server until the end; each test finds it as if it were new."""
    with ExitStack() as stack:
        yield Shared(templates, stack)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test that uses ``desk`` on SQLite and on every server."""
    if "desk" in metafunc.fixturenames:
        servers = metafunc.config.stash[SERVERS]
        offers = [] if metafunc.config.option.no_server else servers.offers
        ids = ["sqlite", *(offer.id for offer in offers)]
        metafunc.parametrize("desk", [None, *offers], ids=ids, indirect=True)


@pytest.fixture
def desk(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Desk:
    """Give a desk to the test, on SQLite and on every server; the ledger knows one job."""
    offer: Offer | None = request.param
    if offer is None:
        path: Path = request.getfixturevalue("sqlite_path")
        store = Store("sqlite", SQLITE, f"sqlite:///{path}", path=path)
    else:
        store = _on(request, request.config.stash[SERVERS].get(offer))
    return _known(Desk(store, monkeypatch, capsys))


@pytest.fixture
def pg_desk(
    request: pytest.FixtureRequest,
    pg_server: Server,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Desk:
    """Give a desk to the test, on every server: what no file has."""
    return _known(Desk(_on(request, pg_server), monkeypatch, capsys))


def _on(request: pytest.FixtureRequest, server: Server) -> Store:
    uses(request.node, server.name)
    desks: Shared = request.getfixturevalue("desks")
    return desks.store(server)


def _known(desk: Desk) -> Desk:
    desk.know()
    return desk
