"""The documents of a manifest, read one by one: a broken one hides no other."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from k8sjob.errors import ConfigError
from k8sjob.manifest.compose import Broken, compose
from k8sjob.manifest.shown import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from k8sjob.manifest.tree import Node

# A line of three hyphens ends a document wherever it stands (YAML 1.2, 9.1.2), so that one can be
# read without those before it. JSON has no such line: there a brace follows a brace.
_START = re.compile(r"^---(?=\s|\Z)|(?<=\})\s*^(?=\{(?!\{))", re.MULTILINE)
# Directives (%YAML, %TAG) belong to the document after them. Kubernetes' documents need none.
_DIRECTIVE = re.compile(r"^%[A-Z][^\n]*", re.MULTILINE)
#: helm writes it above each document: which template it comes from.
_SOURCE = re.compile(r"^# Source: (\S[^\n]*)$", re.MULTILINE)

TEMPLATE = (
    "this is a template that was not rendered, so nothing in it was checked: lint what it becomes, "
    "helm template CHART | k8sjob lint -"
)
_HINTS = (
    (
        re.compile(r"\bschedule:[ \t]*[*@]"),
        "put the schedule in quotes, since no YAML text begins with * or @",
    ),
    (re.compile(r"^[ ]*\t"), "indent with spaces: YAML takes no tabs"),
)


@dataclass(frozen=True, slots=True)
class Document:
    """One document, and the template that helm made it from, if it did."""

    root: Node
    source: str | None


@dataclass(frozen=True, slots=True)
class Trouble:
    """What could not be read: where, None for a whole file, and what is wrong with it."""

    at: int | None
    what: str


def load_parser() -> Callable[[str], Iterator[Any]]:
    """Return what makes YAML's events of a text. Raises ConfigError where it is not installed."""
    try:
        from ruamel.yaml import YAML  # noqa: PLC0415  # an extra, which only manifests need
    except ImportError:
        raise ConfigError(
            "reading manifests needs the package ruamel.yaml, which is not installed. Nothing was "
            "checked.\n  pip install 'k8sjob[manifest]'"
        ) from None

    def parse(text: str) -> Iterator[Any]:
        events: Iterator[Any] = YAML(typ="safe", pure=True).parse(text)
        return events

    return parse


def documents(text: str) -> Iterator[Document | Trouble]:
    """Return the documents of a manifest, and what is in the place of one that is broken.

    Positions are those in ``text``, which has a newline alone at each line's end.
    Raises ConfigError where the parser is not installed.
    """
    parse = load_parser()
    for start, piece in pieces(text):
        if piece.strip():
            yield from _read(parse, piece, start)


def pieces(text: str) -> Iterator[tuple[int, str]]:
    """Return the pieces of a text that are read one by one, and where each begins."""
    starts = [0, *(_start_of(match) for match in _START.finditer(text)), len(text)]
    for start, end in pairwise(starts):
        yield start, text[start:end]


def without_directives(piece: str) -> str:
    """Return a piece with spaces in the place of its directives."""
    return _DIRECTIVE.sub(lambda match: " " * len(match[0]), piece)


def _start_of(match: re.Match[str]) -> int:
    return match.start() if match.group().startswith("-") else match.end()


def _read(
    parse: Callable[[str], Iterator[Any]], piece: str, start: int
) -> Iterator[Document | Trouble]:
    head = _SOURCE.search(piece)
    source = head[1].strip() if head else None
    try:
        for root in compose(parse(without_directives(piece)), start):
            yield Document(root, source)
    except Broken as broken:
        yield Trouble(broken.at, _explain(broken.what, piece, broken.at - start))
    except Exception as error:  # noqa: BLE001  # a parser of others', and any text at all
        at, what = _place(error, piece)
        yield Trouble(start + at, _explain(what, piece, at))


def _place(error: Exception, piece: str) -> tuple[int, str]:
    """Return where an error of the parser is, and what it says, in one line."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is not None:
        said = (getattr(error, "context", None), getattr(error, "problem", None))
        return min(int(mark.index), len(piece)), ", ".join(str(word) for word in said if word)
    if (position := getattr(error, "position", None)) is not None:
        return int(position), f"the character {piece[int(position)]!r} stands in it"
    stumbles = f"the parser stumbles over it ({type(error).__name__}: {error})"
    return len(piece) - len(piece.lstrip("-\n ")), stumbles


def _explain(what: str, piece: str, at: int) -> str:
    if "{{" in piece:
        return TEMPLATE
    line = piece[piece.rfind("\n", 0, at) + 1 : (piece + "\n").index("\n", at)]
    hint = next((words for form, words in _HINTS if form.search(line)), None)
    return f"broken YAML, so nothing of this document was checked: {hint or one_line(what, 300)}"
