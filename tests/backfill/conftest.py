"""A world for the command: a ledger on a real server, and a Kubernetes API in small."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from k8sjob.backfill import apply
from k8sjob.cli.main import main
from tests.kube.apiserver import ApiServer, serving
from tests.kube.made import cronjob

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.fix_stores import Connection, Database
    from tests.template import Role

JOB = "billing/credit"

#: One for the whole run, which may go on past midnight.
TODAY = datetime.now(UTC)


class Told(NamedTuple):
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[list[str]]:
        """The table below its header, by columns."""
        return [[cell for cell in line.split("  ") if cell] for line in self.out.splitlines()[1:]]

    @property
    def json(self) -> Any:
        """What ``-o json`` said."""
        return json.loads(self.out)


@dataclass
class World:
    """The job ``billing/credit``, at midnight UTC each day, as everybody sees it."""

    db: Database
    api: ApiServer
    kubeconfig: str
    patch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]
    pauses: list[float] = field(default_factory=list)
    #: What goes on in the world while the command waits.
    meanwhile: Callable[[], object] | None = None

    def call(self, *args: str, role: Role = "operator") -> Told:
        """Call ``k8sjob backfill billing/credit`` with these arguments."""
        self.patch.setenv("K8SJOB_DSN", self.db.dsn(role))
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main(["backfill", JOB, "--kubeconfig", self.kubeconfig, *args])
        code = end.value.code
        assert isinstance(code, int)
        return Told(code, *self.capsys.readouterr())

    def pause(self, seconds: float) -> None:
        """Let the world go on, in the place of a sleep."""
        self.pauses.append(seconds)
        assert self.meanwhile is not None, "the command waits, and nothing will come"
        assert len(self.pauses) < 50, "the command waits for ever"
        self.meanwhile()

    @property
    def admin(self) -> Connection:
        """A connection that may do anything."""
        if not hasattr(self, "_admin"):
            self._admin = self.db.connect("admin", autocommit=True)
        return self._admin

    def done(self, *periods: str) -> None:
        """Let a runner do these periods."""
        with self.db.connect("runner") as conn:
            for period in periods:
                conn.execute("SELECT k8sjob.claim(%s, %s)", (JOB, period))

    def end(self, name: str, end: str = "Complete", **how: Any) -> None:
        """Let a Job end."""
        self.api.end_job("billing", name, end, **how)

    def finish(self, *, well: bool = True) -> None:
        """Let all Jobs that are under way end, their periods done or not."""
        for job in self.api.jobs():
            if "conditions" not in job["status"]:
                if well:
                    self.done(job["metadata"]["annotations"]["k8sjob.io/period"])
                self.end(job["metadata"]["name"], "Complete" if well else "Failed")

    def launches(self) -> list[tuple[str, int, int, str, bool, str]]:
        """Return the notes: period, generation, try, name, whether its uid is known, reason."""
        return self.admin.execute(
            "SELECT period, generation, try, k8s_name, uid IS NOT NULL, reason "
            "FROM k8sjob.launches ORDER BY period, generation, try"
        ).fetchall()


def day(ago: int) -> str:
    """Return the period at midnight UTC so many days ago."""
    return f"{TODAY - timedelta(days=ago):%Y-%m-%d}T00:00:00Z"


def name(ago: int, try_: int = 1, generation: int = 0) -> str:
    """Return the name of the backfill Job of that day."""
    return f"credit-bf-{day(ago)[:10].replace('-', '')}-{generation}-{try_}"


@pytest.fixture
def api() -> Iterator[ApiServer]:
    """Serve the Kubernetes API in small."""
    with serving() as server:
        yield server


@pytest.fixture
def world(
    db: Database,
    api: ApiServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> World:
    """Give the world to the test, once per server."""
    made = World(db, api, api.kubeconfig(tmp_path), monkeypatch, capsys)
    created = TODAY - timedelta(days=30)
    api.add(cronjob(JOB, "0 0 * * *", zone="Etc/UTC", created=created))
    monkeypatch.setattr(apply, "_sleep", made.pause)
    _keep_logging(monkeypatch)
    return made


def _keep_logging(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what a command does to this process's logging end with the test."""
    logger = logging.getLogger("k8sjob")
    for attribute, before in (("handlers", []), ("level", logger.level), ("propagate", True)):
        monkeypatch.setattr(logger, attribute, before)
    monkeypatch.setattr(logging, "lastResort", logging.lastResort)
