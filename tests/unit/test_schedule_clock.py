"""The clocks of a zone change when its file says so, and Go decides what a reading stands for."""

from __future__ import annotations

import struct
from functools import cache
from importlib.resources import files
from itertools import pairwise

import pytest

from k8sjob.schedule.clock import DAY, Clock, clock
from k8sjob.zones import zone

#: The years 2000 to 2037: after those, zone files have rules instead of changes.
FIRST, LAST = 946_684_800, 2_145_916_800
NAMES = files("tzdata").joinpath("zones").read_text().split()


@cache
def listed_changes(name: str) -> list[tuple[int, int]]:
    """Return when the offset changes, and to what, from the zone's TZif file (RFC 9636)."""
    data = files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes()
    isutc, isstd, leaps, times, types, chars = struct.unpack(">6l", data[20:44])
    second = 44 + times * 5 + types * 6 + chars + leaps * 8 + isstd + isutc
    times, types = struct.unpack(">2l", data[second + 32 : second + 40])
    body = data[second + 44 :]
    at = struct.unpack(f">{times}q", body[: 8 * times])
    kinds = body[8 * times : 9 * times]
    offsets = [o for o, _, _ in struct.iter_unpack(">lBB", body[9 * times : 9 * times + 6 * types])]
    return [
        (when, offsets[kind])
        for when, kind, before in zip(at, kinds, (0, *kinds), strict=False)
        if offsets[kind] != offsets[before]
    ]


def zones_of_their_own() -> list[str]:
    """Return a name of each zone; others are its aliases, and have the same file."""
    folder = files("tzdata").joinpath("zoneinfo")
    return list({folder.joinpath(*n.split("/")).read_bytes(): n for n in NAMES}.values())


def test_no_change_that_a_zones_file_lists_is_overlooked() -> None:
    wrong = []
    for name in zones_of_their_own():
        listed = [change for change in listed_changes(name) if FIRST < change[0] <= LAST]
        until = max([FIRST, *(when for when, _ in listed)])
        found = Clock(zone(name)).changes(FIRST, until)
        if [(after.start, after.offset) for _, after in found] != listed:
            wrong.append(name)
    assert wrong == []
    assert len(zones_of_their_own()) > 300


def test_no_stretch_of_any_zone_is_shorter_than_the_steps_in_which_changes_are_looked_for() -> None:
    shortest = min(
        later - earlier
        for name in NAMES
        for (earlier, _), (later, _) in pairwise(listed_changes(name))
    )
    assert 5 * DAY < shortest < 7 * DAY


def test_what_is_known_of_a_zone_does_not_depend_on_the_order_of_questions() -> None:
    asked = Clock(zone("Europe/Berlin"))
    for year in (0, 30, 1000, 56, -1, 57, 5, 80):
        instant = year * 365 * DAY
        fresh = Clock(zone("Europe/Berlin")).stretch(instant)
        assert asked.stretch(instant).offset == fresh.offset
        assert asked.stretch(instant).start <= instant < asked.stretch(instant).end
        assert asked.changes(instant, instant + 500 * DAY) == Clock(zone("Europe/Berlin")).changes(
            instant, instant + 500 * DAY
        )


def test_a_zone_whose_clocks_never_change_has_one_offset() -> None:
    kolkata = clock("Asia/Kolkata")
    assert kolkata.offset(1_800_000_000) == 19_800
    assert kolkata.changes(0, 2_000_000_000) == []


@pytest.mark.parametrize(
    ("name", "reading", "instant"),
    [
        # What time.Date of Go answers: before a gap in the west, after it in the east, and of two
        # instants the first in the west and the second in the east.
        pytest.param("America/New_York", (2025, 3, 9, 2, 30), 1741501800, id="gap-west"),
        pytest.param("Europe/Berlin", (2026, 3, 29, 2, 30), 1774747800, id="gap-east"),
        pytest.param("America/New_York", (2025, 11, 2, 1, 30), 1762061400, id="twice-west"),
        pytest.param("Europe/Berlin", (2026, 10, 25, 2, 30), 1792891800, id="twice-east"),
        pytest.param("UTC", (2026, 13, 32, 0, 0), 1801440000, id="normalized"),
    ],
)
def test_a_reading_stands_for_the_instant_that_go_takes(
    name: str, reading: tuple[int, int, int, int, int], instant: int
) -> None:
    assert clock(name).instant(*reading) == instant
