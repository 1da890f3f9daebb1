"""Zones come from tzdata by their exact names, and a day begins when its clocks first show it."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, date, datetime, timedelta
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from k8sjob.errors import ConfigError
from k8sjob.zones import start_of, zone

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.fixture
def system_with_wrong_rules(tmp_path: Path) -> Iterator[None]:
    """Have a system whose Europe/Berlin has the rules of Tokyo."""
    rules = files("tzdata").joinpath("zoneinfo", "Asia", "Tokyo").read_bytes()
    (tmp_path / "Europe").mkdir()
    (tmp_path / "Europe" / "Berlin").write_bytes(rules)
    before = zoneinfo.TZPATH
    zoneinfo.reset_tzpath([tmp_path])
    zone.cache_clear()
    yield
    zoneinfo.reset_tzpath(before)
    zone.cache_clear()


@pytest.mark.usefixtures("system_with_wrong_rules")
def test_the_rules_of_the_system_are_not_used() -> None:
    noon = datetime(2026, 7, 1, 12, tzinfo=UTC)
    assert noon.astimezone(zoneinfo.ZoneInfo.no_cache("Europe/Berlin")).hour == 21
    assert noon.astimezone(zone("Europe/Berlin")).hour == 14


def test_the_program_keeps_the_zones_and_the_search_path_it_had() -> None:
    path, own = zoneinfo.TZPATH, zoneinfo.ZoneInfo("Europe/Berlin")
    assert zone("Europe/Berlin") is not own
    assert zoneinfo.ZoneInfo("Europe/Berlin") is own
    assert path == zoneinfo.TZPATH


def test_a_zone_is_read_once() -> None:
    assert zone("Asia/Kolkata") is zone("Asia/Kolkata")


def test_every_zone_that_tzdata_lists_can_be_read() -> None:
    names = files("tzdata").joinpath("zones").read_text().split()
    assert len(names) > 500
    assert [zone(name).key for name in names] == names


@pytest.mark.parametrize(
    "name",
    [
        "Local",
        "local",
        "localtime",
        "posixrules",
        "",
        ".",
        "Europe",
        "zone.tab",
        "tzdata.zi",
        "../zones",
        "../etc/passwd",
        "/etc/localtime",
        "Europe/../Europe/Berlin",
        "Europe//Berlin",
        "Europe/Berlin\n",
        " Europe/Berlin",
        "EUROPE/BERLIN",
        "utc",
        "UTC+1",
        "CEST",
    ],
)
def test_a_name_that_tzdata_does_not_list_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=r"is not in the IANA database.*nothing was done: write"):
        zone(name)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("europe/berlin", "Europe/Berlin"),
        ("Europe/Berlin ", "Europe/Berlin"),
        ("Europe/Belrin", "Europe/Berlin"),
        ("Berlin", "Europe/Berlin"),
        ("America/New York", "America/New_York"),
        ("utc", "UTC"),
        ("CEST", "a name such as Europe/Berlin or Etc/UTC"),
        ("../etc/passwd", "a name such as Europe/Berlin or Etc/UTC"),
    ],
)
def test_the_message_names_the_nearest_zone_if_there_is_one(wrong: str, right: str) -> None:
    with pytest.raises(ConfigError) as caught:
        zone(wrong)
    assert str(caught.value).endswith(f"write {right}.")


@pytest.mark.parametrize(
    ("name", "day", "start"),
    [
        pytest.param("UTC", "2026-09-13", "2026-09-13T00:00:00Z", id="utc"),
        pytest.param("Europe/Berlin", "2026-09-13", "2026-09-12T22:00:00Z", id="summer-time"),
        pytest.param("Asia/Kathmandu", "2026-09-13", "2026-09-12T18:15:00Z", id="quarter-hours"),
        pytest.param("Africa/Monrovia", "1971-06-01", "1971-06-01T00:44:30Z", id="half-minutes"),
        pytest.param("Etc/GMT-2", "2999-07-01", "2999-06-30T22:00:00Z", id="far-future"),
        pytest.param("America/Havana", "2024-11-03", "2024-11-03T04:00:00Z", id="midnight-twice"),
        pytest.param("America/St_Johns", "1990-10-28", "1990-10-28T02:30:00Z", id="back-over-it"),
        pytest.param("America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z", id="no-midnight"),
        pytest.param("America/Toronto", "1919-03-31", "1919-03-31T04:30:00Z", id="jump-before-it"),
        pytest.param("Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z", id="no-such-day"),
    ],
)
def test_a_day_starts_when_its_clocks_first_show_it(name: str, day: str, start: str) -> None:
    found = start_of(date.fromisoformat(day), name)
    assert (found, found.tzinfo) == (at(start), UTC)


@pytest.mark.parametrize("name", ["America/Toronto", "America/Sao_Paulo", "America/Havana"])
def test_a_second_before_its_start_a_day_is_not_there(name: str) -> None:
    for day in (date(1919, 3, 31), date(2018, 11, 4), date(2024, 11, 3)):
        before = start_of(day, name) - timedelta(seconds=1)
        assert before.astimezone(zone(name)).date() < day
