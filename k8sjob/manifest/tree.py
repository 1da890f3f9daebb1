"""A document as a tree whose every piece knows where in the text it stands.

Positions are characters from the start of the file. Nothing here fails on an odd document: what is
absent, null or of another type than asked for is simply not there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from k8sjob.manifest.shown import bare, clip

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What a scalar is to Kubernetes.
Value = str | int | float | bool | None


@dataclass(slots=True, eq=False)
class Scalar:
    """A text, number, true, false or null: what is written, and whether without quotes."""

    at: int
    text: str
    value: Value
    plain: bool = True


@dataclass(slots=True, eq=False)
class Items:
    """A list."""

    at: int
    nodes: list[Node] = field(default_factory=list)


class Entry(NamedTuple):
    """One entry of a map: where its key stands, and what stands under it."""

    at: int
    node: Node


@dataclass(slots=True, eq=False)
class Map:
    """A map. Of a key that stands in it twice the last entry counts, as in Go and Python."""

    at: int
    entries: dict[str, Entry] = field(default_factory=dict)
    #: Keys that stand in it once more, with the place of each.
    again: list[tuple[int, str]] = field(default_factory=list)


Node = Scalar | Items | Map


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """A place in a tree, be there something or not. ``at`` is where to point at it.

    That is its key; where it is absent, the key of what it is absent from.
    """

    at: int
    node: Node | None = None

    def __getitem__(self, name: str) -> Spot:
        """Return the place under ``name``."""
        entry = self.node.entries.get(name) if isinstance(self.node, Map) else None
        return Spot(self.at) if entry is None else Spot(*entry)

    def under(self, *names: str) -> Spot:
        """Return the place at the end of ``names``."""
        spot = self
        for name in names:
            spot = spot[name]
        return spot

    def entries(self) -> Iterator[tuple[str, Spot]]:
        """Return the names in a map and their places."""
        if isinstance(self.node, Map):
            for name, entry in self.node.entries.items():
                yield name, Spot(*entry)

    def items(self) -> Iterator[Spot]:
        """Return the places of a list's items."""
        if isinstance(self.node, Items):
            for node in self.node.nodes:
                yield Spot(node.at, node)

    @property
    def present(self) -> bool:
        """Whether there is something: null is nothing to Kubernetes."""
        return self.node is not None and not (
            isinstance(self.node, Scalar) and self.node.value is None
        )

    @property
    def value(self) -> Value:
        """What a scalar is to Kubernetes; None for all else."""
        return self.node.value if isinstance(self.node, Scalar) else None

    @property
    def text(self) -> str | None:
        """The text, if it is one."""
        return self.value if isinstance(self.value, str) else None

    @property
    def number(self) -> int | None:
        """The whole number, if it is one."""
        whole = isinstance(self.value, int) and not isinstance(self.value, bool)
        return int(self.value) if whole and self.value is not None else None

    @property
    def kind(self) -> str:
        """What is there, for a person: ``the number 5``, ``a list``."""
        match self.node:
            case None:
                return "nothing"
            case Scalar(text=text, value=value):
                return _kind(text, value)
            case Items():
                return "a list"
            case _:
                return "a map"


def _kind(text: str, value: Value) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"the boolean {text}"
    return clip(text) if isinstance(value, str) else f"the number {bare(text)}"
