"""Whatever stands in names, reasons and outputs, it is text: it makes no element and no address."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from k8sjob.serve.app import App
from tests.fix_report import uses
from tests.fix_stores import fresh_database
from tests.serve import horrors
from tests.serve.client import Client, Element
from tests.serve.conftest import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fix_servers import Server
    from tests.fix_stores import Database
    from tests.template import Templates

#: All that the pages are made of.
TAGS = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "link",
        "body",
        "header",
        "nav",
        "main",
        "footer",
        "section",
    ),
    *("article", "div", "span", "p", "a", "img", "h1", "h2", "h3", "h4", "strong", "code", "pre"),
    *("bdi", "br", "wbr", "time", "ul", "ol", "li", "dl", "dt", "dd", "details", "summary"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td"),
    *("form", "label", "input", "select", "option", "button"),
}
ATTRIBUTES = {
    *("lang", "charset", "name", "content", "rel", "href", "type", "class", "id", "tabindex"),
    *("alt", "src", "width", "height", "role", "scope", "title", "datetime", "data-label", "open"),
    *("aria-label", "aria-labelledby", "aria-hidden", "aria-current"),
    *("method", "action", "for", "value", "placeholder", "selected"),
}
HOSTILE = f"/jobs/{horrors.HOSTILE}"
PAGES = [
    "/",
    HOSTILE,
    *(f"{HOSTILE}?period=2026-09-0{number}T00:00:00Z" for number in range(1, 5)),
    f"{HOSTILE}?period=2026-09-05T00:00:00Z&part=p%40art%3D%2B~1",
    "/jobs/hostile/schedule",
    f"/jobs/{horrors.LONG}",
]


@pytest.fixture(scope="session")
def chamber(pg_server: Server, templates: Templates) -> Iterator[Database]:
    """Give a ledger of horrors to all tests of this file, once per server."""
    templates.add(pg_server)
    with fresh_database(pg_server) as database:
        with database.connect("admin") as conn:
            horrors.paint(conn)
        yield database


@pytest.fixture
def client(request: pytest.FixtureRequest, chamber: Database) -> Iterator[Client]:
    """Ask the application that serves it."""
    uses(request.node, chamber.server.name)
    with serving(chamber) as site:
        yield Client(App.of(site))


def check(page: Element) -> None:
    """Find nothing in a page that none of the templates has."""
    for one in page:
        assert one.tag in TAGS, one
        assert one.attributes.keys() <= ATTRIBUTES, one
        address = one.attributes.get("href") or one.attributes.get("action") or "/"
        assert address.startswith(("/", "#")), one
    assert [one.attributes["src"] for one in page.all("img")] == [
        page.one("link", rel="icon").attributes["href"]
    ]


@pytest.mark.parametrize("place", PAGES)
def test_a_hostile_text_makes_no_element_no_attribute_and_no_address(
    client: Client, place: str
) -> None:
    got = client.get(place)
    assert got.status == 200
    check(got.page)


def test_a_hostile_text_is_shown_as_it_is(client: Client) -> None:
    for number, text in enumerate((horrors.SCRIPT, horrors.QUOTES, horrors.IMAGE), 1):
        page = client.get(f"{HOSTILE}?period=2026-09-0{number}T00:00:00Z").page
        card = page.one("article", id="period")
        assert card.one("p", "reason").one("bdi").text == " ".join(text.split())
        assert card.all("pre")[0].text.startswith(horrors.FOR_PRE)


def test_what_turns_a_line_around_is_taken_out_and_the_rest_kept_apart(client: Client) -> None:
    got = client.get(f"{HOSTILE}?period=2026-09-04T00:00:00Z")
    assert not {"\u202e", "\u2067"} & set(got.text)
    reason = got.page.one("article", id="period").one("p", "reason")
    # What is left (a right-to-left mark) has an end at that of its element.
    assert reason.one("bdi").text == "gpj. txe  \u200f\u05e9\u05dc\u05d5\u05dd".replace("  ", " ")


def test_an_address_in_an_annotation_is_a_link_only_if_it_leads_to_the_web(client: Client) -> None:
    about = client.get(HOSTILE).page.one("section", "about")
    assert "javascript:window.hacked=1" in about.text
    assert not about.all("a")


@pytest.mark.parametrize(
    "text", [horrors.SCRIPT, horrors.QUOTES, horrors.IMAGE, horrors.TURNED, "a\r\nb: c"]
)
@pytest.mark.parametrize(
    "place",
    [
        *("/?text={}", "/?namespace={}", "/?owner={}", "/?state={}", "/?ledger={}", "/?{}=1"),
        *("/{}", "/jobs/{}/x", "/jobs/x/{}", "/static/{}"),
        *("/jobs/hostile/job?period={}", "/jobs/hostile/job?until={}", "/jobs/x/y?ledger={}"),
    ],
)
def test_a_hostile_address_is_text_too(client: Client, place: str, text: str) -> None:
    got = client.get(place.format(quote(text, safe="")))
    if got.headers["Content-Type"].startswith("text/html"):
        check(got.page)
    else:  # no browser makes a page of it
        assert got.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert not [name for name, value in got.headers.items() if "\n" in name + value]


@pytest.mark.parametrize("text", [horrors.SCRIPT, horrors.IMAGE])
def test_a_hostile_text_in_json_is_json(client: Client, text: str) -> None:
    got = client.get(f"/api/v1/periods?name={quote(text)}")
    assert got.status == 400
    assert text.partition("/")[0] in got.json["error"]
    reasons = [one["reason"] for one in client.get("/api/v1/periods?state=blocked").json["periods"]]
    assert text in reasons


def test_the_longest_name_is_shown_and_found(client: Client) -> None:
    page = client.get(f"/?text={horrors.LONG_NAME}").page
    link = page.one("table", "jobs").one("th", scope="row").one("a")
    assert link.text.replace(" ", "") == horrors.LONG
    assert client.get(link.attributes["href"]).page.one("h1").text == horrors.LONG


def test_a_long_reason_is_cut_in_the_list_and_whole_on_the_jobs_page(client: Client) -> None:
    page = client.get(f"/?text={horrors.LONG_NAME}").page
    assert len(page.one("span", "reason").text) == 160
    page = client.get(f"/jobs/{horrors.LONG}").page
    assert page.one("article").one("p", "reason").text == "r" * 2000
