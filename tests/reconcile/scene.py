"""A ledger, an API server and the command that looks after both.

A pass goes by the ledger's own clock, so time goes on by moving back what the ledger remembers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from k8sjob.cli.main import main
from k8sjob.kube import words
from k8sjob.ledger.uuid7 import uuid7
from tests.kube import made
from tests.kube.asked import Fault, Request
from tests.kube.made_pods import container, pod

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fix_stores import Database
    from tests.kube.apiserver import ApiServer

WAIT = 30.0  # seconds
HOUR = timedelta(hours=1)
CREDIT = "billing/credit"

#: All that a pass may write.
STORED = """SELECT (SELECT json_agg(j ORDER BY j.job) FROM k8sjob.jobs j),
                   (SELECT json_agg(v ORDER BY v.job, v.n) FROM k8sjob.schedule_versions v),
                   (SELECT json_agg(p ORDER BY p.job, p.period) FROM k8sjob.periods p),
                   (SELECT json_agg(a ORDER BY a.id) FROM k8sjob.attempts a),
                   (SELECT json_agg(l ORDER BY l.job, l.period) FROM k8sjob.launches l),
                   (SELECT json_agg(s ORDER BY s.scope) FROM k8sjob.scopes s),
                   (SELECT count(*) FROM k8sjob.passes), (SELECT count(*) FROM k8sjob.events)"""
LATER = """
  UPDATE k8sjob.jobs SET tracked_since = tracked_since - {0}, done_until = done_until - {0},
         observed_at = observed_at - {0};
  UPDATE k8sjob.schedule_versions SET earliest_from = earliest_from - {0},
         valid_from = valid_from - {0};
  UPDATE k8sjob.scopes SET last_complete_list_at = last_complete_list_at - {0};"""
STARTED = """SELECT k8sjob.start_attempt(%(id)s, %(job)s, %(period)s, 'callable', 'test', '0.1.0',
                                         pod_uid => %(pod)s, pod_name => 'credit-x')"""


class Told(NamedTuple):
    """How the command ended, and what it said."""

    code: int
    out: str
    err: str


@dataclass
class Scene:
    """A ledger, a cluster, and the command. Each CronJob is due every hour, last 45 minutes ago.

    The grace is half of the hour: for a quarter of an hour nothing more becomes due.
    """

    db: Database
    api: ApiServer
    kubeconfig: str
    capsys: pytest.CaptureFixture[str]
    patch: pytest.MonkeyPatch
    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    def add(self, job: str = CREDIT, **annotations: str) -> None:
        """Let there be a CronJob that was made long ago."""
        named = {f"{words.PREFIX}{name.replace('_', '-')}": v for name, v in annotations.items()}
        schedule = f"{self.fire(1).minute} * * * *"
        self.api.add(made.cronjob(job, schedule, created=self.now - 1000 * HOUR, annotations=named))

    def fire(self, back: int) -> datetime:
        """Return the last instant that is due (1), or one of those before it."""
        last = (self.now - timedelta(minutes=45)).replace(second=0, microsecond=0)
        return last - (back - 1) * HOUR

    def periods(self, *backs: int) -> list[str]:
        """Return the periods of these instants."""
        return [f"{self.fire(back):%Y-%m-%dT%H:%M:%SZ}" for back in backs]

    def call(self, *args: str) -> Told:
        """Call ``k8sjob reconcile``."""
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main(["reconcile", "--kubeconfig", self.kubeconfig, *args])
        code = end.value.code
        assert isinstance(code, int)
        return Told(code, *self.capsys.readouterr())

    def begin(self, hours: int = 3) -> None:
        """Let a first pass track what there is, and so many hours go by."""
        told = self.call()
        assert told.code in (0, 1), told
        self.later(hours)

    def later(self, hours: int) -> None:
        """Let time go by."""
        with self.db.connect("admin") as conn:
            conn.execute(LATER.format(f"interval '{hours} hours'").encode())

    def stored(self) -> Any:
        """Return all that passes write."""
        with self.db.connect("admin") as conn:
            return conn.execute(STORED).fetchone()

    def column(self, query: str) -> list[Any]:
        """Return the first column of a query."""
        with self.db.connect("admin") as conn:
            return [row[0] for row in conn.execute(query.encode())]

    def missing(self, job: str = CREDIT) -> list[str]:
        """Return the periods that are open."""
        query = "SELECT period FROM k8sjob.periods WHERE state = 'open' AND job = %s ORDER BY 1"
        with self.db.connect("admin") as conn:
            return [row[0] for row in conn.execute(query, (job,))]

    def is_anything_gone(self) -> bool:
        """Whether the ledger says of any job that its CronJob is gone."""
        gone = "SELECT 1 FROM k8sjob.jobs WHERE gone_at IS NOT NULL"
        ended = "SELECT 1 FROM k8sjob.schedule_versions WHERE valid_to IS NOT NULL"
        return bool(self.column(gone) + self.column(ended))

    def attempt(self, period: str) -> None:
        """Let there be an attempt that has just begun, in a Pod that was killed since."""
        killed = container("main", ended=(137, "OOMKilled"))
        made_pod = pod("billing/credit-x", of="billing/credit-1", containers=[killed])
        self.api.add(made_pod | {"status": made_pod["status"] | {"phase": "Failed"}})
        which = {"id": uuid7(), "job": CREDIT, "period": period}
        with self.db.connect() as conn:
            conn.execute(STARTED, which | {"pod": made_pod["metadata"]["uid"]})

    def outcomes(self) -> list[str | None]:
        """Return how the attempts ended."""
        return self.column("SELECT outcome FROM k8sjob.attempts")

    def ledgers(self, folder: Path, **dsns: str) -> None:
        """Let there be ledgers beside the default one."""
        for name, dsn in dsns.items():
            (folder / name).write_text(dsn, encoding="utf-8")
        self.patch.setenv("K8SJOB_LEDGERS_DIR", str(folder))


@dataclass
class Held(Fault):
    """No fault: the request waits until the test lets it go."""

    came: Event = field(default_factory=Event)
    go: Event = field(default_factory=Event)

    def hits(self, request: Request) -> bool:
        """Never: it only waits."""
        if (request.verb, request.resource) == (self.verb, self.resource):
            self.came.set()
            assert self.go.wait(WAIT)
        return False
