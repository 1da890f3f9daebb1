"""The search for the next fire, step by step as robfig/cron v3.0.1 walks (``SpecSchedule.Next``).

What it does where clocks change follows from the order of its steps and from nothing else, so each
is taken as it is there. It goes up the fields from the month to the second: one that does not match
is counted up until it does, and one that wraps around sends the search back to the month.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.schedule import plain
from k8sjob.schedule.clock import DAY
from k8sjob.schedule.fields import day_matches

if TYPE_CHECKING:
    from k8sjob.schedule.clock import Clock
    from k8sjob.schedule.fields import Fields

#: The search gives up at the end of the fifth year after the one it starts in.
YEARS = 5

_MINUTE = 60
_HOUR = 3600
_NOON = 12


def next_fire(fields: Fields, clock: Clock, after: int, *, leaps: bool = True) -> int | None:
    """Return the fire that robfig finds after the instant ``after``, None if there is none.

    Instants are seconds since 1970. Without ``leaps`` each step is taken, with the same result.

    Where clocks show an hour twice that does not start on the hour (Pacific/Chatham, 02:45 to
    03:45) robfig may take the first for the second, and so go back: see `later_fire`.
    """
    if not fields.times:  # robfig looks at 2.6 million minutes to find this out
        return None
    if leaps:
        found = plain.fire_at_hand(fields, clock.stretch(after + 1), after + 1)
        if found is not None:
            return found
    return Walk(fields, clock, after, leaps=leaps).to_the_fire()


def later_fire(fields: Fields, clock: Clock, after: int) -> int | None:
    """Return what `next_fire` does, but never a fire that does not lie after ``after``.

    The controller would turn round for ever there; this goes on from the next minute that does not
    lead back.
    """
    found = next_fire(fields, clock, after)
    minute = after
    while found is not None and found <= after:
        minute += _MINUTE - minute % _MINUTE
        found = next_fire(fields, clock, minute - 1)
    return found


class Walk:
    """One search: where it stands, and whether a field has been counted up yet."""

    __slots__ = ("added", "clock", "fields", "leaps", "limit", "now", "wall")

    def __init__(self, fields: Fields, clock: Clock, after: int, *, leaps: bool) -> None:
        """Stand at the second after ``after``."""
        self.fields = fields
        self.clock = clock
        self.leaps = leaps
        self.added = False
        self._go(after + 1)
        self.limit = self.wall.year + YEARS

    def to_the_fire(self) -> int | None:
        """Walk until all fields match; None once the last year is over."""
        while self.wall.year <= self.limit:
            if self.leaps and (found := self._leap()) is not None:
                return found
            if not (
                self._month_moves()
                or self._day_wraps()
                or self._hour_wraps()
                or self._minute_wraps()
                or self._second_wraps()
            ):
                return self.now
        return None

    def _go(self, instant: int) -> None:
        self.now = instant
        self.wall = self.clock.wall(instant)

    def _begin(self, *, day: int = 1, hour: int = 0) -> None:
        """Go back to the start of the field that is counted up first."""
        if not self.added:
            self.added = True
            self._go(self.clock.instant(self.wall.year, self.wall.month, day, hour))

    def _month_moves(self) -> bool:
        """Count up by a month. robfig goes on with the next one, to the same effect."""
        if self.fields.months >> self.wall.month & 1:
            return False
        self._begin()
        year, month, *rest, _ = self.wall
        self._go(self.clock.instant(year, month + 1, *rest))
        return True

    def _day_wraps(self) -> bool:
        while not day_matches(self.fields, self.wall.day, self.wall.weekday):
            self._begin(day=self.wall.day)
            self._go(next_day(self.clock, self.now))
            if self.wall.day == 1 or (self.leaps and self._month_would_stay()):
                return True
        return False

    def _month_would_stay(self) -> bool:
        """Tell whether a return to the month would lead back here, by way of a leap perhaps."""
        return self.wall.year <= self.limit and self._in_a_month()

    def _hour_wraps(self) -> bool:
        while not self.fields.hours >> self.wall.hour & 1:
            self._begin(day=self.wall.day, hour=self.wall.hour)
            self._go(self.now + _HOUR)
            if self.wall.hour == 0:
                return True
        return False

    def _minute_wraps(self) -> bool:
        while not self.fields.minutes >> self.wall.minute & 1:
            if not self.added:
                self.added = True
                self._go(self.now - self.now % _MINUTE)  # in UTC, where offsets have seconds too
            self._go(self.now + _MINUTE)
            if self.wall.minute == 0:
                return True
        return False

    def _second_wraps(self) -> bool:
        while self.wall.second:
            self.added = True
            rest = _MINUTE - self.wall.second  # robfig goes second by second
            there = self.now + rest
            self._go(there if there < self.clock.stretch(self.now).end else self.now + 1)
            if self.wall.second == 0:
                return True
        return False

    def _leap(self) -> int | None:
        """Return the fire if the clocks do not change on the way to it; else go on to near there.

        A day is kept from either change: more than any offset, so that each step up to the fire,
        and its look-ups of the offset, would have stayed between the two.
        """
        start, end, offset = self.clock.stretch(self.now)
        lowest = self._lowest(offset)
        end = min(end - DAY, plain.new_year(self.limit + 1, offset))
        if lowest is None or lowest < start + DAY or self.now >= end or offset % _MINUTE:
            return None
        found = plain.first_match(self.fields, self.now, end, offset)
        if found is None and (near := plain.checkpoint(self.fields, end, offset)) > self.now:
            self.added = True
            self._go(near)
        return found

    def _lowest(self, offset: int) -> int | None:
        """Return the instant to which the first step may go back; None if it would be skewed."""
        since_midnight = (self.now + offset) % DAY
        if self.added and since_midnight:  # hours may be counted from any minute now
            return None
        if self._in_a_month():
            return self.now - since_midnight
        if self.added and self.wall.day > 1:
            return None
        return self.now - since_midnight - (self.wall.day - 1) * DAY

    def _in_a_month(self) -> bool:
        return bool(self.fields.months >> self.wall.month & 1)


def next_day(clock: Clock, now: int) -> int:
    """Return the start of the next day, as robfig has it: it may lie in the wrong day.

    Where there is no midnight, an hour after it is taken back: that ends before the gap, and the
    day is passed over. Where a zone left out a whole day (Pacific/Apia, 2011-12-30) robfig turns
    round for ever; here the search goes on at the day after.
    """
    wall = clock.wall(now)
    later = clock.instant(wall.year, wall.month, wall.day + 1, *wall[3:6])
    hour = clock.wall(later).hour
    if hour:
        later += _HOUR * (24 - hour if hour > _NOON else -hour)
    return later if later > now else clock.stretch(now).end
