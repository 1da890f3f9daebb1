"""Periods beyond the marks, which no row tells of: worked out from the schedules. Pure.

So a reconciler that is dead hides nothing. What was found out for a schedule is kept from one
scrape to the next: most of the time nothing has fired in between.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

from k8sjob.errors import K8sjobError
from k8sjob.expect import expected
from k8sjob.schedule import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from k8sjob.expect import Expected
    from k8sjob.ledger.scrape import JobFacts

#: Periods of one job that are worked out at a scrape.
MOST = 500

_NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(slots=True)
class Tails:
    """What is known of the tails of a ledger's jobs; `__call__` works them out for a scrape."""

    found: dict[str, list[Expected]] = field(default_factory=dict)
    truncated: set[str] = field(default_factory=set)
    _nothing_before: dict[str, tuple[object, datetime]] = field(default_factory=dict)
    _next: dict[tuple[str, str], datetime] = field(default_factory=dict)

    def again(self) -> Tails:
        """Return what the next scrape works with: this one's answers may still be in use."""
        return Tails(_nothing_before=self._nothing_before, _next=self._next)

    def __call__(self, jobs: Sequence[JobFacts], now: datetime, /) -> list[tuple[str, str]]:
        """Return the job and text of each period that has fired and lies beyond its job's mark."""
        for job in jobs:
            if job.done_until is not None and job.versions:
                self._work_out(job, now)
        return [(job, str(one.period)) for job, each in self.found.items() for one in each]

    def _work_out(self, job: JobFacts, now: datetime) -> None:
        state = (job.done_until, job.versions[-1], len(job.versions), job.grace_s)
        kept = self._nothing_before.get(job.job)
        if kept is not None and kept[0] == state and now < kept[1]:
            return
        try:
            made = expected(
                job.versions, job.kind, after=job.done_until or now, upto=now, grace_s=job.grace_s
            )
            each = list(islice(made, MOST + 1))
            following = self.next_fire(job, now)
        except K8sjobError:  # a schedule that no controller takes either
            return
        if len(each) > MOST:
            self.truncated.add(job.job)
        if each:
            self.found[job.job] = each[:MOST]
        elif len(job.versions) == 1:
            self._nothing_before[job.job] = (state, following or _NEVER)

    def next_fire(self, job: JobFacts, now: datetime) -> datetime | None:
        """Return when the schedule in force fires next; None: suspended, gone or not known."""
        if job.schedule is None or job.suspended or job.gone:
            return None
        key = (job.schedule, job.zone or "Etc/UTC")
        kept = self._next.get(key)
        if kept is None or kept <= now:
            try:
                kept = parse(*key).next(now) or _NEVER
            except K8sjobError:
                kept = _NEVER
            self._next[key] = kept
        return None if kept is _NEVER else kept
