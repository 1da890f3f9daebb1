"""Time zones by their IANA names, and when a day begins in them.

The rules come from the ``tzdata`` package, so that every image and every laptop works out the same
periods, whatever its system knows.
"""

from __future__ import annotations

from bisect import bisect_left
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Any

from k8sjob.errors import ConfigError

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo


@cache
def zone(name: str) -> ZoneInfo:
    """Return the IANA zone ``name``, with the rules of the ``tzdata`` package.

    Names are those that tzdata lists, letter by letter. So ``Local``, a path and another case are
    unknown everywhere, as they are to Kubernetes on Linux.

    Raises:
        ConfigError: the name is unknown; the message has the nearest known one.
    """
    # Imported here: 5 ms, and a scheduled period never needs a zone.
    from zoneinfo import ZoneInfo  # noqa: PLC0415

    names = _read("zones").decode("ascii").split()
    if name not in names:
        raise ConfigError(
            f"time zone {name!r} is not in the IANA database (package tzdata), so no period was "
            f"worked out and nothing was done: write {_nearest(str(name), names)}."
        )
    # from_file leaves zoneinfo's cache and search path alone: they are the program's, not ours.
    return ZoneInfo.from_file(BytesIO(_read("zoneinfo", *name.split("/"))), key=name)


def start_of(day: date, zone_name: str) -> datetime:
    """Return the first UTC instant at which the clocks of a zone show ``day``, or a later day.

    Of two midnights (clocks went back) it is the first. Where there is no midnight (clocks went
    forward) it is the instant at which they jumped.

    Raises:
        ConfigError: the zone is unknown.
    """
    there = zone(zone_name)
    midnight = datetime.combine(day, time())
    # PEP 495: fold=0 is the first of two midnights; where there is none it lies past the jump.
    found = midnight.replace(tzinfo=there).astimezone(UTC)
    if found.astimezone(there).replace(tzinfo=None) == midnight:
        return found
    return _jump_over(midnight, found, there)


def _jump_over(midnight: datetime, after: datetime, there: ZoneInfo) -> datetime:
    """Return the instant at which clocks jumped over ``midnight``; ``after`` is not before it."""
    # PEP 495: in a gap fold=1 lies before the jump. Rules have whole seconds (RFC 9636, section 3).
    before = midnight.replace(tzinfo=there, fold=1).astimezone(UTC)

    def late_enough(second: int) -> bool:
        clock = (before + timedelta(seconds=second)).astimezone(there)
        return clock.replace(tzinfo=None) >= midnight

    seconds = range(int((after - before).total_seconds()))
    return before + timedelta(seconds=bisect_left(seconds, x=True, key=late_enough))


def _read(*path: str) -> bytes:
    """Read a file of the tzdata package."""
    package = import_module("tzdata")
    # The loader itself: importlib.resources costs 27 ms more and pkgutil 9 ms, for the same bytes.
    loader: Any = package.__loader__
    data: bytes = loader.get_data("/".join([package.__path__[0], *path]))
    return data


def _nearest(wrong: str, names: list[str]) -> str:
    """Return the known name that is most like ``wrong``, or two examples."""
    # Imported here: 7 ms, and only an error message needs it.
    from difflib import get_close_matches  # noqa: PLC0415

    known = {name.lower(): name for name in names}
    wanted = wrong.strip().lower().replace(" ", "_")
    # Short names are all alike (CEST is not EST): there only the case or the continent may differ.
    cutoff = 0.7 if "/" in wanted else 1.0
    found = get_close_matches(wanted, known, n=1, cutoff=cutoff) or [
        low for low in known if low.endswith(f"/{wanted}")
    ]
    return known[found[0]] if found else "a name such as Europe/Berlin or Etc/UTC"
