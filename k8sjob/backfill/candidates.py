"""Which periods a command is about, whatever became of them. Pure.

All that lies between the ends is listed, be it refused: nothing is dropped without a word.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING

from k8sjob.backfill.asked import MOST_PERIODS
from k8sjob.backfill.basis import check_schedule
from k8sjob.backfill.span import SECOND, read_span
from k8sjob.errors import UsageError
from k8sjob.expect import Expected, expected, first_known, is_on_schedule
from k8sjob.period import Cycle, Period, periods_between
from k8sjob.view.words import span as length
from k8sjob.view.words import utc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from k8sjob.backfill.asked import Asked
    from k8sjob.backfill.basis import Basis
    from k8sjob.backfill.span import Span
    from k8sjob.expect import Version

#: A period that lies this far ahead, by the ledger's clock, is refused everywhere.
AHEAD = timedelta(minutes=5)

_LAST_ZONE = timedelta(hours=14)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A period to be looked at, or ``label`` for a stretch of which no period is known.

    ``expected`` is what the schedule says of it. ``refused`` and ``passed_over`` say why nothing is
    to be done for it, whatever its row says and unless its row says more. ``remark`` is worth a
    word where it is done.
    """

    label: str
    period: Period | None = None
    expected: Expected | None = None
    refused: str | None = None
    passed_over: str | None = None
    remark: str | None = None


def in_range(asked: Asked, basis: Basis) -> list[Candidate]:
    """Return the periods from --from to --to, oldest first.

    Raises UsageError, InvalidKey, NoPeriod, ConfigError, InvalidSchedule.
    """
    cycle = basis.cycle or Period.parse(asked.start or "").cycle
    span = read_span(asked, cycle, basis.place)
    if span.single is not None:
        return [_single(asked, basis, span.single)]
    if cycle is not Cycle.SCHEDULED and not basis.versions:
        return _bounded(_on_calendar(basis, span))
    check_schedule(replace(basis, cycle=cycle))
    return _bounded([*_unknown(basis, span), *_scheduled(basis, cycle, span)])


def missing(basis: Basis, open_periods: Iterable[Period]) -> list[Candidate]:
    """Return the open periods of the ledger, and what is due since the reconciler last looked.

    Raises UsageError, InvalidSchedule, ConfigError.
    """
    found = {period: Candidate(label=str(period), period=period) for period in open_periods}
    if basis.done_until is not None and basis.cycle is not None:
        tail = expected(
            basis.versions,
            basis.cycle,
            after=basis.done_until,
            upto=basis.now,
            grace_s=basis.grace_s,
        )
        for one in tail:
            if one.deadline <= basis.now:
                found[one.period] = _of(one)
    return _bounded(found[period] for period in sorted(found))


def _of(one: Expected, **said: str | None) -> Candidate:
    return Candidate(label=str(one.period), period=one.period, expected=one, **said)


def _bounded(found: Iterable[Candidate]) -> list[Candidate]:
    listed = list(islice(found, MOST_PERIODS + 1))
    if len(listed) > MOST_PERIODS:
        raise UsageError(
            f"these are more than {MOST_PERIODS:,} periods. Nothing was done.\n"
            "  Check the years; if all of them are meant, take them in several commands."
        )
    return listed


# ------------------------------------------------------------------------------- one that is named


def _single(asked: Asked, basis: Basis, period: Period) -> Candidate:
    one = _expected_of(basis, period)
    refused = _ahead(basis, period, one)
    candidate = Candidate(label=str(period), period=period, expected=one, refused=refused)
    if refused is not None:
        return candidate
    if asked.off_schedule:
        return replace(candidate, remark=f"off the schedule: {asked.reason}")
    if is_on_schedule(basis.versions, period) is False:
        return replace(candidate, refused=_off_schedule(basis, period))
    return candidate


def _expected_of(basis: Basis, period: Period) -> Expected | None:
    """Return what the schedule expects of a period, where it does; ``@every`` expects nothing."""
    versions = [v for v in basis.versions if v.schedule.every is None]
    if period.cycle is Cycle.ONCE or not versions:
        return None
    low, high = _bounds(period, basis.place)
    found = expected(versions, period.cycle, after=low - SECOND, upto=high, grace_s=basis.grace_s)
    return next((one for one in found if one.period == period), None)


def _bounds(period: Period, place: str) -> tuple[datetime, datetime]:
    at = period.scheduled_for(place)
    assert at is not None  # noqa: S101  # once has been left out
    return (at, at) if period.cycle is Cycle.SCHEDULED else (at, period.window(place).end - SECOND)


def _off_schedule(basis: Basis, period: Period) -> str:
    known = first_known(basis.versions)
    _, high = _bounds(period, basis.place)
    if known is not None and high <= known:
        return f"older than the job's first known schedule, of {utc(known)}"
    return f"not on the schedule{_neighbour(basis, high)}"


def _neighbour(basis: Basis, at: datetime) -> str:
    """Return the fire that comes next, which may be the one that was meant."""
    found = expected(basis.versions, Cycle.SCHEDULED, after=at, upto=at + timedelta(days=366))
    following = next(found, None)
    return f"; the next fire is {following.period}" if following else ""


def _ahead(basis: Basis, period: Period, one: Expected | None) -> str | None:
    at = period.scheduled_for(basis.zone)
    if at is None and period.cycle is not Cycle.ONCE:
        at = _earliest(period)
    if at is not None and at > basis.now + AHEAD:
        return f"in the future (in {length(at - basis.now)})"
    if one is not None and one.first_fire > basis.now + AHEAD:
        return f"its first fire is still to come (in {length(one.first_fire - basis.now)})"
    return None


def _earliest(period: Period) -> datetime:
    """Return when a day, week or month begins where it begins first on Earth."""
    there = period.scheduled_for("Etc/UTC")
    assert there is not None  # noqa: S101  # once has no instant, and does not come here
    return there - _LAST_ZONE


# ------------------------------------------------------------------------------------- a range


def _on_calendar(basis: Basis, span: Span) -> Iterator[Candidate]:
    """Yield days, weeks or months by the calendar alone, where there is no schedule to ask."""
    assert span.first is not None and span.last is not None  # noqa: S101, PT018  # not scheduled
    for period in periods_between(span.first, span.last):
        refused = _ahead(basis, period, None)
        yield Candidate(label=str(period), period=period, refused=refused)


def _scheduled(basis: Basis, cycle: Cycle, span: Span) -> Iterator[Candidate]:
    """Yield what the schedule says, and the periods of its suspension, which nobody expects."""
    certain = {one.period: one for one in _expected_in(basis, basis.versions, cycle, span)}
    running = [replace(version, suspended=False) for version in basis.versions]
    for one in _expected_in(basis, running, cycle, span):
        refused = _ahead(basis, one.period, one)
        if one.period in certain:
            yield _of(certain[one.period], refused=refused)
        else:
            why = "the CronJob was suspended then; name this one alone to run it all the same"
            yield _of(one, refused=refused, passed_over=why)


def _expected_in(
    basis: Basis, versions: Sequence[Version], cycle: Cycle, span: Span
) -> Iterator[Expected]:
    found = expected(
        versions, cycle, after=span.low - SECOND, upto=span.high, grace_s=basis.grace_s
    )
    # The bound is for a range that goes on for centuries: it is refused, with the line to say so.
    for one in islice(found, MOST_PERIODS + 1):
        if span.first is None or span.last is None or span.first <= one.period <= span.last:
            yield one


def _unknown(basis: Basis, span: Span) -> list[Candidate]:
    """Return a line for what lies before the first known schedule, if that would fire there."""
    known = first_known(basis.versions)
    if known is None or span.low > known:
        return []
    first = min(basis.versions, key=lambda version: version.earliest_from)
    upto = min(known, span.high)
    if next(first.schedule.between(span.low - SECOND, upto), None) is None:
        return []
    why = "the job is tracked since then" if basis.tracked else "the CronJob was created then"
    return [
        Candidate(
            label=f"up to {utc(upto)}",
            refused=f"older than the job's first known schedule ({why})"
            if upto == known
            else f"older than the job's first known schedule, of {utc(known)}",
        )
    ]
