"""A job's page: what is unfinished and what to do about it, the calendar, attempts, versions."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from k8sjob.serve.app import App
from k8sjob.serve.site import Site
from tests.serve import scene
from tests.serve.client import Client, Element
from tests.serve.conftest import find_reader

if TYPE_CHECKING:
    from tests.fix_stores import Database

CREDIT = "/jobs/billing/daily-credit"


def facts(element: Element) -> dict[str, str]:
    """Return what stands in the first list of facts."""
    found = element.all("dl")[0]
    return dict(
        zip((d.text for d in found.all("dt")), (d.text for d in found.all("dd")), strict=True)
    )


def commands(element: Element) -> list[str]:
    """Return the lines to paste."""
    return [one.text for one in element.all("code", "command")]


def cells(page: Element) -> list[Element]:
    """Return the cells of the calendar that stand for periods."""
    return page.one("div", "grids").all("a", "cell")


def test_the_page_tells_what_the_job_is(client: Client) -> None:
    page = client.get(CREDIT).page
    assert page.one("title").text == "billing/daily-credit · k8sjob"
    assert page.one("div", "head").one("span", "chip").text == "M missing"
    assert facts(page.one("section", "about")) == {
        "Schedule": "0 2 * * * Europe/Rome",
        "Last done": "2026-09-13T00:00:00Z last success 60m ago",
        "Failed in a row": "3",
        "Owner": "payments page",
        "Runbook": "https://example.org/credit",
        "Reconciler": "last complete pass 20s ago, usually one every 60s",
        "Limits": "grace 15m, max-lateness 2h, manual-runs oldest-missing, catch-up flag",
        "Tracked": (
            "since 2026-01-01 00:00:00Z, what was due is stored up to 2026-09-13 18:40:00Z"
        ),
        "Attempts ever": "72 applied, 1 failed, 2 lost",
    }


def test_unfinished_periods_come_first_with_reason_deadline_and_what_to_do(client: Client) -> None:
    section = client.get(CREDIT).page.one("section", **{"aria-labelledby": "h-unfinished"})
    first, second = section.all("article")
    assert first.one("h3").text == "M missing 2026-09-11T00:00:00Z 2d late"
    assert first.one("p", "reason").text == "no Job was created (controller down?)"
    assert facts(first) == {
        "Scheduled": "2026-09-11 00:00:00Z Fri 11 Sep 02:00 Europe/Rome 2d ago",
        "Deadline": "2026-09-11 00:15:00Z Fri 11 Sep 02:15 Europe/Rome 2d ago",
        "Tried": "no attempt is known",
    }
    again = "k8sjob backfill billing/daily-credit --from {0} --to {0}"
    assert commands(first) == [
        again.format("2026-09-11T00:00:00Z"),
        'k8sjob skip billing/daily-credit:2026-09-11T00:00:00Z --reason "…"',
    ]
    assert facts(second)["Tried"] == "3 attempts"
    assert section.one("p", "at-once").one("code").text == (
        "k8sjob backfill billing/daily-credit --from 2026-09-11T00:00:00Z --to 2026-09-12T00:00:00Z"
    )


def test_attempts_are_folded_with_their_last_output(client: Client) -> None:
    article = client.get(CREDIT).page.all("article")[1]
    details = article.all("details")[0]
    assert "open" not in details.attributes
    assert details.all("summary")[0].text == "Attempts (3)"
    tries = details.all("li", "try")
    assert [one.one("strong", "outcome").text for one in tries] == ["failed", "lost", "lost"]
    assert "exit 1 after 41s 2026-09-12 00:02:31Z" in tries[0].text
    assert tries[0].one("p", "message").text == "KeyError: 'balance'"
    (pre,) = tries[0].all("pre")
    assert pre.children[0] == scene.TRACEBACK


@pytest.mark.parametrize(
    ("job", "advice"),
    [
        ("billing/invoices", 'k8sjob release billing/invoices:2026-09-01T04:00:00Z --reason "…"'),
        ("data/export", 'k8sjob confirm data/export:2026-09-07T02:00:00Z --reason "…"'),
        ("data/ingest", "k8sjob get attempts data/ingest:2026-09-13T18:55:00Z"),
    ],
)
def test_each_state_has_its_own_command(client: Client, job: str, advice: str) -> None:
    assert commands(client.get(f"/jobs/{job}").page.all("article")[0])[0] == advice


def test_a_job_with_nothing_unfinished_says_so(client: Client) -> None:
    section = client.get("/jobs/ops/backup").page.one(
        "section", **{"aria-labelledby": "h-unfinished"}
    )
    assert section.one("p", "is-done").text == "Nothing is unfinished."


def test_beyond_twenty_periods_the_rest_is_counted(own: Client, painted: Database) -> None:
    with painted.connect("admin", autocommit=True) as conn:
        conn.execute("UPDATE k8sjob.periods SET state = 'open', done_at = NULL, reason = 'lost' "
                     "WHERE job = 'billing/daily-credit' AND period > '2026-08-20'")  # fmt: skip
    page = own.get(CREDIT).page
    section = page.one("section", **{"aria-labelledby": "h-unfinished"})
    articles = section.all("article")
    assert len(articles) == 20
    assert section.one("h2").text == "Unfinished 25"
    assert [bool(one.all("summary")) for one in articles[:5]] == [False] * 3 + [True] * 2
    assert "And 5 more, all of them later: k8sjob get periods billing/daily-credit" in section.text


def test_a_hold_is_told(client: Client) -> None:
    banner = client.get("/jobs/shop/newsletter").page.one("div", "banner")
    assert banner.text.startswith("Held. shop/newsletter: bank holiday, no feed, by ann")


def test_the_versions_of_the_schedule_are_told_the_newest_first(client: Client) -> None:
    rows = client.get("/jobs/shop/prices").page.one("table", "plain").one("tbody").all("tr")
    assert [row.text for row in rows] == [
        "2 30 4 * * * Europe/Rome between 2026-09-12 02:00:00Z and 2026-09-12 04:00:00Z in force",
        "1 0 5 * * * Europe/Rome 2026-01-01 00:00:00Z 2026-09-12 04:00:00Z",
    ]


def test_the_next_fires_are_told_in_both_times(client: Client) -> None:
    found = client.get("/jobs/data/export").page.one("ol", "next").all("li")
    assert len(found) == 5
    assert found[0].text == "2026-09-14 02:00:00Z Mon 14 Sep 04:00 Europe/Rome in 7h"


@pytest.mark.parametrize("job", ["data/archive", "shop/old-report", "data/rebuild"])
def test_what_fires_no_more_has_no_next(client: Client, job: str) -> None:
    assert not client.get(f"/jobs/{job}").page.all("ol", "next")


# ----------------------------------------------------------------------------------- a period


def test_a_period_is_told_whole(own: Client, painted: Database) -> None:
    with painted.connect("operator") as conn:
        conn.execute(
            "SELECT k8sjob.reopen('ops/backup', '2026-09-13T01:15:00Z', 'wrong disk', 'ann')"
        )
        conn.commit()
    page = own.get("/jobs/ops/backup?period=2026-09-13T01:15:00Z").page
    card = page.one("article", id="period")
    assert card.one("ol", "events").text.endswith("done → open by ann : wrong disk")
    assert "open" in card.all("details")[0].attributes
    assert facts(card)["Generation"] == "1"


def test_a_done_period_says_how_it_would_be_done_again(client: Client) -> None:
    page = client.get("/jobs/ops/backup?period=2026-09-12T01:15:00Z").page
    card = page.one("article", id="period")
    assert card.one("h3").text == "D done 2026-09-12T01:15:00Z"
    assert facts(card)["Done"] == "2026-09-12 01:15:07Z"
    assert card.one("div", "advice").one("li").text == (
        'k8sjob reopen ops/backup:2026-09-12T01:15:00Z --reason "…" nothing. To do it again'
    )


def test_a_period_that_was_never_there_is_not_there(client: Client) -> None:
    got = client.get("/jobs/ops/backup?period=2026-09-12T01:16:00Z")
    assert got.status == 404
    assert "neither a row nor an attempt" in got.text


# ------------------------------------------------------------------------------- what is wrong


@pytest.mark.parametrize(
    ("address", "status", "words"),
    [
        ("/jobs/billing/daily-kredit", 404, "Did you mean billing/daily-credit?"),
        ("/jobs/UPPER/case", 400, "breaks the rules of a namespace"),
        (f"{CREDIT}?until=soon", 400, "is no time of a calendar"),
        (f"{CREDIT}?span=0", 400, "is no number from 1"),
        (f"{CREDIT}?period=2026-9-1", 400, "is not written as a period is"),
        (f"{CREDIT}?ledger=north", 404, "there is no ledger 'north' here"),
        (f"{CREDIT}?zoom=2", 400, "there is no parameter 'zoom' here"),
        ("/jobs/billing/a%00b", 400, "breaks the rules"),
    ],
)
def test_what_is_wrong_is_told(client: Client, address: str, status: int, words: str) -> None:
    got = client.get(address)
    assert got.status == status
    assert words in got.page.one("main").text


def test_a_job_of_several_ledgers_is_told_of_one_with_a_link_to_the_others(
    painted: Database,
) -> None:
    finds = find_reader(painted)
    with closing(Site({**finds, "south": finds["default"]}, now=lambda _: scene.NOW)) as site:
        client = Client(App.of(site))
        page = client.get(CREDIT).page
        assert facts(page.one("section", "about"))["Ledger"] == "default, also in south"
        other = page.one("a", href=f"{CREDIT}?ledger=south").attributes["href"]
        page = client.get(other).page
    assert facts(page.one("section", "about"))["Ledger"] == "south"
    assert all("ledger=south" in one.attributes["href"] for one in cells(page))


def test_a_zone_that_is_not_known_here_is_shown_in_utc(own: Client, painted: Database) -> None:
    with painted.connect("admin", autocommit=True) as conn:
        conn.execute("UPDATE k8sjob.jobs SET zone = 'Europe/Atlantis' WHERE job = 'ops/backup'")
        conn.execute("UPDATE k8sjob.schedule_versions SET zone = 'Europe/Atlantis' "
                     "WHERE job = 'ops/backup'")  # fmt: skip
    got = own.get("/jobs/ops/backup")
    assert got.status == 200
    assert got.page.one("h2", id="h-calendar").text == "Calendar days and times of Etc/UTC"
