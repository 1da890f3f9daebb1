"""A request is read as strictly as a command line: a typo must not show everything."""

from __future__ import annotations

from http import HTTPStatus

import pytest

from k8sjob import errors
from k8sjob.errors import K8sjobError, UsageError
from k8sjob.serve.scraping import within
from k8sjob.serve.web import Busy, NotThere, Request, read_request, status_of


def asked(query: str, **environ: str) -> Request:
    return read_request({"REQUEST_METHOD": "GET", "QUERY_STRING": query} | environ)


def test_a_path_is_utf_8() -> None:
    path = "/jobs/ü/é".encode().decode("latin-1")
    assert asked("", PATH_INFO=path).path == "/jobs/ü/é"


def test_a_path_that_is_not_utf_8_is_read_all_the_same() -> None:
    assert asked("", PATH_INFO="/\xff").path == "/�"


def test_headers_have_their_names_in_lower_case() -> None:
    assert asked("", HTTP_ACCEPT_ENCODING="gzip").headers == {"accept-encoding": "gzip"}


def test_a_parameter_that_is_left_empty_is_not_given() -> None:
    request = asked("state=&text=%20&limit=")
    assert request.one("state") is None
    assert request.one("text") is None
    assert request.number("limit", 200, 1000) == 200


def test_a_parameter_of_which_there_is_one_is_refused_if_it_comes_twice() -> None:
    with pytest.raises(UsageError, match="owner is given 2 times"):
        asked("owner=a&owner=b").one("owner")


def test_a_parameter_of_which_there_may_be_several_keeps_them_all() -> None:
    assert asked("name=a&name=&name=b").each("name") == ["a", "b"]


@pytest.mark.parametrize("text", ["0", "-1", "1001", "1e3", "x", "\uff11", "1_0", "9" * 30])
def test_what_is_no_number_in_bounds_is_refused(text: str) -> None:
    request = Request(path="/", query={"limit": [text]})
    with pytest.raises(UsageError, match="is no number from 1 to 1000"):
        request.number("limit", 200, 1000)


def test_a_parameter_that_nobody_reads_is_refused() -> None:
    with pytest.raises(UsageError, match="no parameter 'name_space'"):
        asked("name_space=x").check("namespace")


def test_every_error_has_a_status() -> None:
    kinds = [kind for kind in vars(errors).values()
             if isinstance(kind, type) and issubclass(kind, K8sjobError)]  # fmt: skip
    found = {kind.__name__: status_of(kind("why")) for kind in [*kinds, NotThere, Busy]}
    assert {name for name, s in found.items() if s is HTTPStatus.BAD_REQUEST} == {
        "UsageError",
        "InvalidKey",
    }
    assert [name for name, s in found.items() if s is HTTPStatus.NOT_FOUND] == ["NotThere"]
    assert found["Unavailable"] is HTTPStatus.SERVICE_UNAVAILABLE
    assert len(found) > 10


@pytest.mark.parametrize(
    ("told", "seconds"),
    [("10", 8.0), ("15.0", 8.0), ("5", 3.5), ("1", 0.5), ("-1", 0.5), ("", 8.0), ("x", 8.0),
     ("nan", 8.0), ("inf", 8.0)],
)  # fmt: skip
def test_a_scrape_is_over_before_prometheus_gives_up(told: str, seconds: float) -> None:
    headers = {"x-prometheus-scrape-timeout-seconds": told}
    assert within(Request(path="/metrics", headers=headers)) == seconds


def test_a_scraper_that_says_nothing_has_the_usual_patience() -> None:
    assert within(Request(path="/metrics")) == 8.0
