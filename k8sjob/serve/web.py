"""A request and an answer as plain values, and what an error is over HTTP. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from k8sjob.errors import InvalidKey, K8sjobError, TryAgain, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Parameters of one request; more are not read.
_MOST_PARAMETERS = 50


class NotThere(K8sjobError):
    """There is nothing under this address."""


class Busy(TryAgain):
    """Too many requests are being answered at the moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What somebody asks for. ``query`` has the values by their names; headers are in lower case.

    ``root`` is the path that all of ours stand under, where a proxy has put them elsewhere.
    """

    path: str
    method: str = "GET"
    query: Mapping[str, Sequence[str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    root: str = ""

    def one(self, name: str) -> str | None:
        """Return the value of a parameter; None where it is left empty. Raises UsageError."""
        values = self.query.get(name, ())
        if len(values) > 1:
            raise UsageError(f"{name} is given {len(values)} times. Nothing was read.\n  Give one.")
        return values[0].strip() or None if values else None

    def each(self, name: str) -> list[str]:
        """Return the values of a parameter that may be given more than once."""
        return [value.strip() for value in self.query.get(name, ()) if value.strip()]

    def number(self, name: str, otherwise: int, most: int) -> int:
        """Return a number from 1 to ``most``. Raises UsageError."""
        text = self.one(name)
        if text is None:
            return otherwise
        # int() takes the digits of every script, and underscores.
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= most):
            raise UsageError(
                f"{name}={text!r} is no number from 1 to {most}. Nothing was read.\n"
                f"  Write {name}={otherwise}, for example."
            )
        return int(text[:9])

    def check(self, *known: str) -> None:
        """Refuse a parameter that nobody would read: a typo must not show everything."""
        for name in self.query:
            if name not in known:
                raise UsageError(
                    f"there is no parameter {name!r} here. Nothing was read.\n"
                    f"  There are {', '.join(known)}."
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What goes back; ``kind`` is the body's media type."""

    body: bytes
    kind: str
    status: HTTPStatus = HTTPStatus.OK
    headers: Mapping[str, str] = field(default_factory=dict)


def text_answer(text: str, status: HTTPStatus = HTTPStatus.OK) -> Answer:
    """Return plain text."""
    return Answer(body=text.encode(), kind="text/plain; charset=utf-8", status=status)


def read_request(environ: Mapping[str, Any]) -> Request:
    """Read a request of WSGI (PEP 3333). Raises UsageError."""
    headers = {
        name[5:].replace("_", "-").lower(): value
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }
    return Request(
        method=environ["REQUEST_METHOD"],
        path=_decoded(environ.get("PATH_INFO", "")),
        query=_parameters(environ.get("QUERY_STRING", "")),
        headers=headers,
        root=_decoded(environ.get("SCRIPT_NAME", "")),
    )


def _decoded(text: str) -> str:
    # PEP 3333: the bytes of a path come as if they were Latin-1.
    return text.encode("latin-1").decode("utf-8", "replace")


def _parameters(text: str) -> dict[str, list[str]]:
    try:
        return parse_qs(text, keep_blank_values=True, max_num_fields=_MOST_PARAMETERS)
    except ValueError:
        raise UsageError(
            f"more than {_MOST_PARAMETERS} parameters are not read. Nothing was read."
        ) from None


def status_of(error: K8sjobError) -> HTTPStatus:
    """Return 400 for what was asked wrongly, 404 for what is not there, else 503."""
    if isinstance(error, NotThere):
        return HTTPStatus.NOT_FOUND
    if isinstance(error, UsageError | InvalidKey):
        return HTTPStatus.BAD_REQUEST
    return HTTPStatus.SERVICE_UNAVAILABLE


def takes_gzip(accept: str) -> bool:
    """Whether an Accept-Encoding header takes gzip (RFC 9110, section 12.5.3)."""
    quality = {}
    for item in accept.lower().split(","):
        name, _, parameters = item.partition(";")
        quality[name.strip()] = parameters.replace(" ", "") not in _NOT_AT_ALL
    return quality.get("gzip", quality.get("*", False))


_NOT_AT_ALL = {"q=0", "q=0.0", "q=0.00", "q=0.000"}
