"""A job that a reconciler tracks, made through the functions that a reconciler calls."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from k8sjob.cycle import Cycle
from k8sjob.expect import Version
from k8sjob.key import JobName, Key
from k8sjob.ledger.settings import parse
from k8sjob.ledger.watch import Due, VersionChange, Watcher, open_watcher
from k8sjob.period import Period
from tests.view.conftest import JOB, Ledger, at, period

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fix_stores import Database


def moment(text: str) -> datetime:
    """Return ``13T00:00:07`` of September 2026 as an instant."""
    return datetime.fromisoformat(at(text))


#: When the lists of CronJobs were made: before everything else.
BEGAN = moment("01T00:00:00")


@dataclass
class Tracked(Ledger):
    """A ledger on Postgres whose jobs have schedules. Times are those of `tests.view.conftest`."""

    @property
    def db(self) -> Database:
        """The database."""
        assert self.store.db
        return self.store.db

    @contextmanager
    def watcher(self) -> Iterator[Watcher]:
        """Connect as the reconciler does, as the operator."""
        with closing(open_watcher(parse(self.db.dsn("operator"), "the test"))) as watcher:
            yield watcher

    def track(self, job: str = JOB, *, kind: Cycle = Cycle.SCHEDULED, **settings: Any) -> None:
        """Let the ledger know what the CronJob says of its job."""
        given = {"cronjob": job.partition("/")[2], "suspended": False, "catch_up": "flag"}
        with self.watcher() as watcher:
            assert watcher.track(JobName.parse(job), BEGAN, kind, given | settings)

    def version(  # noqa: PLR0913  # all that a version has
        self,
        expr: str | None,
        since: str,
        *,
        job: str = JOB,
        zone: str | None = "Europe/Rome",
        earliest: str | None = None,
        suspended: bool = False,
    ) -> None:
        """Begin a version, and end the one in force; None for ``expr``: only end it.

        The change was between ``earliest``, if that is given, and ``since``.
        """
        low, high = moment(earliest or since), moment(since)
        query = "SELECT max(n) FROM k8sjob.schedule_versions WHERE job = '{}'"
        n = self.store.query(query.format(job))[0][0] or 0
        begins = Version(
            n=n + 1,
            expr=expr or "",
            zone=zone,
            suspended=suspended,
            earliest_from=low,
            valid_from=high,
        )
        change = VersionChange(
            job=JobName.parse(job),
            known_n=n,
            earliest_to=low,
            valid_to=high,
            begins=begins if expr else None,
            cronjob_uid="uid",
        )
        with self.watcher() as watcher:
            assert watcher.change_version(change, BEGAN)

    def mark(self, until: str, job: str = JOB) -> None:
        """Let the reconciler have stored everything up to then."""
        with self.watcher() as watcher:
            watcher.expect(JobName.parse(job), Cycle.SCHEDULED, [], moment(until), "reconciler")

    def expect(self, day: int, deadline: str, job: str = JOB) -> None:
        """Store the period at 00:00 of a day as the reconciler does."""
        fired = datetime.fromisoformat(period(day))
        due = Due(
            key=Key(JobName.parse(job), Period.at(fired)),
            scheduled_for=fired,
            window_end=None,
            zone="Europe/Rome",
            version=1,
            deadline=moment(deadline),
            uncertain=False,
            code="no-job",
            reason="no Job was created (controller down?)",
        )
        with self.watcher() as watcher:
            watcher.expect(JobName.parse(job), Cycle.SCHEDULED, [due], fired, "reconciler")

    def launch(self, day: int, number: int, name: str, uid: str | None = None) -> None:
        """Note a Job of catch-up, made at 08:00 of the day."""
        key = Key.of(JOB, period(day))
        with self.watcher() as watcher:
            watcher.note_launch(key, 0, number, name, "catch-up", uid)
        self.store.query(f"UPDATE k8sjob.launches SET created_at = '{at(f'{day:02}T08:00:00')}'")

    def passed(self, start: str, *, ok: bool | None = True, message: str = "", **more: Any) -> None:
        """Write a pass that began then and took a while; None for ``ok``: it has no end."""
        end = None if ok is None else f"{at(start)[:-8]}.500000Z"
        known: dict[str, Any] = {"scope": "*", "failing": 0, "message": message} | more
        told = None if ok is None else str(ok).lower()
        self.insert("passes", started_at=at(start), ended_at=end, ok=told, **known)

    def states(self, *words: str) -> dict[str, str]:
        """Return the states of the periods that ``get periods`` lists, by their texts."""
        told = self.call("get", "periods", *(words or (JOB,)), "-o", "json").json["periods"]
        return {line["period"]: line["state"] for line in told}
