"""The overview: a line per job, the oldest unfinished period first, with counts and filters."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.ledger.settings import parse
from k8sjob.serve.app import App
from k8sjob.serve.site import Site
from tests.serve import scene
from tests.serve.client import Client, Element
from tests.serve.conftest import find_reader

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fix_stores import Database


def names(page: Element) -> list[str]:
    """Return the jobs that are listed, in their order."""
    return [
        row.one("a").text.replace(" ", "")
        for row in page.one("table", "jobs").all("th", scope="row")
    ]


def row_of(page: Element, job: str) -> list[str]:
    """Return the cells of a job's line as text."""
    rows = page.one("table", "jobs").one("tbody").all("tr")
    (row,) = [row for row in rows if row.one("th").one("a").text.replace(" ", "") == job]
    return [cell.text for cell in row.children if isinstance(cell, Element)]


def tiles(page: Element) -> dict[str, str]:
    """Return what the tiles on top say, by their words."""
    return {
        tile.one("span", "word").text: tile.one("span", "number").text
        for tile in page.all("a", "tile")
    }


def test_the_oldest_unfinished_period_comes_first_then_all_others_by_name(client: Client) -> None:
    assert names(client.get("/").page) == [
        "billing/invoices",
        "data/export",
        "billing/daily-credit",
        "shop/prices",
        "ops/heartbeat",
        "data/ingest",
        "ops/vacuum",
        "billing/reminders",
        "data/archive",
        "data/rebuild",
        "ops/backup",
        "shop/newsletter",
        "shop/old-report",
        "shop/stock",
    ]


def test_a_line_says_at_a_glance_how_a_job_is(client: Client) -> None:
    page = client.get("/").page
    assert row_of(page, "billing/daily-credit") == [
        "M 2 missing",
        "billing/ daily-credit 0 2 * * * Europe/Rome",
        (
            "2026-09-11T00:00:00Z 2d late Fri 11 Sep 02:00 Europe/Rome "
            "no Job was created (controller down?)"
        ),
        "2026-09-13T00:00:00Z 19h ago",
        "in 5h Mon 14 Sep 02:00 Europe/Rome",
        "payments page",
    ]
    assert row_of(page, "ops/vacuum")[:3] == [
        "U 1 due",
        "ops/ vacuum */30 * * * * Europe/Rome",
        "2026-09-13T19:00:00Z due by 19:15:00Z Sun 13 Sep 21:00 Europe/Rome no attempt is known",
    ]
    assert row_of(page, "ops/heartbeat")[0] == "M 3 missing, 1 due"
    assert row_of(page, "shop/prices")[0] == "? 1 uncertain"
    assert row_of(page, "shop/newsletter")[0] == "D up to date held: bank holiday, no feed"
    assert row_of(page, "data/archive")[::4] == ["P suspended", "suspended"]
    assert row_of(page, "shop/old-report")[::4] == ["G gone", "gone"]
    assert row_of(page, "data/rebuild")[1:] == [
        *("data/ rebuild no schedule known", "none", "2026-09-10T10:00:00Z 3d ago"),
        *("not known", "none"),
    ]


def test_a_letter_a_word_and_a_class_tell_the_state(client: Client) -> None:
    chips = client.get("/").page.one("table", "jobs").all("span", "chip")
    assert chips[2].classes == ["chip", "is-missing"]
    assert chips[2].one("span", "letter").attributes["aria-hidden"] == "true"


def test_the_table_says_that_it_is_one_also_where_it_is_shown_as_cards(client: Client) -> None:
    # On narrow screens it is laid out otherwise, and some browsers then see no table any more.
    table = client.get("/").page.one("table", "jobs")
    assert table.attributes["role"] == "table"
    roles = {"thead": "rowgroup", "tbody": "rowgroup", "tr": "row", "td": "cell"}
    for tag, role in roles.items():
        assert {one.attributes.get("role") for one in table.all(tag)} == {role}
    heads = {(one.attributes["scope"], one.attributes["role"]) for one in table.all("th")}
    assert heads == {("col", "columnheader"), ("row", "rowheader")}


def test_the_tiles_count_jobs_and_their_periods_and_lead_to_them(client: Client) -> None:
    page = client.get("/").page
    assert tiles(page) == {
        "missing": "2",
        "uncertain": "1",
        "blocked": "1",
        "awaiting": "1",
        "running": "1",
        "due": "3",
        "suspended": "1",
        "gone": "1",
        "up to date": "5",
    }
    missing = page.one("a", "is-missing")
    assert missing.one("span", "periods").text == "5 periods"
    assert missing.attributes["href"] == "/?state=missing"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("state=missing", ["billing/daily-credit", "ops/heartbeat"]),
        ("state=uncertain", ["shop/prices"]),
        ("state=due", ["ops/heartbeat", "data/ingest", "ops/vacuum"]),
        ("state=suspended", ["data/archive"]),
        ("state=gone", ["shop/old-report"]),
        ("namespace=shop&state=done", ["shop/newsletter", "shop/stock"]),
        ("namespace=billing", ["billing/invoices", "billing/daily-credit", "billing/reminders"]),
        ("owner=analytics&state=unfinished", ["data/export", "data/ingest"]),
        ("text=DECLINED", ["billing/invoices"]),
        ("text=marketing&namespace=shop&state=uncertain", ["shop/prices"]),
        ("text=9-17", ["billing/reminders"]),
        ("text=lling%2Fdaily", ["billing/daily-credit"]),
        ("text=&namespace=&state=&owner=platform", ["ops/heartbeat", "ops/vacuum", "ops/backup"]),
    ],
)
def test_filters_leave_the_others_out(client: Client, query: str, found: list[str]) -> None:
    page = client.get(f"/?{query}").page
    assert names(page) == found
    assert page.one("caption").text.startswith(f"{len(found)} of 14 jobs")
    assert tiles(page) == tiles(client.get("/").page)


def test_what_is_filtered_by_stands_in_the_form(client: Client) -> None:
    page = client.get("/?text=%22a%22&namespace=shop&state=due&owner=payments").page
    assert page.one("input").attributes["value"] == '"a"'
    chosen = {
        one.attributes["id"]: one.one("option", selected="").text for one in page.all("select")
    }
    assert chosen == {"f-namespace": "shop", "f-state": "due", "f-owner": "payments"}
    assert page.one("p", "empty").text == "No job is like that. Show all"


@pytest.mark.parametrize(
    "query", ["state=lost", "page=0", "page=x", "sort=name", "owner=a&owner=b"]
)
def test_a_filter_that_is_wrong_is_told(client: Client, query: str) -> None:
    got = client.get(f"/?{query}")
    assert got.status == 400
    assert "Nothing was read." in got.page.one("main").text


def test_a_thousand_jobs_have_ten_pages(own: Client, painted: Database) -> None:
    with painted.connect("admin") as conn:
        scene.many(conn, [f"many/job-{number:04}" for number in range(986)])
    first = own.get("/").page
    assert len(names(first)) == 100
    assert first.one("caption").text.endswith("; page 1 of 10")
    paging = first.one("nav", "paging")
    assert [link.text for link in paging.all("a")] == [
        *("Page 1", *(f"Page {number}" for number in range(2, 11)), "Next")
    ]
    assert paging.one("a", rel="next").attributes["href"] == "/?page=2"
    last = own.get("/?page=10").page
    assert names(last)[-1] == "shop/stock"
    assert not last.all("a", rel="next")
    assert names(own.get("/?page=99").page) == names(last)
    filtered = own.get("/?owner=many&page=2").page
    assert names(filtered)[0] == "many/job-0100"
    assert filtered.one("a", rel="prev").attributes["href"] == "/?owner=many"
    assert filtered.one("a", rel="next").attributes["href"] == "/?owner=many&page=3"


def test_a_ledger_without_jobs_says_how_they_come(db: Database) -> None:
    with closing(Site(find_reader(db))) as site:
        got = Client(App.of(site)).get("/")
    assert got.status == 200
    assert got.page.one("p", "empty").text.startswith("The ledger knows no job yet.")


# -------------------------------------------------------------------------------- how fresh it is


def test_a_reconciler_that_comes_is_told_in_a_line(client: Client) -> None:
    page = client.get("/").page
    assert page.one("p", "watch").text == (
        "Reconciler, all namespaces: last complete pass 20s ago, usually one every 60s"
    )
    assert not page.all("div", "banner")


def test_a_reconciler_that_has_not_come_for_long_is_told_loudly(painted: Database) -> None:
    later = scene.NOW + timedelta(minutes=10)
    with closing(Site(find_reader(painted), now=lambda _: later)) as site:
        page = Client(App.of(site)).get("/").page
    banner = page.one("div", role="alert")
    assert banner.text.startswith(
        "Nobody may be looking after all namespaces: last complete pass 10m ago"
    )
    assert not page.all("p", "watch")


def test_the_moment_is_that_of_the_ledgers_clock(client: Client) -> None:
    assert client.get("/").page.one("p", "as-of").one("time").text == "2026-09-13 19:00:00Z"


def test_what_could_not_be_worked_out_is_told(own: Client, painted: Database) -> None:
    with painted.connect("admin", autocommit=True) as conn:
        conn.execute("UPDATE k8sjob.schedule_versions SET expr = '61 * * * *' "
                     "WHERE job = 'ops/backup'")  # fmt: skip
    banner = own.get("/").page.one("div", "is-note")
    assert banner.text.startswith("ops/backup: what no row tells of yet is not shown")


def test_of_several_ledgers_one_that_is_away_is_told_and_the_others_stay(painted: Database) -> None:
    finds = {**find_reader(painted), "south": lambda: parse("postgresql://127.0.0.1:1/x", "test")}
    with closing(Site(finds, now=lambda _: scene.NOW)) as site:
        got = Client(App.of(site)).get("/?ledger=default")
    assert got.status == 200
    assert len(names(got.page)) == 14
    banner = got.page.one("div", role="alert")
    assert banner.text.startswith("Ledger south does not answer. Its jobs are not shown.")
    assert row_of(got.page, "ops/backup")[1].endswith("ledger default")
    link = got.page.one("table", "jobs").all("th", scope="row")[0].one("a")
    assert link.attributes["href"] == "/jobs/billing/invoices?ledger=default"


def test_a_ledger_in_a_file_among_others_is_told_as_away(
    painted: Database, sqlite_path: Path
) -> None:
    address = parse(f"sqlite:///{sqlite_path}", "K8SJOB_DSN")
    finds = {**find_reader(painted), "file": lambda: address}
    with closing(Site(finds, now=lambda _: scene.NOW)) as site:
        client = Client(App.of(site))
        for _ in range(3):
            got = client.get("/")
            assert got.status == 200
            assert "K8SJOB_DSN is a SQLite file" in got.page.one("div", role="alert").text
        assert client.get("/jobs/ops/backup").status == 200


def test_all_who_look_within_a_second_share_one_look(painted: Database) -> None:
    time = [100.0]

    def looks() -> Any:
        with painted.connect("admin", autocommit=True) as conn:
            return conn.execute(
                "SELECT state_change FROM pg_stat_activity "
                "WHERE application_name = 'k8sjob reader' AND datname = current_database()"
            ).fetchall()

    finds = find_reader(painted)
    with closing(Site(finds, now=lambda _: scene.NOW, clock=lambda: time[0])) as site:
        client = Client(App.of(site))
        client.get("/")
        first = looks()
        for _ in range(5):
            client.get("/?state=due")
        assert looks() == first
        time[0] += 1.5
        client.get("/")
        assert looks() != first
