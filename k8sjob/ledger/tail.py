"""The tail: what a job's schedule names beyond the job's mark. Pure.

Rows tell only up to the mark: no reconciler has been further yet. What should have happened since
then follows from the schedule's versions alone, so a reconciler that is dead hides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice, takewhile
from typing import TYPE_CHECKING, NamedTuple

from k8sjob.cycle import Cycle, fault_of
from k8sjob.errors import ConfigError, K8sjobError
from k8sjob.expect import expected, is_on_schedule
from k8sjob.key import Key
from k8sjob.period import Period

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from k8sjob.expect import Expected, Version
    from k8sjob.key import JobName
    from k8sjob.ledger.read import JobRow, Where

#: Periods of a job that are worked out for one look.
MOST = 500

_CAPPED = "shown for {} periods only, from {} on; k8sjob get periods --from shows later ones"

_SECOND, _DAY = timedelta(seconds=1), timedelta(days=1)
#: A month, and a day for zones.
_LONGEST = timedelta(days=33)
#: Where the bounds of a kind's texts stand in `k8sjob.ledger.read.Bounds`.
_BOUND = {Cycle.SCHEDULED: 0, Cycle.DAY: 1, Cycle.WEEK: 2, Cycle.MONTH: 3}


@dataclass(frozen=True, slots=True)
class Slot:
    """A period that a schedule names. ``suspended``: only while it was suspended."""

    expected: Expected
    suspended: bool = False

    @property
    def deadline(self) -> datetime | None:
        """From then on it is missing, aware UTC; nothing is expected of a suspended one."""
        return None if self.suspended else self.expected.deadline


@dataclass(frozen=True, slots=True)
class Tail:
    """The slots of some jobs; ``gaps`` says of a job what of them is shown, and why not all."""

    slots: Mapping[Key, Slot] = field(default_factory=dict)
    gaps: Mapping[JobName, str] = field(default_factory=dict)


class _Reach(NamedTuple):
    """Which periods are meant: by the instants of their fires, and by their texts (both in)."""

    after: datetime | None
    upto: datetime
    low: str
    high: str


def work_out(jobs: Iterable[JobRow], where: Where) -> Tail:
    """Return what the schedules of ``jobs`` name, as far as ``where`` asks for it."""
    slots: dict[Key, Slot] = {}
    gaps: dict[JobName, str] = {}
    for job in jobs:
        found, gap = _of_job(job, where)
        slots |= {Key(job.job, slot.expected.period): slot for slot in found}
        if gap:
            gaps[job.job] = gap
    return Tail(slots, gaps)


def _of_job(job: JobRow, where: Where) -> tuple[list[Slot], str | None]:
    """Return the slots of one job, and why they are not all."""
    kind, now = job.kind, where.upto
    if now is None or kind is None or job.done_until is None or not where.touches(job.job):
        return [], None
    if gap := _unreadable(job.versions):
        return [], gap
    try:
        reaches = _reaches(job, kind, where, now)
        found = [slot for reach in reaches for slot in _slots(job, kind, reach, where)]
    except K8sjobError as error:  # an instant beyond all years, a zone that left a day out
        return [], f"not shown: {error}"
    if len(found) > MOST:
        return found[:MOST], _CAPPED.format(MOST, found[0].expected.period)
    return found, None


def _unreadable(versions: Sequence[Version]) -> str | None:
    """Return which schedule names no instants; None: all do."""
    for version in versions:
        try:
            if version.schedule.every is not None:
                return f"not shown: {version.expr} has no fixed instants"
        except ConfigError:
            return f"not shown: {version.expr!r} in zone {version.place} cannot be read"
    return None


# ------------------------------------------------------------------------------ which are meant


def _reaches(job: JobRow, kind: Cycle, where: Where, now: datetime) -> Iterator[_Reach]:
    low, high = _texts(kind, where)
    if where.covers(job.job):
        start, end = _start(job, low), _start(job, high)
        yield _Reach(start, min(now, end + _LONGEST) if end else now, low, high)
    for key in where.keys:
        text = str(key.period)
        if key.job == job.job and key.period.cycle is kind and low <= text <= high:
            start = _start(job, text)
            # What is named may lie ahead.
            yield _Reach(start, max(now, start + _LONGEST) if start else now, text, text)


def _texts(kind: Cycle, where: Where) -> tuple[str, str]:
    if kind is Cycle.ONCE:
        return "", "~"
    low, high = where.bounds
    return low[_BOUND[kind]], high[_BOUND[kind]]


def _start(job: JobRow, text: str) -> datetime | None:
    """Return an instant before all fires of the period ``text``; None where it names none."""
    if fault_of(text):
        return None
    period = Period(text)
    if period.cycle is Cycle.SCHEDULED:
        return datetime.fromisoformat(text) - _SECOND
    # Versions may differ in their zones.
    at = period.scheduled_for(job.versions[-1].place if job.versions else "Etc/UTC")
    return at - _DAY if at else None


# -------------------------------------------------------------------------------- what there is


def _slots(job: JobRow, kind: Cycle, reach: _Reach, where: Where) -> list[Slot]:
    """Return the slots in ``reach`` in order; more than `MOST` where those are not all."""
    mark = job.done_until
    assert mark is not None  # noqa: S101  # work_out has looked
    after = mark if reach.after is None else max(mark, reach.after)
    made = expected(_known(job), kind, after=after, upto=reach.upto, grace_s=job.grace_s)
    found = [Slot(one) for one in _within(made, reach)]
    if where.suspended or reach.low == reach.high:
        found += [Slot(one, suspended=True) for one in _suspended(job, kind, reach)]
    floor = job.floor or ""
    known = [one for one in found if str(one.expected.period) > floor]
    return sorted(known, key=lambda one: one.expected.period)


def _known(job: JobRow) -> Sequence[Version]:
    """Return the versions; that which may be another one by now is certain only up to then."""
    *before, last = job.versions or (None,)
    if last is None or last.valid_to is not None or job.blind_since is None:
        return job.versions
    return [*before, replace(last, earliest_to=max(job.blind_since, last.valid_from))]


def _within(made: Iterator[Expected], reach: _Reach) -> list[Expected]:
    upto = takewhile(lambda one: str(one.period) <= reach.high, made)
    return list(islice((one for one in upto if str(one.period) >= reach.low), MOST + 1))


def _suspended(job: JobRow, kind: Cycle, reach: _Reach) -> list[Expected]:
    """Return what fires in suspended versions only: their rows, where there are any, say more."""
    idle = [replace(v, suspended=False) for v in job.versions if v.suspended]
    if not idle:
        return []
    active = [version for version in job.versions if not version.suspended]
    made = expected(idle, kind, after=reach.after or idle[0].earliest_from, upto=reach.upto)
    return [one for one in _within(made, reach) if not is_on_schedule(active, one.period)]
