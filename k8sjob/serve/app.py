"""The WSGI application (PEP 3333): a table of routes, and what all answers have in common."""

from __future__ import annotations

import gzip
import logging
import re
from contextlib import nullcontext
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from k8sjob.errors import K8sjobError
from k8sjob.serve import api
from k8sjob.serve.gate import Gate
from k8sjob.serve.health import Readiness, healthz
from k8sjob.serve.pages import Pages
from k8sjob.serve.scraping import Scraping
from k8sjob.serve.status_page import StatusPage
from k8sjob.serve.web import (
    Answer,
    NotThere,
    Request,
    read_request,
    status_of,
    takes_gzip,
    text_answer,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from k8sjob.serve.site import Site

log = logging.getLogger("k8sjob")

#: Requests that may wait for ledgers at once: pages and API, and scrapes. The threads are more.
PAGES, SCRAPES = 10, 4

#: Nothing from elsewhere, no script, and no style but the one file.
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_ALWAYS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
#: Bytes from which on it is worth while; and the quickest way, since a scrape has megabytes.
_GZIP_FROM, _GZIP_LEVEL = 1024, 1
_METHODS = ("GET", "HEAD")


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Who answers the paths of a form, who says that it went wrong, and how many may be in."""

    form: re.Pattern[str]
    answer: Callable[..., Answer]
    failure: Callable[[Request, HTTPStatus, str], Answer]
    gate: Gate | None = None


def routes(site: Site, scraping: Scraping) -> list[Route]:
    """Return the table of routes."""
    pages, reading, scrapes = Pages(), Gate(PAGES), Gate(SCRAPES)
    status, json = StatusPage(site, pages), api.Api(site)

    def route(form: str, answer: Callable[..., Answer], **more: Any) -> Route:
        return Route(form=re.compile(form, re.DOTALL), answer=answer, **{"failure": _text, **more})

    return [
        route("/metrics", scraping, gate=scrapes),
        route("/healthz", healthz),
        route("/readyz", Readiness(site)),
        route("/api/v1/jobs", json.jobs, failure=api.error, gate=reading),
        route("/api/v1/periods", json.periods, failure=api.error, gate=reading),
        route("/", status.overview, failure=pages.error, gate=reading),
        route("/jobs/([^/]+)/([^/]+)", status.job, failure=pages.error, gate=reading),
        route("/static/.+", pages.static),
        # What is nowhere else; it comes last.
        route("/api/.*", _nowhere, failure=api.error),
        route(".*", _nowhere, failure=pages.error),
    ]


def _text(_request: Request, status: HTTPStatus, text: str) -> Answer:
    return text_answer(f"{text}\n", status)


def _nowhere(request: Request) -> Answer:
    raise NotThere(f"there is nothing under {request.path}.\n  The overview is at {request.root}/.")


@dataclass(frozen=True, slots=True)
class App:
    """Answers requests; whatever happens, there is an answer."""

    routes: Sequence[Route]

    @classmethod
    def of(cls, site: Site, after_first_scrape: Callable[[], None] = lambda: None) -> App:
        """Return the application that serves a site."""
        return cls(routes(site, Scraping(site.ledgers, after_first_scrape)))

    def __call__(
        self, environ: Mapping[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Answer one request."""
        request, answer = self._answered(environ)
        answer = _compressed(request, answer)
        headers = {
            **_ALWAYS,
            **answer.headers,
            "Content-Type": answer.kind,
            "Content-Length": str(len(answer.body)),
        }
        start_response(f"{answer.status.value} {answer.status.phrase}", list(headers.items()))
        return [] if request.method == "HEAD" else [answer.body]

    def _answered(self, environ: Mapping[str, Any]) -> tuple[Request, Answer]:
        try:
            request = read_request(environ)
        except K8sjobError as error:
            unread = Request(path="", method=environ["REQUEST_METHOD"])
            return unread, _text(unread, status_of(error), str(error))
        for route in self.routes:
            if match := route.form.fullmatch(request.path):
                return request, _by(route, request, match.groups())
        raise AssertionError("the last route takes all paths")


def _by(route: Route, request: Request, pieces: Sequence[str]) -> Answer:
    if request.method not in _METHODS and route.answer is not _nowhere:
        return _not_allowed(route, request)
    try:
        with route.gate.entered() if route.gate else nullcontext():
            return route.answer(request, *pieces)
    except K8sjobError as error:
        status = status_of(error)
        again = {"Retry-After": "1"} if status is HTTPStatus.SERVICE_UNAVAILABLE else {}
        return replace(route.failure(request, status, str(error)), headers=again)
    except Exception:
        log.exception("%r could not be answered", request.path, extra={"event": "request_failed"})
        words = "this could not be answered. Nothing was changed.\n  The log says what went wrong."
        return route.failure(request, HTTPStatus.INTERNAL_SERVER_ERROR, words)


def _not_allowed(route: Route, request: Request) -> Answer:
    words = f"{request.method} is not for {request.path}: it can be looked at only."
    answer = route.failure(request, HTTPStatus.METHOD_NOT_ALLOWED, words)
    return replace(answer, headers={"Allow": ", ".join(_METHODS)})


def _compressed(request: Request, answer: Answer) -> Answer:
    headers = {"Vary": "Accept-Encoding", **answer.headers}
    takes = takes_gzip(request.headers.get("accept-encoding", ""))
    if len(answer.body) < _GZIP_FROM or not takes:
        return replace(answer, headers=headers)
    body = gzip.compress(answer.body, _GZIP_LEVEL, mtime=0)
    return replace(answer, body=body, headers={**headers, "Content-Encoding": "gzip"})
