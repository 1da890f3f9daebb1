"""A ledger that is written to through its functions, and seen by an exporter that may only read.

The clock is the ledger's own, so instants are told by their distance from the test's start. Hourly
schedules fire half an hour away from it, daily ones half a day.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from k8sjob.serve.ledgers import Ledgers
    from tests.fix_stores import Database

JOB = "billing/credit"
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@dataclass(frozen=True)
class Seen:
    """What one scrape said, as prometheus-client's own parser reads it."""

    values: dict[tuple[str, frozenset[tuple[str, str]]], float]

    def __call__(self, metric: str, job: str | None = JOB, **labels: str) -> float:
        """Return a value; ``metric`` without the prefix. KeyError where there is no such series."""
        where = {"ledger": "main", **labels}
        if job is not None:
            where["namespace"], _, where["cronjob"] = job.partition("/")
        return self.values["k8sjob_" + metric, frozenset(where.items())]

    def at(self, metric: str, job: str | None = JOB, **labels: str) -> datetime | None:
        """Return an instant; None for none."""
        value = self(metric + "_timestamp_seconds", job, **labels)
        return datetime.fromtimestamp(value, UTC) if value else None

    def states(self, job: str = JOB) -> dict[str, int]:
        """Return how many periods are in each state that has any."""
        found = {
            dict(labels)["state"]: int(value)
            for (name, labels), value in self.values.items()
            if name == "k8sjob_unfinished_periods" and value and _of(labels) == job
        }
        return dict(sorted(found.items()))

    def oldest(self, state: str, job: str = JOB) -> tuple[datetime | None, datetime | None]:
        """Return the nominal instant and the deadline of the oldest in a state."""
        return (
            self.at("oldest_unfinished_period", job, state=state),
            self.at("oldest_unfinished_deadline", job, state=state),
        )

    def info(self, job: str = JOB) -> dict[str, str]:
        """Return the labels of a job's info, its name left out."""
        infos = [labels for name, labels in self.values if name == "k8sjob_job_info"]
        (found,) = (labels for labels in infos if _of(labels) == job)
        return {n: v for n, v in found if n not in {"ledger", "namespace", "cronjob"}}

    def jobs(self) -> set[str]:
        """Return the jobs that have series."""
        return {_of(labels) for name, labels in self.values if name == "k8sjob_job_suspended"}


def _of(labels: frozenset[tuple[str, str]]) -> str:
    found = dict(labels)
    return f"{found.get('namespace')}/{found.get('cronjob')}"


@dataclass
class Scraped:
    """The ledger ``main`` of an exporter. Times are aware UTC."""

    db: Database
    now: datetime
    ledgers: Ledgers
    _ids: Iterator[int] = field(default_factory=lambda: count(1))

    # ------------------------------------------------------------------------------------- seen

    def scrape(self) -> Seen:
        """Scrape anew."""
        return parse(self.text())

    def text(self, *, open_metrics: bool = False) -> str:
        """Return what a scrape says."""
        from k8sjob.serve.collector import registry_of
        from k8sjob.serve.exposition import write

        registry = registry_of(self.ledgers.read)
        return write(registry.collect(), open_metrics=open_metrics).decode()

    # ------------------------------------------------------------------------------------ times

    @property
    def hourly(self) -> str:
        """A schedule that fires half an hour from now."""
        return f"{(self.now + 30 * MINUTE).minute} * * * *"

    @property
    def daily(self) -> str:
        """A schedule that fires half a day from now."""
        at = self.now + 12 * HOUR
        return f"{at.minute} {at.hour} * * *"

    def fire(self, number: int = 0) -> datetime:
        """Return a fire of `hourly`: 0 is the last one, 1 the one before it, -1 the next."""
        return self.now - 30 * MINUTE - number * HOUR

    # ---------------------------------------------------------------------------------- written

    def operate(self, query: str, **params: Any) -> Any:
        """Call as the operator, committed; return the first value."""
        return self._call("operator", query, params)

    def run(self, query: str, **params: Any) -> Any:
        """Call as the runner, committed; return the first value."""
        return self._call("runner", query, params)

    def alter(self, query: str, **params: Any) -> Any:
        """Change rows as they are: what takes days, and no function does."""
        return self._call("owner", query, params)

    def track(self, job: str = JOB, kind: str = "scheduled", **settings: Any) -> None:
        """Let the ledger know what the CronJob says of its job."""
        given = {"cronjob": job.partition("/")[2], "suspended": False, "catch_up": "flag"}
        self.operate(
            "SELECT k8sjob.track_job(%(job)s, clock_timestamp(), %(kind)s, %(settings)s)",
            job=job,
            kind=kind,
            settings=json.dumps(given | settings),
        )

    def version(  # noqa: PLR0913  # all that a version has
        self,
        expr: str | None,
        since: timedelta = 30 * DAY,
        *,
        job: str = JOB,
        zone: str | None = None,
        earliest: timedelta | None = None,
        suspended: bool = False,
    ) -> None:
        """Begin a version so long ago, and end the one in force; None: only end it.

        The change was between ``earliest``, if that is given, and ``since``.
        """
        in_force = self.operate(
            "SELECT max(n) FROM k8sjob.schedule_versions WHERE job = %(job)s AND valid_to IS NULL",
            job=job,
        )
        changed = self.operate(
            "SELECT k8sjob.change_version(%(job)s, clock_timestamp(), %(n)s, %(low)s, %(high)s, "
            "%(expr)s, %(zone)s, %(suspended)s, %(low)s, %(high)s, false, 'uid')",
            job=job,
            n=in_force or 0,
            low=self.now - (earliest or since),
            high=self.now - since,
            expr=expr,
            zone=zone,
            suspended=suspended,
        )
        assert changed

    def mark(self, until: datetime | timedelta, job: str = JOB) -> None:
        """Let the reconciler have stored everything up to then, or up to so long ago."""
        at = until if isinstance(until, datetime) else self.now - until
        self.operate("SELECT k8sjob.move_mark(%(job)s, %(at)s)", job=job, at=at)

    def hour_job(self, job: str = JOB, **settings: Any) -> None:
        """Track an hourly job with a grace of ten minutes, looked after until now."""
        self.track(job, **({"grace_s": 600} | settings))
        self.version(self.hourly, job=job)
        self.mark(0 * MINUTE, job)

    def expect(
        self, at: datetime, deadline: datetime, job: str = JOB, *, uncertain: bool = False
    ) -> None:
        """Store a period as the reconciler does."""
        wanted = {
            "period": text(at),
            "scheduled_for": at.isoformat(),
            "schedule_n": 1,
            "deadline_at": deadline.isoformat(),
            "uncertain": uncertain,
            "reason_code": "no-job",
            "reason": "no Job was created (controller down?)",
        }
        self.operate(
            "SELECT k8sjob.expect_periods(%(job)s, 'scheduled', %(wanted)s, 'reconciler')",
            job=job,
            wanted=json.dumps([wanted]),
        )

    def decide(self, verb: str, period: str, before: str | None = None, **more: Any) -> None:
        """Let a person decide on a period of `JOB` that is in the state ``before``."""
        given = {"until": None, "indicator": None, "deadline": None, "generation": 0} | more
        decided = self.operate(
            "SELECT k8sjob.decide(%(verb)s, %(job)s, %(period)s, %(before)s, %(generation)s, "
            "'for a reason', 'ann', %(until)s, %(indicator)s, %(deadline)s)",
            verb=verb,
            job=JOB,
            period=period,
            before=before,
            **given,
        )
        assert decided

    def claim(self, period: str, job: str = JOB) -> None:
        """Do a period."""
        self.run("SELECT k8sjob.claim(%(job)s, %(period)s)", job=job, period=period)

    def start(self, period: str, job: str = JOB) -> UUID:
        """Start an attempt."""
        made = UUID(int=next(self._ids))
        self.run(
            "SELECT k8sjob.start_attempt(%(id)s, %(job)s, %(period)s, 'sql', '--period', '0.1.0')",
            id=made,
            job=job,
            period=period,
        )
        return made

    def end(self, attempt: UUID, outcome: str) -> None:
        """End an attempt."""
        ended = self.run(
            "SELECT k8sjob.end_attempt(%(id)s, %(outcome)s, 0, 'k8sjob')",
            id=attempt,
            outcome=outcome,
        )
        assert ended

    def attempt(self, period: str, outcome: str, job: str = JOB) -> UUID:
        """Make an attempt that comes to something."""
        made = self.start(period, job)
        self.end(made, outcome)
        return made

    def _call(self, role: Any, query: str, params: dict[str, Any]) -> Any:
        conn = self.db.connect(role)
        try:
            cursor = conn.execute(query.encode(), params)
            row = cursor.fetchone() if cursor.description else None
            conn.commit()
        finally:
            conn.close()
        return row[0] if row else None


def text(at: datetime) -> str:
    """Return the text of the scheduled period at an instant."""
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


def parse(told: str) -> Seen:
    """Read a scrape in the old format."""
    from prometheus_client.parser import text_string_to_metric_families

    samples = [s for family in text_string_to_metric_families(told) for s in family.samples]
    values = {(s.name, frozenset(s.labels.items())): s.value for s in samples}
    assert len(values) == len(samples)  # none comes twice
    return Seen(values)


@pytest.fixture
def scraped(db: Database) -> Iterator[Scraped]:
    """Give an empty ledger to the test, and an exporter that sees it; once per server."""
    from k8sjob.ledger.settings import parse as address
    from k8sjob.serve.ledgers import Ledgers

    with db.connect("reader") as conn:
        row = conn.execute("SELECT date_trunc('minute', clock_timestamp())").fetchone()
    assert row
    clock = count(step=1000)  # no scrape is shared
    ledgers = Ledgers({"main": lambda: address(db.dsn("reader"), "the test")}, lambda: next(clock))
    yield Scraped(db, row[0].astimezone(UTC), ledgers)
    ledgers.close()
