"""A calendar is as fine as the job's periods are dense, and never has too many cells."""

from __future__ import annotations

from datetime import timedelta

import pytest

from k8sjob.cycle import Cycle
from k8sjob.schedule import parse
from k8sjob.serve.layout import CELLS, Layout, Plan, fires_of, last_fire, plan_of, schedule_of
from k8sjob.serve.window import Wish
from k8sjob.zones import zone
from tests.serve.paper import Paper, job_row
from tests.serve.scene import NOW, at

MINUTE = timedelta(minutes=1)


def plan(expr: str, kind: Cycle = Cycle.SCHEDULED, place: str = "Europe/Rome") -> Plan:
    return plan_of(kind, fires_of(parse(expr, place), NOW), zone(place))


@pytest.mark.parametrize(
    ("expr", "layout", "block"),
    [
        ("0 2 * * *", Layout.DAYS, 1440),
        ("0 9 * * 1-5", Layout.DAYS, 1440),
        ("0 0 */2 * *", Layout.DAYS, 1440),
        ("0 4 * * 1", Layout.WEEKS, 1440),
        ("0 0 1,15 * *", Layout.WEEKS, 1440),
        ("0 6 1 * *", Layout.MONTHS, 1440),
        ("0 0 1 1 *", Layout.MONTHS, 1440),
        ("0 0 30 2 *", Layout.DAYS, 1440),
        ("0 2,14 * * *", Layout.BLOCKS, 1440),
        ("0 9-17 * * 1-5", Layout.BLOCKS, 1440),
        ("0 * * * *", Layout.BLOCKS, 1440),
        ("*/30 * * * *", Layout.BLOCKS, 720),
        ("*/20 * * * *", Layout.BLOCKS, 360),
        ("*/15 * * * *", Layout.BLOCKS, 360),
        ("*/10 * * * *", Layout.BLOCKS, 240),
        ("*/5 * * * *", Layout.BLOCKS, 120),
        ("*/2 * * * *", Layout.BLOCKS, 60),
        ("* * * * *", Layout.BLOCKS, 30),
        ("* 9-10 * * 1-5", Layout.BLOCKS, 30),
        ("7,21,22 * * * *", Layout.BLOCKS, 480 - 120),
    ],
)
def test_the_layout_follows_the_density(expr: str, layout: Layout, block: int) -> None:
    found = plan(expr)
    assert found.layout is layout
    assert found.block == block * MINUTE


@pytest.mark.parametrize("expr", ["* * * * *", "0 2 * * *", "0 4 * * 1"])
def test_days_weeks_and_months_stand_in_tables_of_their_own_however_often_it_fires(
    expr: str,
) -> None:
    assert plan(expr, Cycle.DAY).layout is Layout.DAYS
    assert plan(expr, Cycle.WEEK).layout is Layout.WEEKS
    assert plan(expr, Cycle.MONTH).layout is Layout.MONTHS


def test_an_hour_that_happens_twice_makes_no_daily_job_denser() -> None:
    place = "Europe/Rome"
    fires = fires_of(parse("30 2 * * *", place), at("2026-10-20 12:00"))
    assert at("2026-10-25 01:30") - at("2026-10-25 00:30") == 60 * MINUTE
    assert {at("2026-10-25 00:30"), at("2026-10-25 01:30")} <= set(fires)
    assert plan_of(Cycle.SCHEDULED, fires, zone(place)).layout is Layout.DAYS


@pytest.mark.parametrize(
    "expr",
    [
        *("* * * * *", "*/2 * * * *", "*/3 * * * *", "*/5 * * * *", "*/7 * * * *", "*/10 * * * *"),
        *("*/15 * * * *", "*/30 * * * *", "0 * * * *", "0 */2 * * *", "0 2,14 * * *", "0 2 * * *"),
        *("0 4 * * 1", "0 6 1 * *", "* 9-10 * * *", "1,3,7,13,29,31 0-23 * * *", "0 9-17 * * 1-5"),
    ],
)
@pytest.mark.parametrize("place", ["Europe/Rome", "Asia/Kathmandu", "Etc/UTC"])
def test_no_window_has_many_more_cells_than_are_meant(expr: str, place: str) -> None:
    for span in plan(expr, place=place).spans:
        tables = Paper(expr, place, wish=Wish(span=span)).grids
        cells = sum(len(row.cells) for table in tables for row in table.rows)
        # Weeks of a month, and the weeks that two months share, leave cells empty.
        assert 0 < cells <= CELLS * 1.2, (span, cells)


def test_without_fires_days_are_shown() -> None:
    assert plan_of(Cycle.SCHEDULED, [], zone("Etc/UTC")).layout is Layout.DAYS


def test_the_next_fire_counts_however_far_it_is() -> None:
    assert fires_of(parse("0 0 1 1 *", "Etc/UTC"), NOW) == [at("2027-01-01 00:00")]


def test_a_schedule_that_never_fires_has_none() -> None:
    assert fires_of(parse("0 0 30 2 *", "Etc/UTC"), NOW) == []


@pytest.mark.parametrize(
    ("expr", "last"),
    [
        ("* * * * *", "2026-09-13 19:00"),
        ("0 2 * * 1", "2026-09-07 02:00"),
        ("0 2 1 * *", "2026-09-01 02:00"),
        ("0 2 1 1 *", "2026-01-01 02:00"),
    ],
)
def test_the_last_fire_is_found_however_long_ago_within_a_year(expr: str, last: str) -> None:
    assert last_fire(parse(expr, "Etc/UTC"), NOW) == at(last)


def test_no_fire_of_a_year_is_none() -> None:
    assert last_fire(parse("0 0 29 2 *", "Etc/UTC"), NOW) is None


@pytest.mark.parametrize(
    ("schedule", "place"), [(None, None), ("@every 5m", None), ("61 * * * *", None),
                            ("0 2 * * *", "Europe/Atlantis")],
)  # fmt: skip
def test_what_names_no_instants_is_no_schedule(schedule: str | None, place: str | None) -> None:
    assert schedule_of(job_row(schedule=schedule, schedule_zone=place)) is None
