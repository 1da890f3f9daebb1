"""Jobs of a play: tracked by the ledger's own functions, on schedules that began minutes ago."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from k8sjob.kube import words
from tests.kube.made import cronjob, uid

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fix_stores import Database

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
OWNER = "payments"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job that fires every ``step`` minutes of the hour, from ``first`` on. Instants are UTC."""

    name: str
    step: int
    first: datetime
    grace_s: int

    @property
    def expr(self) -> str:
        """Its schedule."""
        return f"*/{self.step} * * * *"

    @property
    def since(self) -> datetime:
        """Since when its CronJob is looked after: half a minute before the first fire."""
        return self.first - MINUTE / 2

    @property
    def deadline(self) -> datetime:
        """By when the first period should be done."""
        return self.first + timedelta(seconds=self.grace_s)

    def period(self, number: int = 0) -> str:
        """Return a period; 0 is that of the first fire."""
        return f"{self.first + number * self.step * MINUTE:%Y-%m-%dT%H:%M:%SZ}"

    def fired(self, now: datetime) -> Iterator[str]:
        """Return all periods that have fired."""
        for number in range(int((now - self.first) / (self.step * MINUTE)) + 1):
            yield self.period(number)

    @property
    def cronjob(self) -> dict[str, Any]:
        """Its CronJob, as the API gives it."""
        annotations = {words.GRACE: f"{self.grace_s}s", words.OWNER: OWNER}
        return cronjob(self.name, self.expr, annotations=annotations, created=self.since)


def missing_soon(name: str, now: datetime, lead: timedelta) -> Job:
    """Return a job whose last period becomes missing in ``lead``, and the next in minutes."""
    # A pass judges no fire of the last half minute: clocks may differ.
    ago = now - MINUTE
    first = ago.replace(minute=ago.minute // 5 * 5, second=0, microsecond=0)
    return Job(name=name, step=5, first=first, grace_s=math.ceil((now + lead - first) / SECOND))


def missing_each_minute(name: str, now: datetime) -> Job:
    """Return a job of each minute that four periods are missing of, or by now five."""
    first = now.replace(second=0, microsecond=0) - 6 * MINUTE
    return Job(name=name, step=1, first=first, grace_s=180)


@dataclass(frozen=True, slots=True)
class Ledger:
    """What jobs, reconcilers and people do to a ledger, through its functions."""

    db: Database

    def now(self) -> datetime:
        """Return the time by the ledger's clock."""
        ((now,),) = self.rows("SELECT clock_timestamp()")
        assert isinstance(now, datetime)
        return now.astimezone(UTC)

    def track(self, job: Job) -> None:
        """Let the ledger know what a pass would have taken in when the CronJob was made."""
        settings = {
            "cronjob": job.name.partition("/")[2],
            "cronjob_uid": uid("cronjob", job.name),
            "spec_generation": 1,
            "suspended": False,
            "catch_up": "flag",
            "grace_s": job.grace_s,
            "owner": OWNER,
        }
        with self.db.connect("operator") as conn:
            conn.execute(
                "SELECT k8sjob.track_job(%s, clock_timestamp(), 'scheduled', %s)",
                (job.name, json.dumps(settings)),
            )
            conn.execute(
                "SELECT k8sjob.change_version(%(job)s, clock_timestamp(), 0, NULL, NULL, %(expr)s, "
                "NULL, false, %(since)s, %(since)s, false, %(uid)s)",
                {
                    "job": job.name,
                    "expr": job.expr,
                    "since": job.since,
                    "uid": settings["cronjob_uid"],
                },
            )

    def claim(self, job: Job, *periods: str) -> None:
        """Do periods, as a backfill of them would."""
        with self.db.connect("runner") as conn:
            for period in periods:
                conn.execute("SELECT k8sjob.claim(%s, %s)", (job.name, period))
                conn.commit()

    def states(self, job: Job) -> dict[str, str]:
        """Return the state of each period that has a row."""
        query = "SELECT period, state FROM k8sjob.periods WHERE job = %s"
        return dict(self.rows(query, job.name))

    def rows(self, query: str, *params: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query, as somebody who may only read."""
        with self.db.connect("reader") as conn:
            return conn.execute(query.encode(), params).fetchall()
