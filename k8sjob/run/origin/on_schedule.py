"""A period that was passed, held against the schedule that the ledger knows."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from k8sjob.cycle import Cycle
from k8sjob.errors import ConfigError, InvalidKey, NoPeriod
from k8sjob.key import Key

if TYPE_CHECKING:
    from datetime import datetime

    from k8sjob.ledger.known import Known
    from k8sjob.period import Period
    from k8sjob.run.request import Request

#: How far to look for a neighbour, a step at a time: a minute's schedule has it in the first.
_STEPS = tuple(timedelta(hours=hours) for hours in (2, 48, 24 * 40, 24 * 400, 24 * 1600))
_ANY_WAY = 'If it is right all the same: --off-schedule --reason "…"'


def checked(request: Request, known: Known) -> Request:
    """Return the request of a period that was passed, with what the ledger knows of the job.

    Raises NoPeriod where the period is not on the job's schedule, unless it need not be.
    """
    key = Key(request.key.job.job, request.key.period)
    if not request.off_schedule:
        check_on_schedule(key, known)
    return replace(
        request,
        zone=request.zone or known.zone,
        window_end=window_end(key.period, known),
        unchecked=False,
    )


def check_on_schedule(key: Key, known: Known) -> None:
    """Raise NoPeriod where the period is not on the schedule that was in force then.

    A job whose schedule is not known, or an ``@every``, is not checked.
    """
    if not known.versions:
        return
    from k8sjob.expect import first_known, is_on_schedule  # noqa: PLC0415  # reads schedules

    try:
        if is_on_schedule(known.versions, key.period) is not False:
            return
        begins = first_known(known.versions)
        older = begins is not None and _end(key.period, known.zone) <= begins
        neighbours = _neighbours(key.period, known)
    except (ConfigError, InvalidKey) as error:
        raise NoPeriod(
            f"{key} cannot be held against the job's schedule: {error}\n  Nothing was done. "
            f"{_ANY_WAY}"
        ) from error
    what = f"is older than the first known schedule, of {begins:%Y-%m-%d %H:%M:%SZ}"
    raise NoPeriod(
        f"{key} {what if older else 'is not on the schedule: ' + _schedules(known)}. Nothing was "
        f"done.\n  {neighbours}{_ANY_WAY}"
    )


def window_end(period: Period, known: Known) -> datetime | None:
    """Return the fire after a scheduled period; None where the schedule does not tell."""
    if period.cycle is not Cycle.SCHEDULED or not known.versions:
        return None
    from k8sjob import expect  # noqa: PLC0415  # reads schedules

    fire = period.scheduled_for(None)
    try:
        return expect.window_end(known.versions, fire) if fire else None
    except ConfigError:  # a schedule that this version of k8sjob cannot read
        return None


def _schedules(known: Known) -> str:
    last = known.versions[-1]
    before = f" (version {last.n} of it)" if len(known.versions) > 1 else ""
    return f"{last.expr} {last.place}{before}"


def _start(period: Period, zone: str | None) -> datetime:
    start = period.scheduled_for(zone or "Etc/UTC")
    if start is None:
        raise InvalidKey(f"{period} has no place on a schedule")
    return start


def _end(period: Period, zone: str | None) -> datetime:
    if period.cycle is Cycle.SCHEDULED:
        return _start(period, zone)
    return period.window(zone or "Etc/UTC").end


def _neighbours(period: Period, known: Known) -> str:
    """Say which periods of the schedule come before and after; nothing where there are none."""
    before, after = _before(period, known), _after(period, known)
    found = [f"{p} {where}" for p, where in ((before, "before"), (after, "after")) if p]
    return f"The nearest on it: {', '.join(found)}. " if found else ""


def _before(period: Period, known: Known) -> Period | None:
    from k8sjob.expect import expected  # noqa: PLC0415  # reads schedules

    start = _start(period, known.zone)
    for step in _STEPS:
        there = expected(known.versions, period.cycle, after=start - step, upto=start)
        found = [e.period for e in there if e.period < period]
        if found:
            return found[-1]
    return None


def _after(period: Period, known: Known) -> Period | None:
    from k8sjob.expect import expected  # noqa: PLC0415  # as above

    start = _start(period, known.zone)
    there = expected(known.versions, period.cycle, after=start, upto=start + _STEPS[-1])
    return next((e.period for e in there if e.period > period), None)
