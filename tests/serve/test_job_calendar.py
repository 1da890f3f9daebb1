"""The calendar of a job's page: what its cells tell, where they lead, and the other windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.serve.test_job_page import CREDIT, cells

if TYPE_CHECKING:
    from tests.serve.client import Client


def test_each_cell_is_a_letter_a_colour_and_a_sentence_and_leads_to_its_period(
    client: Client,
) -> None:
    page = client.get(CREDIT).page
    (cell,) = [one for one in cells(page) if one.attributes["title"].startswith("2026-09-11")]
    assert cell.classes == ["cell", "is-missing"]
    assert [one.text for one in cell.all("span")] == ["11", "M"]
    assert cell.attributes["title"] == cell.attributes["aria-label"]
    assert cell.attributes["title"] == (
        "2026-09-11T00:00:00Z (Fri 11 Sep 02:00 Europe/Rome) missing: "
        "no Job was created (controller down?)"
    )
    address = cell.attributes["href"]
    assert address == f"{CREDIT}?period=2026-09-11T00%3A00%3A00Z#period"
    (card,) = client.get(address.partition("#")[0]).page.all("article", id="period")
    assert card.one("h3").text == "M missing 2026-09-11T00:00:00Z 2d late"


def test_what_is_to_come_stands_in_the_calendar_too(client: Client) -> None:
    upcoming = [one for one in cells(client.get(CREDIT).page) if "is-upcoming" in one.classes]
    assert [one.one("span", "number").text for one in upcoming] == [str(n) for n in range(14, 31)]


def test_every_table_has_heads_for_rows_and_columns(client: Client) -> None:
    for job in ("billing/daily-credit", "ops/heartbeat", "data/export", "billing/invoices"):
        for table in client.get(f"/jobs/{job}").page.all("table"):
            assert all("scope" in one.attributes for one in table.all("th"))
            assert all(row.all("th", scope="row") for row in table.one("tbody").all("tr"))


@pytest.mark.parametrize(
    ("job", "letters"),
    [
        ("billing/daily-credit", "CDMS"),
        ("ops/heartbeat", "CDMU"),
        ("ops/vacuum", "CDSU"),
        ("data/export", "ACD"),
        ("billing/invoices", "BCD"),
        ("shop/prices", "?CD"),
        ("data/ingest", "CDRU"),
        ("shop/stock", "CD"),
        ("data/archive", "DP"),
        ("shop/old-report", "D"),
        ("data/rebuild", "D"),
    ],
)
def test_the_calendar_has_what_there_is_and_the_legend_explains_it(
    client: Client, job: str, letters: str
) -> None:
    page = client.get(f"/jobs/{job}").page
    found = {one.one("span", "letter").text for one in cells(page)}
    assert found == set(letters)
    legend = page.one("ul", "legend")
    assert {one.one("span", "letter").text for one in legend.all("span", "cell")} == found


def test_another_window_is_a_link_away(client: Client) -> None:
    page = client.get(CREDIT).page
    tools = page.one("div", "tools")
    assert [one.text for one in tools.all("a")] == [
        *("← Earlier", "6 months", "12 months", "Skip the calendar")
    ]
    earlier = tools.one("a", rel="prev").attributes["href"]
    assert earlier == f"{CREDIT}?until=2026-06#h-calendar"
    page = client.get(earlier.partition("#")[0]).page
    assert [one.text for one in page.one("div", "grids").all("caption")] == [
        *("April 2026", "May 2026", "June 2026")
    ]
    assert page.one("div", "tools").one("a", rel="next").attributes["href"] == (
        f"{CREDIT}?until=2026-09#h-calendar"
    )
    longer = client.get(f"{CREDIT}?span=12").page
    assert len(longer.one("div", "grids").all("table")) == 12
    assert longer.one("a", rel="prev").attributes["href"] == (
        f"{CREDIT}?until=2025-09&span=12#h-calendar"
    )


def test_on_a_sunday_a_job_of_weekdays_shows_its_last_days(client: Client) -> None:
    page = client.get("/jobs/billing/reminders").page
    assert len(cells(page)) > 50
