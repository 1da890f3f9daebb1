"""Asks the application without a socket, and reads the pages that come back."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from k8sjob.serve.app import App

_VOID = {"meta", "link", "img", "input", "br", "wbr"}


@dataclass(eq=False)
class Element:
    """An element of a page."""

    tag: str
    attributes: dict[str, str]
    children: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text in it, with one space between words."""
        pieces = (one if isinstance(one, str) else one.text for one in self.children)
        return " ".join(" ".join(pieces).split())

    @property
    def classes(self) -> list[str]:
        """Its classes."""
        return self.attributes.get("class", "").split()

    def __iter__(self) -> Iterator[Element]:
        for one in self.children:
            if isinstance(one, Element):
                yield one
                yield from one

    def all(self, tag: str = "", cls: str = "", **attributes: str) -> list[Element]:
        """Return the elements in it of a tag, a class and attributes."""
        return [
            one
            for one in self
            if tag in ("", one.tag)
            and (not cls or cls in one.classes)
            and attributes.items() <= one.attributes.items()
        ]

    def one(self, tag: str = "", cls: str = "", **attributes: str) -> Element:
        """Return the only one."""
        (found,) = self.all(tag, cls, **attributes)
        return found


class _Reader(HTMLParser):
    """Reads a page, and refuses one whose tags do not match."""

    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"{tag} has an attribute twice: {attrs}"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> in <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def read_page(text: str) -> Element:
    """Return a page's root."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert len(reader.open) == 1, f"<{reader.open[-1].tag}> is not closed"
    return reader.open[0]


@dataclass(frozen=True)
class Got:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        packed = self.headers.get("Content-Encoding") == "gzip"
        return (gzip.decompress(self.body) if packed else self.body).decode()

    @property
    def json(self) -> Any:
        """The body as JSON."""
        assert self.headers["Content-Type"] == "application/json"
        return json.loads(self.text)

    @property
    def page(self) -> Element:
        """The body as a page."""
        assert self.headers["Content-Type"] == "text/html; charset=utf-8"
        return read_page(self.text)


@dataclass(frozen=True)
class Client:
    """Asks an application; each question and answer is checked against PEP 3333."""

    app: App

    def get(self, address: str, *, method: str = "GET", root: str = "", **headers: str) -> Got:
        """Ask for an address, percent-encoded as in a browser; underscores become hyphens."""
        path, _, query = address.partition("?")
        environ: dict[str, Any] = {
            "REQUEST_METHOD": method,
            "SCRIPT_NAME": root,
            "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
            "QUERY_STRING": query,
        }
        environ |= {f"HTTP_{name.upper()}": value for name, value in headers.items()}
        setup_testing_defaults(environ)
        told: list[tuple[str, list[tuple[str, str]]]] = []

        def start(status: str, headers: list[tuple[str, str]], _: object = None) -> Any:
            told.append((status, headers))

        answer = validator(self.app)(environ, start)
        try:
            body = b"".join(answer)
        finally:
            answer.close()  # type: ignore[attr-defined]  # the validator's has one
        ((status, found),) = told
        assert len(dict(found)) == len(found), "a header comes twice"
        return Got(int(status[:3]), dict(found), body)
