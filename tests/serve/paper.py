"""A job and its periods without a ledger, as a reader would return them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from k8sjob.cycle import Cycle
from k8sjob.key import JobName, Key
from k8sjob.ledger.read import JobRow, PeriodRow, Snapshot
from k8sjob.period import Period
from k8sjob.schedule import parse
from k8sjob.serve.calendar import Grid, Sheet, grids, place
from k8sjob.serve.layout import fires_of, plan_of
from k8sjob.serve.window import Window, Wish, window_of
from k8sjob.view.periods import lines
from k8sjob.view.state import LISTED
from k8sjob.zones import zone
from tests.serve.scene import NOW

if TYPE_CHECKING:
    from collections.abc import Sequence

JOB = JobName("billing", "credit")


def job_row(**changes: Any) -> JobRow:
    """Return a job that is tracked since the beginning of the year."""
    values: dict[str, Any] = {
        "job": JOB,
        "kind": Cycle.SCHEDULED,
        "floor": None,
        "zone": "Europe/Rome",
        "grace_s": None,
        "suspended": False,
        "tracked_since": datetime(2026, 1, 1, tzinfo=UTC),
        "done_until": NOW,
        "gone_at": None,
        "last_success_at": None,
        "consecutive_failures": 0,
        "schedule": "0 2 * * *",
        "schedule_zone": "Europe/Rome",
        "last_done": None,
    }
    return JobRow(**values | changes)


def period_row(period: str, state: str = "done", part: str | None = None, **more: Any) -> PeriodRow:
    """Return a period's row; what is open has missed its deadline."""
    at = Period(period).scheduled_for("Europe/Rome")
    values: dict[str, Any] = {
        "key": Key(JobName(JOB.namespace, JOB.name, part), Period(period)),
        "state": state,
        "generation": 0,
        "scheduled_for": at,
        "zone": "Europe/Rome",
        "deadline_at": at,
        "uncertain": False,
        "origin": "reconciler",
        "reason": None,
        "until": None,
        "attempt": None,
        "payload_sha256": None,
        "done_at": at if state == "done" else None,
        "changed_at": at or NOW,
        "db_user": None,
        "indicator": None,
        "await_deadline": None,
    }
    return PeriodRow(**values | more)


@dataclass(frozen=True)
class Paper:
    """A job's calendar, on paper."""

    expr: str = "0 2 * * *"
    zone: str = "Europe/Rome"
    kind: Cycle = Cycle.SCHEDULED
    rows: Sequence[PeriodRow] = ()
    now: datetime = NOW
    wish: Wish = field(default_factory=Wish)

    @property
    def fires(self) -> list[datetime]:
        """The fires to come."""
        return fires_of(parse(self.expr, self.zone), self.now)

    @property
    def window(self) -> Window:
        """The window that is wished for."""
        there = zone(self.zone)
        return window_of(plan_of(self.kind, self.fires, there), self.wish, there, self.now)

    @property
    def grids(self) -> list[Grid]:
        """The calendar's tables."""
        job = job_row(schedule=self.expr, schedule_zone=self.zone, zone=self.zone)
        seen = Snapshot(now=self.now, jobs={JOB: job}, rows={row.key: row for row in self.rows})
        sheet = Sheet(
            window=self.window,
            placed=place(seen, lines(seen, frozenset(LISTED)), self.zone),
            zone=self.zone,
            now=self.now,
            link=lambda line: f"?period={line.key.period}",
        )
        return grids(sheet, self.fires)


def letters(grid: Grid) -> dict[str, str]:
    """Return a table's letters by the heads of its rows: ``.`` for none, a blank for no cell."""
    return {
        row.head: "".join(
            " " if cell is None else cell.sign.letter if cell.sign else "." for cell in row.cells
        )
        for row in grid.rows
    }
