"""The ends of a range as people write them, and the stretch of time that they stand for. Pure.

A job of scheduled periods takes full texts (``2026-09-10T02:00:00Z``), and days, weeks and months
of its zone: from the start of the first to the end of the last. A job of days, weeks or months
takes its own texts.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from k8sjob.errors import UsageError
from k8sjob.period import Cycle, Period, check_range

if TYPE_CHECKING:
    from k8sjob.backfill.asked import Asked

#: Instants of periods are whole seconds.
SECOND = timedelta(seconds=1)

_EXAMPLES = {
    Cycle.SCHEDULED: "2026-09-10T02:00:00Z, or a day such as 2026-09-10",
    Cycle.DAY: "2026-09-10",
    Cycle.WEEK: "2026-W37",
    Cycle.MONTH: "2026-09",
    Cycle.ONCE: "once",
}


class Span(NamedTuple):
    """What lies between two ends. Instants are aware UTC, both included.

    ``single``: the one period that both ends name. ``first`` and ``last`` are the ends of a job of
    days, weeks or months; None for scheduled ones.
    """

    low: datetime
    high: datetime
    single: Period | None = None
    first: Period | None = None
    last: Period | None = None


def cycle_of_ends(asked: Asked) -> Cycle:
    """Return the kind of period that the ends have, where nothing else tells it."""
    return Period.parse(asked.start or "").cycle


def read_span(asked: Asked, cycle: Cycle, zone: str) -> Span:
    """Return what --from and --to stand for. Raises InvalidKey, UsageError, ConfigError."""
    first, last = Period.parse(asked.start or ""), Period.parse(asked.end or "")
    for end in (first, last):
        _check_kind(asked, end, cycle)
    single = first if first == last and first.cycle is cycle else None
    if cycle is Cycle.ONCE:
        always = datetime.fromisoformat("1970-01-01T00:00:00Z")
        return Span(always, always, single)
    if cycle is not Cycle.SCHEDULED:
        check_range(first, last)
    low, high = _low(first, zone), _high(last, zone)
    if high < low:
        raise UsageError(
            f"--to {last} lies before --from {first}, so there is nothing between. Nothing was "
            f"done.\n  Write --from {last} --to {first}."
        )
    if cycle is Cycle.SCHEDULED:
        return Span(low, high, single)
    return Span(low, high, single, first, last)


def _check_kind(asked: Asked, end: Period, cycle: Cycle) -> None:
    if end.cycle is cycle or (cycle is Cycle.SCHEDULED and end.cycle.on_calendar):
        return
    kind = "single fires" if cycle is Cycle.SCHEDULED else f"of the kind {cycle}"
    raise UsageError(
        f"{end} is no period of {asked.job}, whose periods are {kind}. Nothing was done.\n"
        f"  Write {_EXAMPLES[cycle]}."
    )


def _low(end: Period, zone: str) -> datetime:
    return _instant(end) or end.window(zone).start


def _high(end: Period, zone: str) -> datetime:
    return _instant(end) or end.window(zone).end - SECOND


def _instant(end: Period) -> datetime | None:
    return datetime.fromisoformat(end.text) if end.cycle is Cycle.SCHEDULED else None
