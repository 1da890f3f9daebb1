"""Periods: the text that identifies a unit of work, and the stretch of time it stands for.

========== ======================== ==============================================
cycle      text                     stands for
========== ======================== ==============================================
scheduled  ``2026-09-13T00:00:00Z`` one fire of a schedule, in UTC, to the second
day        ``2026-09-13``           a calendar day of the job's zone
week       ``2026-W37``             an ISO 8601 week of it, Monday to Sunday
month      ``2026-09``              a calendar month of it
once       ``once``                 work that is done once and never again
========== ======================== ==============================================

The text is the identity of the work, so each period has exactly one, and `Period` is the only thing
that makes them. Years go from 1970 to 2999. Instants that come in are aware, those that go out are
in UTC.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import total_ordering
from typing import TYPE_CHECKING, NamedTuple

from k8sjob.cycle import (
    FIRST_YEAR,
    FORMS_IN_WORDS,
    LAST_YEAR,
    Cycle,
    advice_for,
    cycle_of,
    fault_of,
    first_day,
    first_day_around,
    following,
    text_at,
    text_of,
)
from k8sjob.errors import ConfigError, InvalidKey
from k8sjob.zones import start_of, zone

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

__all__ = ["Cycle", "Period", "Window", "periods_between", "zone"]


class Window(NamedTuple):
    """The half-open stretch ``[start, end)`` of a period; both ends are aware and in UTC."""

    start: datetime
    end: datetime


@total_ordering
@dataclass(frozen=True, slots=True)
class Period:
    """One period, by its canonical text. Equal texts are equal periods.

    Periods of one cycle sort by text, which is their order in time too. To compare those of two
    cycles with ``<`` is a `TypeError`.

    Raises:
        InvalidKey: ``text`` is not canonical. The message has the canonical text where it can tell.
    """

    text: str
    cycle: Cycle = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Check the text and keep what kind it is."""
        text = _plain(self.text)
        if fault := fault_of(text):
            raise InvalidKey(
                f"period {text!r} {fault}, so nothing was done for it: {advice_for(text)}. "
                f"{FORMS_IN_WORDS}"
            )
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "cycle", cycle_of(text))

    def __str__(self) -> str:
        """Return the canonical text."""
        return self.text

    def __lt__(self, other: object) -> bool:
        """Tell whether this period of a cycle comes before another one of it."""
        if not isinstance(other, Period) or other.cycle is not self.cycle:
            return NotImplemented
        return self.text < other.text

    @classmethod
    def parse(cls, text: str) -> Period:
        """Read a canonical text; `InvalidKey` for any other."""
        return cls(text)

    @classmethod
    def at(cls, instant: datetime) -> Period:
        """Return the scheduled period of an aware ``instant`` of whole seconds.

        Raises:
            InvalidKey: the instant is naive, has a part of a second, or is not in 1970 to 2999.
        """
        utc = _utc(instant)
        if utc.microsecond:
            raise InvalidKey(
                f"instant {instant.isoformat()} has a part of a second, so it names no period and "
                "nothing was done: pass the nominal instant of the schedule, never the time at "
                "which something started."
            )
        return cls(text_at(utc))

    @classmethod
    def of(cls, cycle: Cycle, instant: datetime, zone: str | None = None) -> Period:
        """Return the period of ``cycle`` whose window holds the aware ``instant``.

        ``zone`` is the IANA name of the job's zone; scheduled periods and ``once`` need none. Where
        clocks go back over midnight, the new day begins at the first midnight and stays.

        Raises:
            InvalidKey: as `at`, though only a scheduled period minds a part of a second.
            ConfigError: the zone is missing or unknown.
        """
        cycle, utc = Cycle(cycle), _utc(instant)
        if cycle is Cycle.SCHEDULED:
            return cls.at(instant)
        if cycle is Cycle.ONCE:
            return cls("once")
        if zone is None:
            raise ConfigError(
                f"a {cycle} needs the job's time zone and none is set, so the period of "
                f"{instant.isoformat()} is not known and nothing was done: set K8SJOB_TIME_ZONE, "
                "e.g. to Etc/UTC."
            )
        return cls(text_of(cycle, _first_day_at(cycle, utc, zone)))

    def scheduled_for(self, zone: str | None) -> datetime | None:
        """Return the nominal instant, in UTC, or None where none is known.

        A scheduled period's stands in its text, whatever the zone. A day's, week's or month's is
        its local start in ``zone``: the first of two midnights, or the instant at which clocks
        jumped over midnight. None without a zone, and for ``once``.

        Raises:
            ConfigError: the zone is needed and unknown.
        """
        if self.cycle is Cycle.SCHEDULED:
            return datetime.fromisoformat(self.text)
        if zone is None or not self.cycle.on_calendar:
            return None
        return start_of(first_day(self.cycle, self.text), zone)

    def window(self, zone: str) -> Window:
        """Return the window of a day, week or month in ``zone``: from its start to the next one's.

        Windows of consecutive periods abut, and none is empty. A day that the zone left out is
        refused, as any window would be another day's too: Pacific/Apia went from 2011-12-29
        straight to 2011-12-31, Pacific/Kwajalein from 1993-08-20 to 1993-08-22 (IANA database,
        file australasia). `of` never returns such a day, and the window before it ends where the
        one after it starts.

        Raises:
            InvalidKey: the period is scheduled or ``once``, or the zone left it out.
            ConfigError: the zone is unknown.
        """
        first = _first_day_of(self)
        window = Window(start_of(first, zone), start_of(following(self.cycle, first), zone))
        if window.start >= window.end:
            raise InvalidKey(
                f"period {self.text!r} does not exist in {zone}, whose clocks left that day out, "
                f"so nothing was done for it: the next period there is {self.next()}."
            )
        return window

    def next(self) -> Period:
        """Return the day, week or month after this one, by the calendar alone.

        Raises:
            InvalidKey: the period is scheduled or ``once``, or the last of the year 2999.
        """
        return Period(text_of(self.cycle, following(self.cycle, _first_day_of(self))))


def periods_between(first: Period, last: Period) -> Iterator[Period]:
    """Return the days, weeks or months from ``first`` to ``last``, both included.

    It goes by the calendar alone: a day that a zone left out is among them (see `Period.window`).

    Raises:
        InvalidKey: at once, if the two are of different cycles, in the wrong order, or scheduled
            or ``once``.
    """
    check_range(first, last)
    _first_day_of(first)
    return _count_up(first, last)


def check_range(first: Period, last: Period) -> None:
    """Refuse, with `InvalidKey`, two periods that are not the ends of a range."""
    if first.cycle is not last.cycle:
        raise InvalidKey(
            f"range {first}..{last} goes from the cycle {first.cycle} to {last.cycle}, so nothing "
            "was done for it: write both ends in the same form."
        )
    if last < first:
        raise InvalidKey(
            f"range {first}..{last} ends before it starts, so nothing was done for it: write "
            f"{last}..{first}."
        )


def _count_up(first: Period, last: Period) -> Iterator[Period]:
    while first < last:
        yield first
        first = first.next()
    yield last


def _first_day_of(period: Period) -> date:
    """Return the first day of a day, week or month; refuse the other kinds."""
    if not period.cycle.on_calendar:
        raise InvalidKey(
            f"period {period.text!r} is no day, week or month, so it has no window and no next one "
            "of its own, and nothing was done: ask the job's schedule, or give a period such as "
            "2026-09-13, 2026-W37 or 2026-09."
        )
    return first_day(period.cycle, period.text)


def _first_day_at(cycle: Cycle, utc: datetime, zone_name: str) -> date:
    """Return the first day of the cycle that ``utc`` falls in, by windows and not by the clock."""
    first = first_day_around(cycle, utc.astimezone(zone(zone_name)).date())
    # A clock that went back over midnight shows a day whose window has ended already.
    while utc >= start_of(after := following(cycle, first), zone_name):
        first = after
    return first


def _plain(text: object) -> str:
    """Return ``text`` as a plain str: a subclass (an enum's member) must not be the identity."""
    if isinstance(text, str):
        return str.__str__(text)
    raise InvalidKey(
        f"period {text!r} is a {type(text).__name__} and not a text, so nothing was done for it: "
        "use Period.at for an instant, or Period.of for the day, week or month around it."
    )


def _utc(instant: object) -> datetime:
    """Return ``instant`` in UTC; refuse a naive one, and one too far off to convert."""
    if not isinstance(instant, datetime) or instant.utcoffset() is None:
        raise InvalidKey(
            f"{instant!r} is not an instant with a time zone, so it names no period and nothing "
            "was done: pass an aware datetime, e.g. datetime(2026, 9, 13, tzinfo=UTC)."
        )
    # A year to spare on both sides for the offset; the text decides.
    if not FIRST_YEAR - 1 <= instant.year <= LAST_YEAR + 1:
        raise InvalidKey(
            f"instant {instant.isoformat()} lies outside of the years {FIRST_YEAR} to {LAST_YEAR}, "
            "so it names no period and nothing was done: check where it comes from."
        )
    return instant.astimezone(UTC)
