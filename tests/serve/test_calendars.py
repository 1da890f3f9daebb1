"""The calendar's tables: each period in its cell, by the job's own clocks."""

from __future__ import annotations

from k8sjob.cycle import Cycle
from k8sjob.serve.calendar import Cell, legend
from k8sjob.serve.window import Wish
from tests.serve.paper import Paper, letters, period_row
from tests.serve.scene import at


def cell_of(paper: Paper, link: str) -> Cell:
    """Return the cell that leads to a period."""
    cells = [c for table in paper.grids for row in table.rows for c in row.cells if c]
    (found,) = [cell for cell in cells if cell.link == f"?period={link}"]
    return found


def test_a_daily_job_has_a_table_a_month_with_a_row_a_week() -> None:
    rows = [
        period_row("2026-09-10T00:00:00Z"),
        period_row("2026-09-11T00:00:00Z", "open"),
        period_row("2026-09-12T00:00:00Z", "skipped", reason="holiday"),
    ]
    tables = Paper(rows=rows).grids
    assert [table.caption for table in tables] == ["July 2026", "August 2026", "September 2026"]
    assert tables[2].columns == ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    assert letters(tables[2]) == {
        "W36": " ......",
        "W37": "...DMS.",
        "W38": ".......",
        "W39": ".......",
        "W40": "...    ",
    }


def test_a_cell_says_all_of_its_period_and_leads_to_it() -> None:
    missing = period_row("2026-09-11T00:00:00Z", "open", reason="no Job was created")
    cell = cell_of(Paper(rows=[missing]), "2026-09-11T00:00:00Z")
    assert cell.number == "11"
    assert cell.label == (
        "2026-09-11T00:00:00Z (Fri 11 Sep 02:00 Europe/Rome) missing: no Job was created"
    )


def test_a_period_stands_on_the_day_that_the_jobs_clocks_show() -> None:
    late = period_row("2026-09-10T22:30:00Z")
    assert cell_of(Paper("30 0 * * *", rows=[late]), "2026-09-10T22:30:00Z").number == "11"


def test_a_day_is_that_day_in_every_zone() -> None:
    rows = [period_row("2026-09-11", zone="Pacific/Auckland")]
    for zone in ("Europe/Rome", "Pacific/Auckland", "America/New_York"):
        assert cell_of(Paper("0 2 * * *", zone, Cycle.DAY, rows), "2026-09-11").number == "11"


def test_today_is_marked() -> None:
    cells = [c for t in Paper().grids for row in t.rows for c in row.cells if c and c.now]
    assert [cell.number for cell in cells] == ["13"]


def test_an_hour_that_happens_twice_shares_a_cell_which_tells_the_worse_of_the_two() -> None:
    rows = [period_row("2026-10-25T00:30:00Z"), period_row("2026-10-25T01:30:00Z", "open")]
    paper = Paper("30 2 * * *", rows=rows, now=at("2026-10-26 12:00"))
    cell = cell_of(paper, "2026-10-25T01:30:00Z")
    assert cell.sign
    assert cell.sign.letter == "M"
    assert cell.label.startswith("2 periods: 1 done, 1 missing; 2026-10-25T01:30:00Z")


def test_parts_share_the_cell_of_their_period() -> None:
    rows = [period_row("2026-09-11T00:00:00Z", "done"),
            period_row("2026-09-11T00:00:00Z", "blocked", "mail", reason="no host")]  # fmt: skip
    cell = cell_of(Paper(rows=rows), "2026-09-11T00:00:00Z")
    assert cell.sign
    assert cell.sign.letter == "B"
    assert "mail:2026-09-11T00:00:00Z" in cell.label
    assert cell.label.endswith("blocked: no host")


def test_an_uncertain_period_has_a_sign_of_its_own() -> None:
    row = period_row("2026-09-11T00:00:00Z", "open", uncertain=True)
    cell = cell_of(Paper(rows=[row]), "2026-09-11T00:00:00Z")
    assert cell.sign
    assert (cell.sign.name, cell.sign.letter) == ("uncertain", "?")


def test_a_weekly_job_has_a_row_a_month() -> None:
    rows = [period_row("2026-08-31T02:00:00Z"), period_row("2026-09-07T02:00:00Z", "open")]
    tables = Paper("0 4 * * 1", rows=rows).grids
    assert [t.caption for t in tables] == ["Oct 2025 to Mar 2026", "Apr 2026 to Sep 2026"]
    assert letters(tables[1]) == {
        "Apr 2026": ".... ",
        "May 2026": ".... ",
        "Jun 2026": ".....",
        "Jul 2026": ".... ",
        "Aug 2026": "....D",
        "Sep 2026": "M... ",
    }


def test_a_week_counts_to_the_month_of_its_monday() -> None:
    rows = [period_row("2026-W40")]
    tables = Paper("0 4 * * 5", kind=Cycle.WEEK, rows=rows).grids
    assert letters(tables[-1])["Sep 2026"] == "...D "


def test_a_monthly_job_has_a_row_a_year_from_the_first_that_it_was_there() -> None:
    rows = [period_row("2025-12-01T05:00:00Z"), period_row("2026-02-01T05:00:00Z", "open")]
    (table,) = Paper("0 6 1 * *", rows=rows).grids
    assert letters(table) == {"2025": "...........D", "2026": ".M.........."}


def test_an_hourly_job_has_a_row_a_day() -> None:
    rows = [period_row("2026-09-12T22:00:00Z"), period_row("2026-09-13T17:00:00Z", "open")]
    (table,) = Paper("0 * * * *", rows=rows).grids
    assert table.columns[:2] == ["00:00", "01:00"]
    assert len(table.rows) == 14
    assert letters(table)["Sun 13 Sep"] == "D..................M...."
    assert [row.head for row in table.rows if row.now] == ["Sun 13 Sep"]


def test_a_minutely_job_has_rows_of_half_an_hour_those_left_out_that_have_nothing() -> None:
    rows = [period_row("2026-09-13T17:02:00Z", "open"), period_row("2026-09-13T17:03:00Z")]
    (table,) = Paper("* * * * *", rows=rows).grids
    assert table.columns[:2] == ["+0:00", "+0:01"]
    assert list(letters(table)) == ["Sun 13 Sep 19:00", "Sun 13 Sep 21:00"]
    assert letters(table)["Sun 13 Sep 19:00"] == "..MD".ljust(30, ".")


def test_a_time_that_the_schedule_does_not_name_has_a_column_too() -> None:
    (table,) = Paper("0 2,14 * * *", rows=[period_row("2026-09-13T09:15:30Z")]).grids
    assert table.columns == ["02:00", "11:15:30", "14:00"]


def test_the_legend_has_what_the_tables_have() -> None:
    rows = [period_row("2026-09-10T00:00:00Z"), period_row("2026-09-11T00:00:00Z", "open")]
    assert [sign.letter for sign in legend(Paper(rows=rows).grids)] == ["M", "D"]


def test_another_window_has_other_tables() -> None:
    tables = Paper(wish=Wish(until="2025-02", span=6)).grids
    assert tables[0].caption == "September 2024"
    assert tables[-1].caption == "February 2025"
