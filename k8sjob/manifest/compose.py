"""A tree made of YAML's events: one pass, no recursion, and bounds on what a text may ask for.

An alias is the very node that it names, so that a document of nested aliases ("billion laughs")
takes no more room than its text. Merges (``<<``) do copy, and are counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from k8sjob.manifest.scalars import resolve
from k8sjob.manifest.tree import Entry, Items, Map, Node, Scalar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Far more than a manifest has: a Pod's template ends at 15, a large CRD's schema at 60.
DEEPEST = 500
#: How many keys all merges of a document may copy.
MOST_MERGED = 100_000

_TEXT_TAGS = frozenset({"!", "tag:yaml.org,2002:str", "tag:yaml.org,2002:binary"})


class Broken(Exception):
    """The document cannot be taken: where, and why. It never leaves the package."""

    def __init__(self, at: int, what: str) -> None:
        """Take the position in the file, and a clause."""
        super().__init__(what)
        self.at = at
        self.what = what


@dataclass(slots=True)
class _Open:
    """A list or map that has begun; of a map also the key whose value comes next."""

    node: Items | Map
    anchor: str | None
    key: Scalar | None = None
    merges: list[tuple[Scalar, Node]] = field(default_factory=list)


class _Builder:
    """Builds the documents of one stream of events."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.stack: list[_Open] = []
        self.anchors: dict[str, Node] = {}
        self.root: Node | None = None
        self.merged = 0

    def begin_document(self) -> None:
        self.anchors = {}
        self.root = None
        self.merged = 0

    def begin(self, node: Items | Map, anchor: str | None) -> None:
        if len(self.stack) >= DEEPEST:
            raise Broken(node.at, f"it nests deeper than {DEEPEST} levels")
        if self._wants_a_key():
            raise Broken(node.at, "a list or map stands where a key belongs")
        self.stack.append(_Open(node, anchor))

    def end(self) -> None:
        top = self.stack.pop()
        if isinstance(top.node, Map):
            for key, source in top.merges:
                self._merge(top.node, key, source)
        self.add(top.node, top.anchor)

    def alias(self, name: str, at: int) -> None:
        if any(top.anchor == name for top in self.stack):
            raise Broken(at, f"{name!r} contains itself")
        if name not in self.anchors:
            raise Broken(at, f"*{name} names nothing: there is no &{name} above it")
        self.add(self.anchors[name], None, at)

    def add(self, node: Node, anchor: str | None, at: int | None = None) -> None:
        """Put a whole node in its place."""
        if anchor is not None:
            self.anchors[anchor] = node
        if not self.stack:
            self.root = node
            return
        top = self.stack[-1]
        if isinstance(top.node, Items):
            top.node.nodes.append(node)
        elif top.key is not None:
            self._enter(top, top.key, node)
        elif isinstance(node, Scalar):
            top.key = node if at is None else replace(node, at=at)
        else:
            raise Broken(node.at, "a list or map stands where a key belongs")

    def _wants_a_key(self) -> bool:
        return bool(self.stack) and isinstance(self.stack[-1].node, Map) and not self.stack[-1].key

    def _enter(self, top: _Open, key: Scalar, node: Node) -> None:
        assert isinstance(top.node, Map)  # noqa: S101  # for the type checker
        top.key = None
        if key.plain and key.text == "<<":
            top.merges.append((key, node))
            return
        if key.text in top.node.entries:
            top.node.again.append((key.at, key.text))
        top.node.entries[key.text] = Entry(key.at, node)

    def _merge(self, into: Map, key: Scalar, source: Node) -> None:
        """Copy what ``source``, a map or a list of maps, has and ``into`` has not."""
        for node in source.nodes if isinstance(source, Items) else [source]:
            if not isinstance(node, Map):
                raise Broken(key.at, "<< takes a map or a list of maps")
            self.merged += len(node.entries)
            if self.merged > MOST_MERGED:
                raise Broken(key.at, f"its << copy more than {MOST_MERGED} keys")
            for name, entry in node.entries.items():
                into.entries.setdefault(name, entry)


def compose(events: Iterable[Any], start: int) -> Iterator[Node]:
    """Return the tree of each document; of an empty one it is null.

    Raises:
        Broken: a document asks for more than the bounds, or has no meaning in YAML.
        Exception: whatever the parser raises while it makes the events.
    """
    builder = _Builder()
    for event in events:
        kind = type(event).__name__
        if kind == "DocumentStartEvent":
            builder.begin_document()
        elif kind == "DocumentEndEvent":
            if builder.root is not None:
                yield builder.root
        elif kind != "StreamStartEvent":
            _build(builder, kind, event, start + event.start_mark.index)


def _build(builder: _Builder, kind: str, event: Any, at: int) -> None:
    if kind == "ScalarEvent":
        builder.add(_scalar(event, at), event.anchor)
    elif kind == "MappingStartEvent":
        builder.begin(Map(at), event.anchor)
    elif kind == "SequenceStartEvent":
        builder.begin(Items(at), event.anchor)
    elif kind in {"MappingEndEvent", "SequenceEndEvent"}:
        builder.end()
    elif kind == "AliasEvent":
        builder.alias(event.anchor, at)


def _scalar(event: Any, at: int) -> Scalar:
    text: str = event.value
    tag = None if event.tag is None else str(event.tag)
    if event.style is not None or tag in _TEXT_TAGS:
        return Scalar(at, text, text, plain=False)
    return Scalar(at, text, resolve(text))
