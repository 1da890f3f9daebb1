"""A reconciler over a real Postgres, with a cluster of data and a clock that the test moves."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.kube.objects import CronJob, Job, Managed, Pod
from k8sjob.ledger.settings import parse
from k8sjob.ledger.watch import Watcher, open_watcher
from k8sjob.reconcile.one_pass import run
from k8sjob.reconcile.report import Report
from k8sjob.reconcile.seen import Span, World, take_census
from k8sjob.reconcile.state import Pass
from tests.kube.apiserver import serving
from tests.reconcile.scene import Scene

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from k8sjob.kube.objects import Event
    from k8sjob.reconcile.catch_up import Launch
    from k8sjob.reconcile.seen import Named
    from tests.fix_stores import Connection, Database

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
JOB = "billing/credit"


def at(text: str) -> datetime:
    """Read ``2026-09-13 12:00`` as UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def cronjob(**changes: Any) -> CronJob:
    """Return an hourly CronJob that was made long ago and written to once, at its creation."""
    made = changes.get("created", at("2026-01-01 00:00"))
    values: dict[str, Any] = {
        "namespace": "billing",
        "name": "credit",
        "uid": "uid-1",
        "generation": 1,
        "created": made,
        "schedule": "0 * * * *",
        "managed": (written(made),),
    }
    return CronJob(**values | changes)


def written(when: datetime, *owns: Any) -> Managed:
    """Return a managedFields entry of ``when`` that owns what is named, else the schedule."""
    fields = frozenset(owns or ("schedule", "timeZone", "suspend", "enabled-label"))
    return Managed(manager="helm", operation="Update", subresource=None, time=when, owns=fields)


@dataclass
class Desk:
    """A cluster of data and passes over it. ``clock`` is the ledger's; lists ``take`` a second."""

    db: Database
    watcher: Watcher
    clock: datetime = field(default_factory=lambda: at("2026-09-13 12:00:20"))
    cronjobs: list[CronJob] | None = field(default_factory=lambda: [cronjob()])
    jobs: list[Job] | None = field(default_factory=list)
    pods: list[Pod] | None = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    launched: list[Launch] = field(default_factory=list)
    scope: str = "*"
    take: timedelta = SECOND

    def one_pass(self, *, dry_run: bool = False, budget: int = 50) -> Report:
        """Make a pass at ``clock``."""
        watched = replace(self.watcher.look(self.scope, None), now=self.clock)
        report = Report("default", self.scope, dry_run)
        world = World(cronjobs=self.cronjobs, jobs=self.jobs, pods=self.pods, events=self.events)
        work = Pass(
            watcher=self.watcher,
            watched=watched,
            scope=self.scope,
            namespaces=None,
            world=world,
            census=take_census(self.cronjobs or ()),
            report=report,
            launcher=self._launch,
            budget=budget,
        )
        span = Span(began=self.clock, ended=self.clock + self.take, last=watched.last_list)
        run(work, span)
        return report

    def _launch(self, named: Named, launch: Launch) -> str:
        assert named.job == launch.key.job
        self.launched.append(launch)
        return f"job-{len(self.launched)}"

    def pass_at(self, text: str, **flags: Any) -> Report:
        """Make a pass at this time of 13 September, or at a full time."""
        self.clock = at(text if "-" in text else f"2026-09-13 {text}")
        return self.one_pass(**flags)

    def edit(self, **changes: Any) -> None:
        """Change the only CronJob as one write at ``clock`` does."""
        assert self.cronjobs
        old = self.cronjobs[0]
        values: dict[str, Any] = {
            "generation": old.generation + 1,
            "managed": (written(self.clock),),
        }
        self.cronjobs[0] = replace(old, **values | changes)

    def claim(self, *periods: str, job: str = JOB) -> None:
        """Do periods, as their Jobs would."""
        with self.db.connect() as conn:
            for period in periods:
                conn.execute("SELECT k8sjob.claim(%s, %s)", (job, period))
                conn.commit()

    def rows(self, job: str = JOB) -> dict[str, str]:
        """Return the states of a job's periods, ``open?`` where they are uncertain."""
        query = "SELECT period, state, uncertain FROM k8sjob.periods WHERE job = %s ORDER BY 1"
        found = self._admin().execute(query, (job,)).fetchall()
        return {period: state + "?" * uncertain for period, state, uncertain in found}

    def missing(self, job: str = JOB) -> list[str]:
        """Return the times of day of the periods that are open for certain."""
        return [period[11:16] for period, state in self.rows(job).items() if state == "open"]

    def value(self, query: str, *params: Any) -> Any:
        """Return the first value of a query."""
        row = self._admin().execute(query.encode(), params).fetchone()
        return row[0] if row else None

    def _admin(self) -> Connection:
        return self.db.connect("admin", autocommit=True)


@pytest.fixture
def desk(db: Database) -> Iterator[Desk]:
    """Give a desk with one hourly CronJob, which no pass has seen yet."""
    with closing(open_watcher(parse(db.dsn("operator"), "test"))) as watcher:
        yield Desk(db, watcher)


def periods(text: str, times: Sequence[str]) -> list[str]:
    """Return the scheduled periods of a day."""
    return [f"{text}T{time}:00Z" for time in times]


@pytest.fixture
def scene(
    db: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Scene]:
    """Give a cluster without CronJobs, and a ledger without jobs, to the command line."""
    monkeypatch.setenv("K8SJOB_DSN", db.dsn("operator"))
    with serving() as api:
        yield Scene(db, api, api.kubeconfig(tmp_path), capsys, monkeypatch)
