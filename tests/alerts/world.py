"""What an exporter shows of a job that keeps its schedule, or misses one period of it.

The periods come from the code that the exporter uses. promtool begins at 1970, so all instants
are moved by one and the same time: the rules know differences only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from k8sjob.cycle import Cycle
from k8sjob.expect import Version, expected

if TYPE_CHECKING:
    from collections.abc import Callable

    from k8sjob.expect import Expected

JOB = 'ledger="default", namespace="ops", cronjob="report"'
_TOOK = timedelta(minutes=2)


@dataclass(frozen=True)
class World:
    """A CronJob from ``begin`` (a day of its zone) on, looked at every ``step``."""

    expr: str
    zone: str
    begin: str
    days: int
    step: timedelta = timedelta(minutes=30)
    missed: frozenset[str] = field(default_factory=frozenset)

    @property
    def start(self) -> datetime:
        """The first instant, in UTC."""
        return (
            datetime.fromisoformat(self.begin).replace(tzinfo=ZoneInfo(self.zone)).astimezone(UTC)
        )

    @property
    def end(self) -> datetime:
        """The last instant."""
        return self.start + timedelta(days=self.days)

    @property
    def periods(self) -> list[Expected]:
        """The periods whose time comes before the end."""
        before = self.start - timedelta(days=1)
        version = Version(
            n=1, expr=self.expr, zone=self.zone, earliest_from=before, valid_from=before
        )
        return list(expected([version], Cycle.SCHEDULED, after=self.start, upto=self.end))

    def moved(self, at: datetime) -> int:
        """Return the seconds since the start."""
        return int((at - self.start).total_seconds())

    def group(self, asked: list[dict[str, Any]]) -> dict[str, Any]:
        """Return a group of promtool's tests that asks ``asked``."""
        series = {
            'k8sjob_build_info{version="1"}': lambda _: 1,
            'k8sjob_up{ledger="default"}': lambda _: 1,
            f"k8sjob_last_success_timestamp_seconds{{{JOB}}}": self._last_success,
        }
        for state, oldest in (("missing", self._missing), ("due", self._due)):
            series |= _unfinished(state, oldest, self.moved)
        return {
            "interval": f"{int(self.step.total_seconds())}s",
            "input_series": [
                {"series": name, "values": " ".join(str(value(at)) for at in self._samples())}
                for name, value in series.items()
            ],
            "promql_expr_test": asked,
        }

    def _samples(self) -> list[datetime]:
        return [self.start + n * self.step for n in range((self.end - self.start) // self.step + 1)]

    def _done_at(self, one: Expected) -> datetime | None:
        return None if str(one.period) in self.missed else one.first_fire + _TOOK

    def _last_success(self, at: datetime) -> int:
        done = [end for one in self.periods if (end := self._done_at(one)) and end <= at]
        return self.moved(max(done)) if done else 0

    def _open(self, at: datetime) -> list[Expected]:
        begun = [one for one in self.periods if one.first_fire <= at]
        return [one for one in begun if (end := self._done_at(one)) is None or end > at]

    def _missing(self, at: datetime) -> Expected | None:
        return next((one for one in self._open(at) if one.deadline <= at), None)

    def _due(self, at: datetime) -> Expected | None:
        return next((one for one in self._open(at) if one.deadline > at), None)


def _unfinished(
    state: str,
    oldest: Callable[[datetime], Expected | None],
    moved: Callable[[datetime], int],
) -> dict[str, Callable[[datetime], int]]:
    def deadline(at: datetime) -> int:
        one = oldest(at)
        return moved(one.deadline) if one else 0

    def period(at: datetime) -> int:
        one = oldest(at)
        return moved(one.first_fire) if one else 0

    labels = f'{{{JOB}, state="{state}"}}'
    return {
        f"k8sjob_oldest_unfinished_deadline_timestamp_seconds{labels}": deadline,
        f"k8sjob_oldest_unfinished_period_timestamp_seconds{labels}": period,
    }
