"""Times as people read them: UTC, beside it the job's own time where its zone is known. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.errors import ConfigError
from k8sjob.zones import zone

if TYPE_CHECKING:
    from datetime import datetime

_DAY = "%a %d %b %H:%M"


def utc(at: datetime) -> str:
    """Return ``2026-09-14 19:00:00Z`` of an aware UTC time."""
    return f"{at:%Y-%m-%d %H:%M:%SZ}"


def local(at: datetime, zone_name: str | None) -> str:
    """Return ``Sun 13 Sep 02:00 Europe/Rome``; nothing where the zone is not known."""
    there = _there(at, zone_name)
    return f"{there:{_DAY}} {zone_name}" if there else ""


def beside(at: datetime, zone_name: str | None) -> str:
    """Return `utc`, with the local time in brackets; its day only where that is another one."""
    there = _there(at, zone_name)
    if there is None:
        return utc(at)
    form = "%H:%M" if there.date() == at.date() else _DAY
    return f"{utc(at)} ({there:{form}} {zone_name})"


def _there(at: datetime, zone_name: str | None) -> datetime | None:
    try:
        return at.astimezone(zone(zone_name)) if zone_name else None
    except ConfigError:  # a zone that another version of the data knows: UTC says enough
        return None
