"""When a CronJob fires: its schedule, time zone and starting deadline, read once for all rules."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from k8sjob.cycle import Cycle
from k8sjob.errors import ConfigError, InvalidSchedule
from k8sjob.kube import words
from k8sjob.schedule import parse
from k8sjob.schedule.explain import Kind, remarks
from k8sjob.zones import zone

if TYPE_CHECKING:
    from datetime import datetime

    from k8sjob.manifest.case import Case
    from k8sjob.schedule import Schedule
    from k8sjob.schedule.explain import Remark

#: What the schedule of a CronJob without timeZone is read in for want of anything better.
DEFAULT_ZONE = "Etc/UTC"

_ZONE_IN_SCHEDULE = re.compile(r"\s*(?:CRON_)?TZ=(\S*)\s*(.*)", re.DOTALL)
_NATURAL = frozenset(cycle for cycle in Cycle if cycle.on_calendar or cycle is Cycle.ONCE)


class Written(NamedTuple):
    """A schedule, and the time zone that stands in it; None where it has none."""

    schedule: str
    zone: str | None


@dataclass(frozen=True, slots=True)
class Reading:
    """What comes of a schedule in a zone; the error where it is no schedule."""

    schedule: Schedule | None = None
    error: str | None = None
    remarks: tuple[Remark, ...] = field(default=())

    def about(self, *kinds: Kind) -> list[Remark]:
        """Return the remarks of some kinds."""
        return [remark for remark in self.remarks if remark.kind in kinds]


def written(text: str) -> Written:
    """Take ``TZ=…`` and ``CRON_TZ=…`` off a schedule."""
    match = _ZONE_IN_SCHEDULE.fullmatch(text)
    return Written(match[2].strip(), match[1]) if match else Written(text, None)


def zone_name(case: Case) -> str | None:
    """Return the zone that is meant: timeZone, or else what stands in the schedule."""
    schedule = case.spec["schedule"].text
    return case.spec["timeZone"].text or (written(schedule).zone if schedule else None)


@lru_cache(maxsize=1024)  # the nearest name to an unknown one is not found in no time
def zone_error(name: str) -> str | None:
    """Return what is wrong with the name of a zone; None: nothing."""
    try:
        zone(name)
    except ConfigError as error:
        return str(error)
    return None


def reading(case: Case) -> Reading:
    """Return what comes of the CronJob's schedule in the year from now on."""
    text = case.spec["schedule"].text
    if text is None:
        return Reading()
    name = zone_name(case)
    if not name or zone_error(name):
        name = DEFAULT_ZONE
    return _read(written(text).schedule, name, case.now)


def has_natural_cycle(case: Case) -> bool:
    """Whether its periods are days, weeks, months or one: then a second fire does nothing."""
    return case.metadata.under("annotations", words.CYCLE).text in _NATURAL


# Charts give one schedule to many jobs, and several rules ask about each.
@lru_cache(maxsize=4096)
def _read(text: str, name: str, now: datetime) -> Reading:
    try:
        schedule = parse(text, name)
    except InvalidSchedule as error:
        return Reading(error=str(error))
    return Reading(schedule, None, tuple(remarks(schedule, now)))
