"""What all answers have in common: paths, methods, headers, errors. No ledger is needed."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from k8sjob.errors import Unavailable
from k8sjob.serve.app import PAGES, POLICY, App, Route, routes
from k8sjob.serve.scraping import Scraping
from k8sjob.serve.site import Site
from k8sjob.serve.web import Answer, Request, text_answer
from tests.serve.client import Client

if TYPE_CHECKING:
    from collections.abc import Iterator

    from k8sjob.ledger.settings import Address

PLACES = [
    *("/", "/jobs/billing/credit", "/api/v1/jobs", "/api/v1/periods"),
    *("/metrics", "/healthz", "/readyz", "/nowhere", "/api/v2", "/static/none.css"),
]


def nobody() -> Address:
    """Stand for a ledger whose address cannot be had."""
    raise Unavailable("the ledger cannot be reached: gone fishing")


@pytest.fixture
def site() -> Iterator[Site]:
    """Serve a ledger that is away."""
    with closing(Site({"default": nobody})) as made:
        yield made


@pytest.fixture
def client(site: Site) -> Client:
    return Client(App.of(site))


@pytest.mark.parametrize("place", PLACES)
def test_every_answer_has_the_headers_that_keep_others_out(client: Client, place: str) -> None:
    headers = client.get(place).headers
    assert headers["Content-Security-Policy"] == POLICY
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Content-Type"]


def test_the_policy_lets_nothing_in_but_our_own_style_and_images() -> None:
    assert dict(one.split(" ", 1) for one in POLICY.split("; ")) == {
        "default-src": "'none'",
        "style-src": "'self'",
        "img-src": "'self'",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }


@pytest.mark.parametrize("place", PLACES)
def test_head_is_get_without_the_body(client: Client, place: str) -> None:
    got, head = client.get(place), client.get(place, method="HEAD")
    assert head.status == got.status
    assert head.body == b""
    assert head.headers.keys() == got.headers.keys()
    if place != "/metrics":  # it tells how long it took
        assert head.headers == got.headers


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
@pytest.mark.parametrize("place", ["/", "/metrics", "/healthz", "/api/v1/jobs", "/jobs/a/b"])
def test_nothing_can_be_done_but_to_look(client: Client, place: str, method: str) -> None:
    got = client.get(place, method=method)
    assert got.status == 405
    assert got.headers["Allow"] == "GET, HEAD"
    assert "it can be looked at only" in got.text


@pytest.mark.parametrize("place", ["/nowhere", "/jobs", "/jobs/a", "/jobs/a/b/c", "/a%0Ab", "/%ff"])
def test_an_unknown_path_is_told_as_a_page(client: Client, place: str) -> None:
    got = client.get(place)
    assert got.status == 404
    assert got.page.one("h1").text == "404 Not Found"
    assert "there is nothing under" in got.page.one("main").text


def test_an_unknown_path_of_the_api_is_told_as_json(client: Client) -> None:
    got = client.get("/api/v1/jobbs")
    assert got.status == 404
    assert got.json["error"].startswith("there is nothing under /api/v1/jobbs.")


def test_an_unknown_path_is_unknown_whatever_the_method(client: Client) -> None:
    assert client.get("/nowhere", method="POST").status == 404


def test_too_many_parameters_are_refused_before_anything_is_read(client: Client) -> None:
    got = client.get("/?" + "&".join(f"a{n}=1" for n in range(60)))
    assert got.status == 400
    assert got.text.startswith("more than 50 parameters")


@pytest.mark.parametrize("place", ["/", "/jobs/billing/credit"])
def test_a_page_of_a_ledger_that_is_away_says_so(client: Client, place: str) -> None:
    got = client.get(place)
    assert got.status == 503
    assert "gone fishing" in got.page.one("main").text


def test_the_api_of_a_ledger_that_is_away_says_so(client: Client) -> None:
    got = client.get("/api/v1/jobs")
    assert got.status == 503
    assert got.headers["Retry-After"] == "1"
    assert got.json == {"error": "the ledger cannot be reached: gone fishing", "status": 503}


def test_the_process_lives_though_no_ledger_does(client: Client) -> None:
    assert client.get("/healthz").text == "ok\n"
    got = client.get("/readyz")
    assert got.status == 503
    assert got.text == "not ready\ndefault: the ledger cannot be reached: gone fishing\n"


def test_a_ledger_that_is_away_is_a_zero_among_the_metrics(client: Client) -> None:
    got = client.get("/metrics")
    assert got.status == 200
    assert 'k8sjob_up{ledger="default"} 0' in got.text


# -------------------------------------------------------------------------------- static files


def test_the_pages_only_file_may_be_kept_for_ever(client: Client) -> None:
    sheet = client.get("/nowhere").page.one("link", rel="stylesheet").attributes["href"]
    got = client.get(sheet)
    assert got.headers["Content-Type"] == "text/css; charset=utf-8"
    assert got.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert "@import" not in got.text
    assert "url(" not in got.text


def test_a_page_fetches_nothing_from_elsewhere(client: Client) -> None:
    page = client.get("/nowhere").page
    fetched = [one.attributes.get("src") or one.attributes["href"] for one in page
               if one.tag in ("link", "img", "script")]  # fmt: skip
    assert fetched
    assert all(one.startswith("/static/") for one in fetched)
    assert all(client.get(one).status == 200 for one in fetched)
    assert not page.all("script")
    assert not page.all("style")
    assert not [one for one in page if "style" in one.attributes]


def test_behind_a_proxy_all_links_stand_under_its_path(client: Client) -> None:
    page = client.get("/", root="/k8sjob").page
    links = [one.attributes.get("href") or one.attributes.get("src") for one in page]
    links += [one.attributes.get("action") for one in page]
    ours = [link for link in links if link and not link.startswith("#")]
    assert len(ours) > 5
    assert all(link.startswith("/k8sjob/") for link in ours)


# ------------------------------------------------------------------------------------- gzip


@pytest.mark.parametrize(
    ("accept", "packed"),
    [
        ("gzip", True),
        ("deflate, gzip;q=0.5, br", True),
        ("*", True),
        ("GZIP", True),
        ("", False),
        ("br", False),
        ("gzip;q=0", False),
        ("gzip; q=0.000, *", False),
        ("*;q=0", False),
        ("identity", False),
    ],
)
def test_an_answer_is_packed_if_it_is_asked_for(
    client: Client, accept: str, *, packed: bool
) -> None:
    got = client.get("/nowhere", accept_encoding=accept)
    assert ("Content-Encoding" in got.headers) == packed
    assert got.headers["Vary"] == "Accept-Encoding"
    assert int(got.headers["Content-Length"]) == len(got.body)
    assert got.text == client.get("/nowhere").text


def test_what_is_short_is_not_packed(client: Client) -> None:
    assert client.get("/healthz", accept_encoding="gzip").text == "ok\n"


# ------------------------------------------------------------------------------ what goes wrong


def test_our_own_fault_is_told_to_the_log_alone(caplog: pytest.LogCaptureFixture) -> None:
    def broken(_request: Request) -> Answer:
        raise RuntimeError("the secret is 42")

    def failure(_request: Request, status: int, text: str) -> Answer:
        return text_answer(f"{status} {text}")

    import logging
    import re

    route = Route(form=re.compile("/x\n"), answer=broken, failure=failure)
    with caplog.at_level(logging.ERROR, logger="k8sjob"):
        got = Client(App([route])).get("/x%0A")
    assert "this could not be answered" in got.text
    assert "42" not in got.text
    assert caplog.records[0].getMessage() == "'/x\\n' could not be answered"
    assert "the secret is 42" in caplog.text


def test_whoever_comes_when_all_places_are_taken_is_told_at_once(site: Site) -> None:
    table = routes(site, Scraping(site.ledgers))
    client = Client(App(table))
    (gate,) = {route.gate for route in table if route.gate and route.form.fullmatch("/")}
    from contextlib import ExitStack

    with ExitStack() as inside:
        for _ in range(PAGES):
            inside.enter_context(gate.entered())
        page, json = client.get("/"), client.get("/api/v1/periods")
        assert (page.status, json.status) == (503, 503)
        assert page.headers["Retry-After"] == "1"
        assert "too many requests" in page.page.one("main").text
        assert client.get("/healthz").status == 200
        assert client.get("/metrics").status == 200
    assert "gone fishing" in client.get("/").text
