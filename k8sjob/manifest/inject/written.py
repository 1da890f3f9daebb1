"""A document as it is written: where each piece begins and ends, and how it is put down.

`k8sjob.manifest.tree` tells what a document means; this tells where to put something into it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from k8sjob.manifest.scalars import resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(slots=True, eq=False)
class Written:
    """One piece: text from ``start`` to ``end``, its anchor included. The base of the four kinds.

    ``shared``: an alias stands for it elsewhere, so that what is put into it is put in there too.
    """

    start: int
    end: int
    anchor: str | None = None
    shared: bool = False


@dataclass(slots=True, eq=False)
class Word(Written):
    """A scalar; ``null`` where it is nothing to Kubernetes."""

    text: str = ""
    null: bool = False


@dataclass(slots=True, eq=False)
class Alias(Written):
    """The name of another piece."""

    target: Written | None = None


@dataclass(slots=True, eq=False)
class Table(Written):
    """A map. ``flow``: in braces."""

    flow: bool = False
    entries: list[tuple[Word, Written]] = field(default_factory=list)

    def find(self, name: str) -> tuple[Word, Written] | None:
        """Return key and value of ``name``; the last of several, as Kubernetes takes it."""
        found = [entry for entry in self.entries if entry[0].text == name]
        return found[-1] if found else None

    def merges(self, name: str) -> bool:
        """Whether a ``<<`` brings ``name`` in."""
        sources = [value for key, value in self.entries if key.text == "<<"]
        return any(_has(source, name) for source in sources)


@dataclass(slots=True, eq=False)
class Row(Written):
    """A list. ``flow``: in brackets; ``dash``: where the first hyphen stands, if not."""

    flow: bool = False
    dash: int = 0
    items: list[Written] = field(default_factory=list)


def _has(source: Written, name: str) -> bool:
    if isinstance(source, Alias) and source.target is not None:
        return _has(source.target, name)
    if isinstance(source, Row):
        return any(_has(item, name) for item in source.items)
    return isinstance(source, Table) and (source.find(name) is not None or source.merges(name))


class _Builder:
    def __init__(self, text: str, shift: int) -> None:
        self.text, self.shift = text, shift
        self.stack: list[tuple[Table | Row, Word | None]] = []
        self.anchors: dict[str, Written] = {}

    def take(self, event: Any) -> Table | Row | None:
        """Take an event in; return a map or list that it ends."""
        kind = type(event).__name__
        if kind == "DocumentStartEvent":
            self.anchors = {}
        elif kind in {"MappingStartEvent", "SequenceStartEvent"}:
            self._begin(event, kind)
        elif kind in {"MappingEndEvent", "SequenceEndEvent"}:
            return self._finish(self.shift + event.end_mark.index)
        elif kind == "AliasEvent":
            self._alias(event)
        elif kind == "ScalarEvent":
            self._add(self._word(event))
        return None

    def _begin(self, event: Any, kind: str) -> None:
        start, end = self.shift + event.start_mark.index, self.shift + event.end_mark.index
        flow = bool(event.flow_style)
        made: Table | Row
        if kind == "MappingStartEvent":
            made = Table(start, end, event.anchor, flow=flow)
        else:
            made = Row(start, end, event.anchor, flow=flow, dash=self.text.find("-", end - 1))
        self._name(made)
        self.stack.append((made, None))

    def _finish(self, end: int) -> Table | Row:
        made, _ = self.stack.pop()
        if made.flow:
            made.end = end
        elif isinstance(made, Table):
            made.end = max(made.end, *(value.end for _, value in made.entries))
        else:
            made.end = max(made.end, *(item.end for item in made.items))
        self._add(made, named=True)
        return made

    def _alias(self, event: Any) -> None:
        target = self.anchors[event.anchor]
        target.shared = True
        start, end = self.shift + event.start_mark.index, self.shift + event.end_mark.index
        self._add(Alias(start, end, target=target))

    def _word(self, event: Any) -> Word:
        start, end = self.shift + event.start_mark.index, self.shift + event.end_mark.index
        if event.style in {"|", ">"}:
            end = _block_end(self.text, start, end)
        elif start == end and self.stack and (key := self.stack[-1][1]) is not None:
            # The parser puts what is not there right before what comes next.
            line = self.text.find("\n", key.end, start)
            colon = self.text.find(":", key.end, start if line < 0 else line)
            start = end = key.end if colon < 0 else colon + 1
        null = event.style is None and event.tag is None and resolve(event.value) is None
        return Word(start, end, event.anchor, text=event.value, null=null)

    def _name(self, node: Written) -> None:
        if node.anchor is not None:
            self.anchors[node.anchor] = node

    def _add(self, node: Written, *, named: bool = False) -> None:
        if not named:
            self._name(node)
        if not self.stack:
            return
        top, key = self.stack[-1]
        if isinstance(top, Row):
            top.items.append(node)
        elif key is not None:
            top.entries.append((key, node))
            self.stack[-1] = (top, None)
        else:
            self.stack[-1] = (top, _key(node))


def _key(node: Written) -> Word:
    if isinstance(node, Alias) and isinstance(node.target, Word):
        return Word(node.start, node.end, text=node.target.text)
    assert isinstance(node, Word)  # noqa: S101  # compose() has refused all else
    return node


def _block_end(text: str, start: int, end: int) -> int:
    """Return where a block scalar ends: of empty lines below it only ``|+`` has some."""
    piece = text[start:end]
    if "+" not in piece.partition("\n")[0].partition("#")[0]:
        return start + len(piece.rstrip())
    last = piece.rstrip(" ")
    return start + (len(last) - 1 if last.endswith("\n") else len(piece))


def tables(events: Iterable[Any], text: str, shift: int) -> Iterator[Table]:
    """Return all maps of some documents, each before those that it stands in.

    ``shift`` is where the events' text begins in ``text``. The documents are known to be sound:
    `k8sjob.manifest.compose` has taken them.
    """
    builder = _Builder(text, shift)
    for event in events:
        if isinstance(made := builder.take(event), Table):
            yield made
