"""What the clocks of a zone show, and which instant a reading of theirs stands for.

Instants are whole seconds since 1970 in UTC. The calculations are those of Go's package time, which
the controller's own are made of: where a reading happens twice or never, it is Go that decides.
"""

from __future__ import annotations

from bisect import bisect_right
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from k8sjob.zones import zone

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY = 86400
EPOCH_ORDINAL = EPOCH.toordinal()

# Offsets are looked up so often. No stretch of any zone's is shorter than this (the shortest has
# just under 7 days; a test reads them all), so none is overlooked.
_PROBE = 5 * DAY
#: How far ahead a stretch's end is known: more than a schedule ever looks.
_AHEAD = 7 * 366 * DAY
#: Years in between that nobody has asked about are looked through up to here.
_FAR = 3 * _AHEAD


class Wall(NamedTuple):
    """What the clocks show; days of the week go from 0, Sunday."""

    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: int
    weekday: int


class Stretch(NamedTuple):
    """The instants ``[start, end)`` with one offset from UTC, in seconds, as far as known."""

    start: int
    end: int
    offset: int


class _Known(NamedTuple):
    """The stretches from ``starts[0]`` to ``end``; each start but the first is a change."""

    starts: list[int]
    offsets: list[int]
    end: int


class Clock:
    """The clocks of a zone. Its offsets are found out once, as they are needed."""

    def __init__(self, there: ZoneInfo) -> None:
        """Take the zone."""
        self._zone = there
        # Both are replaced as a whole and never changed, so that threads may share a clock.
        self._known = _Known([0], [self._look_up(0)], 0)
        self._latest = Stretch(0, 0, 0)

    def stretch(self, instant: int) -> Stretch:
        """Return the stretch that ``instant`` lies in."""
        latest = self._latest
        if latest.start <= instant < latest.end:
            return latest
        starts, offsets, end = self._known
        if not starts[0] <= instant < end - _AHEAD:
            starts, offsets, end = self._learn(instant)
        i = bisect_right(starts, instant)
        found = Stretch(starts[i - 1], starts[i] if i < len(starts) else end, offsets[i - 1])
        if found.end < end:  # else more of it may be asked for
            self._latest = found
        return found

    def offset(self, instant: int) -> int:
        """Return the offset from UTC at ``instant``, in seconds."""
        return self.stretch(instant).offset

    def wall(self, instant: int) -> Wall:
        """Return what the clocks show at ``instant``."""
        days, rest = divmod(instant + self.offset(instant), DAY)
        day = date.fromordinal(days + EPOCH_ORDINAL)
        (hour, minute), second = divmod(rest // 60, 60), rest % 60
        return Wall(day.year, day.month, day.day, hour, minute, second, day.isoweekday() % 7)

    def instant(  # noqa: PLR0913, PLR0917  # as Go's
        self, year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0
    ) -> int:
        """Return the instant at which the clocks show this, as ``time.Date`` of Go finds it.

        Month and day may be too large: 32 January is 1 February. In a gap, the answer lies on
        either side; of two instants it is the first or the second, as the zone's offset has it.
        """
        year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
        days = date(year, month, 1).toordinal() + day - 1 - EPOCH_ORDINAL
        as_if_utc = days * DAY + hour * 3600 + minute * 60 + second
        return as_if_utc - self.offset(as_if_utc - self.offset(as_if_utc))

    def changes(self, start: int, end: int) -> list[tuple[Stretch, Stretch]]:
        """Return the stretches before and after each change of the offset in ``(start, end]``."""
        found, here = [], self.stretch(start)
        while here.end <= end:
            after = self.stretch(here.end)
            if after.offset != here.offset:
                found.append((here, after))
            here = after
        return found

    def _learn(self, instant: int) -> _Known:
        """Find out the offsets up to ``instant`` and for years beyond it, beside those known."""
        starts, offsets, end = self._known
        if not starts[0] - _FAR <= instant <= end + _FAR:  # what is known is of no use
            starts, offsets, end = [instant], [self._look_up(instant)], instant
        low, high = min(instant - _AHEAD, starts[0]), max(instant + 2 * _AHEAD, end)
        changes = [
            (low, self._look_up(low)),
            *self._look_between(low, starts[0]),
            *zip(starts[1:], offsets[1:], strict=True),
            *self._look_between(end, high),
        ]
        self._known = _Known([at for at, _ in changes], [offset for _, offset in changes], high)
        return self._known

    def _look_between(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the changes in ``(start, end]``: when, and the offset from then on."""
        changes, offset = [], self._look_up(start)
        for before, after in pairwise([*range(start, end, _PROBE), end]):
            if (new := self._look_up(after)) != offset:
                changes.append((self._first(before, after), new))
                offset = new
        return changes

    def _first(self, before: int, after: int) -> int:
        """Return the first instant that has the offset of ``after`` and not that of ``before``."""
        wanted = self._look_up(after)
        while after - before > 1:
            middle = (before + after) // 2
            before, after = (before, middle) if self._look_up(middle) == wanted else (middle, after)
        return after

    def _look_up(self, instant: int) -> int:
        offset = (EPOCH + timedelta(seconds=instant)).astimezone(self._zone).utcoffset()
        assert offset is not None  # noqa: S101  # for the type checker
        return offset // timedelta(seconds=1)


@cache
def clock(name: str) -> Clock:
    """Return the clocks of the zone ``name``; `ConfigError` if it is unknown."""
    return Clock(zone(name))
