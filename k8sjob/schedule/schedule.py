"""A schedule in a time zone, and the instants at which it fires."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from k8sjob.errors import InvalidKey, InvalidSchedule
from k8sjob.schedule.advice import Misread
from k8sjob.schedule.clock import EPOCH, Clock, clock
from k8sjob.schedule.every import fields_like, read_every
from k8sjob.schedule.fields import Fields, read_fields
from k8sjob.schedule.walk import later_fire, next_fire

if TYPE_CHECKING:
    from collections.abc import Iterator

#: robfig's descriptors, in the five fields that they stand for.
DESCRIPTORS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}

_EVERY = "@every "
_SECOND = timedelta(seconds=1)
# As many as periods have, and a year to spare on both sides for the offset.
_FIRST_YEAR, _LAST_YEAR = 1969, 3000


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a CronJob fires. Equal text and equal zone are equal schedules; `parse` makes them."""

    text: str
    #: The IANA name of the time zone.
    zone: str
    #: None for ``@every``.
    fields: Fields | None = field(compare=False, repr=False)
    #: The seconds of ``@every``; None for all other schedules.
    every: int | None = field(compare=False, repr=False)
    clock: Clock = field(compare=False, repr=False)

    def next(self, after: datetime) -> datetime | None:
        """Return the instant after the aware ``after`` at which it fires, in UTC.

        None if there is none before the end of the fifth calendar year after that of ``after``:
        that is where the controller gives up (robfig/cron v3.0.1, ``SpecSchedule.Next``).

        It is what robfig answers, be it wrong: in an hour that clocks show twice and that does not
        start on the hour (Pacific/Chatham, 02:45 to 03:45) this may be an earlier instant than
        ``after``. To go from one fire to the next, use `between`.

        Raises:
            InvalidSchedule: it is an ``@every``, which has no instants of its own.
            InvalidKey: ``after`` is naive, or lies outside of the years 1970 to 2999.
        """
        found = next_fire(self._fields(), self.clock, _seconds(after))
        return None if found is None else EPOCH + found * _SECOND

    def between(self, start: datetime, end: datetime) -> Iterator[datetime]:
        """Return the instants with ``start < instant <= end`` at which it fires, in order, in UTC.

        They are what repeated calls of `next` give, as the controller goes on from one to the next,
        but for those that lead back. (Where clocks shift by half an hour, the one at which it
        starts may decide what comes.)

        Raises:
            InvalidSchedule, InvalidKey: at once, as `next` does.
        """
        return self._chain(self._fields(), _seconds(start), _seconds(end))

    def _chain(self, fields: Fields, at: int, end: int) -> Iterator[datetime]:
        while (found := later_fire(fields, self.clock, at)) is not None and found <= end:
            yield EPOCH + found * _SECOND
            at = found

    def _fields(self) -> Fields:
        if self.fields is None:
            raise InvalidSchedule(
                f"schedule {self.text!r} counts from one start to the next and has no instants of "
                "its own, so its periods are not known and nothing was done: write five fields "
                f"instead, e.g. {fields_like(self.every or 1)!r}."
            )
        return self.fields


def parse(text: str, zone: str) -> Schedule:
    """Read a CronJob's ``schedule`` and ``timeZone`` (an IANA name) as Kubernetes does.

    Raises:
        InvalidSchedule: it is no schedule; the message has the field, and what would be right.
        ConfigError: the zone is unknown.
    """
    there = clock(zone)
    try:
        return Schedule(text, zone, *_read(text), there)
    except Misread as wrong:
        raise InvalidSchedule(
            f"schedule {text!r}: {wrong.what}, so no period was worked out and nothing was done: "
            f"{wrong.instead}."
        ) from None


def _read(text: str) -> tuple[Fields | None, int | None]:
    if "TZ" in text:  # the API server looks no closer (batch/validation.go)
        raise Misread("a time zone stands in it", "leave out TZ=…, and set timeZone beside it")
    if text.startswith(_EVERY):
        return None, read_every(text.removeprefix(_EVERY))
    if text.startswith("@"):
        return read_fields(_descriptor(text)), None
    return read_fields(text), None


def _descriptor(text: str) -> str:
    if text in DESCRIPTORS:
        return DESCRIPTORS[text]
    meant = text.strip().lower()
    known = meant if meant in DESCRIPTORS else ", ".join([*DESCRIPTORS, "@every 90m"])
    raise Misread("there is no such word", f"write {known}, or five fields")


def _seconds(instant: object) -> int:
    """Return an aware instant as whole seconds since 1970, rounded down."""
    if not isinstance(instant, datetime) or instant.utcoffset() is None:
        raise InvalidKey(
            f"{instant!r} is not an instant with a time zone, so no period was worked out and "
            "nothing was done: pass an aware datetime, e.g. datetime(2026, 9, 13, tzinfo=UTC)."
        )
    if not _FIRST_YEAR <= instant.year <= _LAST_YEAR:
        raise InvalidKey(
            f"instant {instant.isoformat()} lies outside of the years {_FIRST_YEAR + 1} to "
            f"{_LAST_YEAR - 1}, so no period was worked out and nothing was done: check where it "
            "comes from."
        )
    return (instant - EPOCH) // _SECOND
