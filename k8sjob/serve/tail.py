"""Periods beyond the marks, which no row may tell of yet: worked out from the schedules. Pure.

So a reconciler that is dead hides nothing. `k8sjob.ledger.tail` asks the same of `k8sjob.expect`,
for what one person names, once. Here it is all jobs, each few seconds, and mostly nothing has fired
in between: so what a job's schedule has named is kept, and only what has fired since is added.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from k8sjob.cycle import Cycle
from k8sjob.errors import K8sjobError
from k8sjob.expect import expected
from k8sjob.ledger.scrape import Beyond
from k8sjob.ledger.tail import MOST
from k8sjob.period import Period

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from k8sjob.expect import Expected, Version
    from k8sjob.ledger.scrape import JobFacts

#: Periods of all jobs together that are worked out for a scrape; of one job it is `MOST`.
MOST_OF_ALL = 50_000

_THE_END = datetime(2999, 12, 31, tzinfo=UTC)
_DAY = timedelta(days=1)


@dataclass(slots=True)
class _Tail:
    """What one job's schedule names beyond the mark, as far as it was asked for.

    ``basis`` is all that it follows from.
    """

    basis: object
    rest: Iterator[Expected]
    fired: list[Expected] = field(default_factory=list)
    ahead: Expected | None = None
    is_broken: bool = False

    def reach(self, now: datetime, most: int) -> int:
        """Add what has fired since, up to ``most`` in all; return how many are new."""
        before = len(self.fired)
        while self._has_more(now) and len(self.fired) < most:
            assert self.ahead is not None  # noqa: S101  # _has_more has looked
            self.fired.append(self.ahead)
            self.step()
        return len(self.fired) - before

    def step(self) -> None:
        """Find the next one."""
        try:
            self.ahead = next(self.rest, None)
        except K8sjobError:  # a zone whose clocks left a day out, a year beyond all
            self.ahead, self.is_broken = None, True

    def is_truncated(self, now: datetime) -> bool:
        """Whether more has fired than was asked for, or can be told."""
        return self.is_broken or self._has_more(now)

    def _has_more(self, now: datetime) -> bool:
        return self.ahead is not None and self.ahead.first_fire <= now

    def upto(self, now: datetime) -> tuple[Expected, ...]:
        """Return what has fired; a clock may have gone back."""
        return tuple(one for one in self.fired if one.first_fire <= now)


@dataclass(slots=True)
class Tails:
    """The tails of a ledger's jobs, kept from one scrape to the next."""

    most: int = MOST
    most_of_all: int = MOST_OF_ALL
    _tails: dict[str, _Tail] = field(default_factory=dict)
    _next: dict[tuple[str, str], tuple[datetime | None, datetime]] = field(default_factory=dict)

    def __call__(self, jobs: Sequence[JobFacts], now: datetime, /) -> Beyond:
        """Return what has fired beyond the marks of ``jobs``, and when they fire next."""
        tracked = [job for job in jobs if job.done_until is not None and job.versions]
        self._tails = {job.job: self._of(job) for job in tracked}
        self._reach(now)
        following = {job.job: self._next_fire(job, now) for job in tracked}
        return Beyond(
            fired={
                job.job: _last_word(job, fired)
                for job in tracked
                if (fired := self._tails[job.job].upto(now))
            },
            truncated=frozenset(n for n, tail in self._tails.items() if tail.is_truncated(now)),
            next_fire={job: at for job, at in following.items() if at is not None},
        )

    def _of(self, job: JobFacts) -> _Tail:
        basis = (job.kind, job.done_until, job.floor, job.grace_s, job.versions)
        kept = self._tails.get(job.job)
        if kept is not None and kept.basis == basis:
            return kept
        made = _Tail(basis, _named(job))
        made.step()
        return made

    def _reach(self, now: datetime) -> None:
        """Give each job its share first, so that none is hidden by the others."""
        tails = self._tails.values()
        share = max(1, self.most_of_all // max(1, len(tails)))
        for tail in tails:
            tail.reach(now, min(share, self.most))
        room = self.most_of_all - sum(len(tail.fired) for tail in tails)
        for tail in tails:
            room -= tail.reach(now, min(self.most, len(tail.fired) + max(0, room)))

    def _next_fire(self, job: JobFacts, now: datetime) -> datetime | None:
        version = job.versions[-1]
        if job.gone or version.valid_to is not None or version.suspended:
            return None
        key = (version.expr, version.place)
        at, until = self._next.get(key, (None, now))
        if until <= now:
            at = _fire_after(version, now)
            self._next[key] = (at, at or now + _DAY)
        return at


def _named(job: JobFacts) -> Iterator[Expected]:
    """Return what a job's schedule names beyond its mark and its floor, in order."""
    assert job.done_until is not None  # noqa: S101  # Tails has looked
    versions = [version for version in job.versions if _has_instants(version)]
    once = job.kind is Cycle.ONCE
    kind = Cycle.SCHEDULED if once else job.kind
    made = expected(versions, kind, after=job.done_until, upto=_THE_END, grace_s=job.grace_s)
    floor = job.floor or ""
    return _once(made) if once else (one for one in made if one.period.text > floor)


def _once(fires: Iterator[Expected]) -> Iterator[Expected]:
    """Return the single period: as the first fire has it, then as the first certain one has it."""
    told = False
    for fire in fires:
        if not fire.uncertain or not told:
            yield replace(fire, period=Period("once"), scheduled_for=None, window_end=None)
            told = True
        if not fire.uncertain:
            return


def _last_word(job: JobFacts, fired: tuple[Expected, ...]) -> tuple[Expected, ...]:
    return fired[-1:] if job.kind is Cycle.ONCE else fired


def _has_instants(version: Version) -> bool:
    """Whether it names any; an ``@every`` does not, nor what no controller takes either."""
    try:
        return version.schedule.every is None
    except K8sjobError:
        return False


def _fire_after(version: Version, now: datetime) -> datetime | None:
    if not _has_instants(version):
        return None
    return next(version.schedule.between(now, _THE_END), None)
