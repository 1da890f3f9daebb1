"""What each job owes, by state: what is stored, and what its schedule says of the rest. Pure."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from k8sjob.errors import K8sjobError
from k8sjob.period import Period

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from k8sjob.expect import Expected
    from k8sjob.ledger.scrape import Facts, PeriodId


@dataclass(slots=True)
class Owed:
    """Periods of a job, its parts' among them, in one state. Instants: the earliest that is known.

    ``oldest`` is a nominal one, ``deadline`` by when the work should have been done, ``changed``
    when a row came to its state, ``await_deadline`` until when an effect is awaited.
    """

    count: int = 0
    oldest: datetime | None = None
    deadline: datetime | None = None
    changed: datetime | None = None
    await_deadline: datetime | None = None

    def add(self, at: datetime | None, deadline: datetime | None) -> None:
        """Count one more."""
        self.count += 1
        self.oldest = _earlier(self.oldest, at)
        self.deadline = _earlier(self.deadline, deadline)


#: By job and state.
_All = defaultdict[str, defaultdict[str, Owed]]


def owed_of(facts: Facts) -> Mapping[str, Mapping[str, Owed]]:
    """Return what each job owes, by job and state."""
    owed: _All = defaultdict(lambda: defaultdict(Owed))
    zones = {job.job: job.zone for job in facts.jobs}
    for row in facts.counted:
        oldest = row.oldest
        if row.oldest_text is not None:
            oldest = _earlier(oldest, nominal(row.oldest_text, zones.get(row.job)))
        owed[row.job][row.state] = Owed(
            row.n, oldest, row.deadline, row.changed, row.await_deadline
        )
    alive = {(one.job, one.period) for one in facts.alive}
    for (job, text), whole in _add_fired(owed, facts, alive).items():
        state = "running" if (job, text) in alive else "due"  # nobody says by when
        owed[whole][state].add(nominal(text, zones.get(whole)), None)
    return owed


def _add_fired(owed: _All, facts: Facts, alive: set[PeriodId]) -> dict[PeriodId, str]:
    """Count what the schedules name and no row tells of; return what is owed beside that.

    A row without a deadline takes the schedule's.
    """
    undated = {(one.job, one.period): one.whole for one in facts.undated}
    rowless = {(one.job, one.period): one.whole for one in facts.alive if not one.stored}
    for job, each in facts.beyond.fired.items():
        for one in each:
            key = (job, one.period.text)
            is_row = undated.pop(key, None) is not None
            if is_row or key not in facts.stored:
                rowless.pop(key, None)
                state = "running" if key in alive else _state(one, facts.now, certain=is_row)
                owed[job][state].add(one.scheduled_for, one.deadline)
    return undated | rowless


def _state(one: Expected, now: datetime, *, certain: bool) -> str:
    if one.deadline > now:
        return "due"
    return "uncertain" if one.uncertain and not certain else "missing"


@lru_cache(maxsize=10_000)  # the same ones at each scrape
def nominal(text: str, zone: str | None) -> datetime | None:
    """Return the nominal instant of the period ``text``; None for ``once`` and unknown zones."""
    try:
        return Period(text).scheduled_for(zone or "Etc/UTC")
    except K8sjobError:  # a zone that another version of the data knows
        return None


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    if one is None or other is None:
        return one or other
    return min(one, other)
