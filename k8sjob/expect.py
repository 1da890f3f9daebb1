"""Which periods of a job should have been done: pure, from the versions of its schedule.

Nobody sees the instant at which a schedule was edited, only two lists of CronJobs that lie around
it. So the start of a version, and its end, are intervals. A fire inside of one may or may not have
been meant: its period is expected, but *uncertain*: to be shown, and never to be caught up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from heapq import merge
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from k8sjob.period import Cycle, Period, Window
from k8sjob.schedule import Schedule, parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Grace is half the gap to the next fire, between these two (seconds).
SHORTEST_GRACE_S, LONGEST_GRACE_S = 60.0, 3600.0

_SECOND = timedelta(seconds=1)
_THE_END = datetime(2999, 12, 31, tzinfo=UTC)
#: How far the same day may lie apart in two zones.
_ZONES_APART = timedelta(hours=26)
#: A month, and the hour by which clocks may go back in it; and another zone's days.
_LONGEST_CYCLE = timedelta(days=33)


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of a job's schedule. Instants are aware UTC.

    It begins in ``(earliest_from, valid_from]`` and ends in ``(earliest_to, valid_to]``; both ends
    are None while it is in force. ``zone`` is None where the CronJob names none: Kubernetes then
    takes its controller's own, which is UTC nearly everywhere. ``direct``: one write led from the
    version before it to this one, so that there was never anything else between the two.
    """

    n: int
    expr: str
    zone: str | None = None
    suspended: bool = False
    earliest_from: datetime
    valid_from: datetime
    earliest_to: datetime | None = None
    valid_to: datetime | None = None
    direct: bool = False

    @property
    def place(self) -> str:
        """The zone that its fields are read in."""
        return self.zone or "Etc/UTC"

    @property
    def schedule(self) -> Schedule:
        """Its schedule. Raises InvalidSchedule, ConfigError."""
        return _parsed(self.expr, self.place)

    def surely_holds(self, at: datetime) -> bool:
        """Whether it was in force at ``at``, whenever exactly it began and ended."""
        return self.valid_from < at and (self.earliest_to is None or at <= self.earliest_to)

    def may_hold(self, at: datetime) -> bool:
        """Whether it can have been in force at ``at``."""
        return self.earliest_from < at and (self.valid_to is None or at <= self.valid_to)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """One period that should be done by its ``deadline``. Instants are aware UTC.

    ``scheduled_for`` is None for ``once``; ``window_end`` is None for ``once`` and where nothing
    fires after it. ``version`` is the number of the one that it comes from.
    """

    period: Period
    scheduled_for: datetime | None
    window_end: datetime | None
    zone: str | None
    first_fire: datetime
    last_fire: datetime
    deadline: datetime
    version: int
    uncertain: bool


class _Fire(NamedTuple):
    at: datetime
    period: Period
    next: datetime | None
    certain: bool
    version: Version


def expected(
    versions: Sequence[Version],
    cycle: Cycle,
    *,
    after: datetime,
    upto: datetime,
    grace_s: float | None = None,
) -> Iterator[Expected]:
    """Return the periods that have a fire in ``(after, upto]``, in order.

    ``grace_s`` is the job's own grace in seconds, from the fire to the deadline. A day, week or
    month is due at its last fire, which may lie behind ``upto``; ``once`` at the first that is
    certain, and its ``last_fire`` is the last one up to ``upto``.

    Raises:
        InvalidSchedule, ConfigError: a version does not parse, or is an ``@every``.
    """
    if cycle is Cycle.SCHEDULED:
        for fire in _fires(versions, cycle, after, upto):
            yield _whole(fire.at, fire.next, [fire], grace_s)
    elif cycle is Cycle.ONCE:
        if fires := list(_fires(versions, cycle, after, upto)):
            first = next((fire for fire in fires if fire.certain), fires[0])
            one = _whole(None, None, [first], grace_s)
            yield replace(one, last_fire=fires[-1].at)
    else:
        yield from _natural(versions, cycle, after, upto, grace_s)


def _natural(
    versions: Sequence[Version],
    cycle: Cycle,
    after: datetime,
    upto: datetime,
    grace_s: float | None,
) -> Iterator[Expected]:
    # A change of zone lets days and weeks overlap: fires of one come in between those of another.
    apart = _ZONES_APART if len({version.place for version in versions}) > 1 else timedelta()
    begun: dict[Period, list[_Fire]] = {}
    # Its last fire may come after upto, so the whole of the last period is looked through.
    for fire in _fires(versions, cycle, after, upto + _LONGEST_CYCLE):
        yield from _over(begun, fire.at - apart, grace_s)
        if fire.at > upto and not begun:
            return
        if fire.at <= upto or fire.period in begun:
            begun.setdefault(fire.period, []).append(fire)
    yield from _over(begun, _THE_END, grace_s)


def _over(
    begun: dict[Period, list[_Fire]], at: datetime, grace_s: float | None
) -> Iterator[Expected]:
    """Take out the periods that are over at ``at``, in order, and return them."""
    while begun:
        period, fires = next(iter(begun.items()))
        window = _window(period, fires[-1].version.place)
        if at < window.end:
            return
        del begun[period]
        yield _whole(window.start, window.end, fires, grace_s)


@lru_cache(maxsize=4096)
def _window(period: Period, zone: str) -> Window:
    return period.window(zone)


def _whole(
    scheduled_for: datetime | None,
    window_end: datetime | None,
    fires: Sequence[_Fire],
    grace_s: float | None,
) -> Expected:
    certain = [fire for fire in fires if fire.certain]
    last = (certain or fires)[-1]
    return Expected(
        period=last.period,
        scheduled_for=scheduled_for,
        window_end=window_end,
        zone=last.version.zone,
        first_fire=fires[0].at,
        last_fire=last.at,
        deadline=last.at + timedelta(seconds=_grace(last, grace_s)),
        version=last.version.n,
        uncertain=not certain,
    )


def _grace(fire: _Fire, grace_s: float | None) -> float:
    if grace_s is not None:
        return grace_s
    if fire.next is None:
        return LONGEST_GRACE_S
    half = (fire.next - fire.at).total_seconds() / 2
    return min(max(half, SHORTEST_GRACE_S), LONGEST_GRACE_S)


# -------------------------------------------------------------------------------------- fires


def _fires(
    versions: Sequence[Version], cycle: Cycle, after: datetime, upto: datetime
) -> Iterator[_Fire]:
    """Return the fires of all versions in ``(after, upto]`` in order, once for each period."""
    each = [_fires_of(v, cycle, after, upto) for v in versions if not v.suspended]
    for _, found in groupby(merge(*each, key=lambda f: f.at), lambda f: f.at):
        same: dict[Period, list[_Fire]] = {}  # where zones differ, one instant is of two days
        for fire in found:
            same.setdefault(fire.period, []).append(fire)
        yield from (_one(fires, versions) for fires in same.values())


def _one(same: list[_Fire], versions: Sequence[Version]) -> _Fire:
    """Return the fire of a period that one version has, or several that follow each other."""
    certain = [fire for fire in same if fire.certain]
    return certain[-1] if certain else same[-1]._replace(certain=_is_meant(same, versions))


def _is_meant(same: list[_Fire], versions: Sequence[Version]) -> bool:
    """Whether all that can have been in force fire here: an edit that they survive is none."""
    at = same[0].at
    held = [version for version in versions if version.may_hold(at)]
    first, last = held[0], held[-1]
    begun = first.valid_from < at
    lasts = last.earliest_to is None or at <= last.earliest_to
    return len(same) == len(held) and begun and lasts and all(v.direct for v in held[1:])


def _fires_of(version: Version, cycle: Cycle, after: datetime, upto: datetime) -> Iterator[_Fire]:
    low = max(after, version.earliest_from)
    high = upto if version.valid_to is None else min(upto, version.valid_to)
    if low >= high:
        return
    fires = version.schedule.between(low, _THE_END)
    at = next(fires, None)
    while at is not None and at <= high:
        following = next(fires, None)
        period = _period(cycle, at, version.place)
        yield _Fire(at, period, following, version.surely_holds(at), version)
        at = following


@lru_cache(maxsize=4096)  # many jobs fire at once, and half of the time went there (measured)
def _period(cycle: Cycle, at: datetime, zone: str) -> Period:
    return Period.of(cycle, at, zone)


@lru_cache(maxsize=4096)
def _parsed(expr: str, zone: str) -> Schedule:
    return parse(expr, zone)


# ----------------------------------------------------------------------------------- questions


def first_known(versions: Sequence[Version]) -> datetime | None:
    """Return the earliest instant that a version may have begun at; None: none is known."""
    return min((version.earliest_from for version in versions), default=None)


def is_on_schedule(versions: Sequence[Version], period: Period) -> bool | None:
    """Whether some version that may have been in force then fires in ``period``.

    A suspended one counts too: at resume Kubernetes starts the last slot of the suspension. None
    where nothing is known: no version at all, or none but an ``@every``.

    Raises:
        InvalidSchedule, ConfigError: a version does not parse.
    """
    known = [version for version in versions if version.schedule.every is None]
    if not known:
        return None
    if period.cycle is Cycle.ONCE:
        return True
    return any(_fires_in(version, period) for version in known)


def _fires_in(version: Version, period: Period) -> bool:
    if period.cycle is Cycle.SCHEDULED:
        first = last = datetime.fromisoformat(period.text)
    else:
        window = period.window(version.place)
        first, last = window.start, window.end - _SECOND
    low = max(first - _SECOND, version.earliest_from)
    high = last if version.valid_to is None else min(last, version.valid_to)
    return low < high and next(version.schedule.between(low, high), None) is not None


def window_end(versions: Sequence[Version], scheduled_for: datetime) -> datetime | None:
    """Return the fire after ``scheduled_for`` in the version of then; None where none is known."""
    held = [version for version in versions if version.may_hold(scheduled_for)]
    if not held or held[-1].schedule.every is not None:
        return None
    return next(held[-1].schedule.between(scheduled_for, _THE_END), None)
