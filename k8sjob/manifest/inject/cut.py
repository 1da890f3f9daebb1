"""Pieces of text that are taken out again, as if they had never been put in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.manifest.inject.put import line_end
from k8sjob.manifest.inject.raw import Edit
from k8sjob.manifest.inject.written import Row, Table, Word

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from k8sjob.manifest.inject.written import Written


class Cutting:
    """The edits that take something out of one object."""

    def __init__(self, text: str) -> None:
        """Take the plain text."""
        self.text = text
        self._edits: list[Edit] = []
        self._gone: dict[int, tuple[Table | Row, set[int]]] = {}

    @property
    def edits(self) -> list[Edit]:
        """The edits. Which comma goes is known when all that goes is."""
        return [
            *self._edits,
            *(e for there, gone in self._gone.values() for e in self._of(there, gone)),
        ]

    def out_of(self, table: Table, name: str, ours: Collection[str], before: str | None) -> None:
        """Take entries of these names, or items with such a ``name``, out of ``table[name]``.

        ``before`` is what stood under ``name`` in the beginning where that was nothing: ``{}``,
        ``null``; where there was not even the key it is None.
        """
        key, there = table.find(name) or (None, None)
        if key is None or not isinstance(there, (Table, Row)):
            return
        places = _places(there)
        numbers = [n for n, (title, _, _) in enumerate(places) if title in ours]
        if len(numbers) < len(places) or (before in {"{}", "[]"} and numbers):
            self._some(there, numbers)
        elif numbers and before is None:
            self.entries(table, [name])
        elif numbers:
            self._to_null(table, key, there, before or "")

    def entries(self, table: Table, names: Collection[str]) -> None:
        """Take entries out of a map."""
        places = _places(table)
        numbers = [n for n, (title, _, _) in enumerate(places) if title in names]
        self._some(table, numbers)

    def front(self, row: Row, count: int) -> None:
        """Take the first items out of a list that has more."""
        if row.flow:
            self._edits.append(Edit(row.items[0].start, row.items[count].start, ""))
            return
        start = self.text.rfind("\n", 0, row.dash) + 1
        self._edits.append(Edit(start, line_end(self.text, row.items[count - 1].end) + 1, ""))

    def _some(self, there: Table | Row, numbers: list[int]) -> None:
        self._gone.setdefault(id(there), (there, set()))[1].update(numbers)

    def _of(self, there: Table | Row, gone: set[int]) -> Iterator[Edit]:
        places = _places(there)
        for number in sorted(gone):
            _, start, end = places[number]
            if not there.flow:
                start = max(self.text.rfind("\n", 0, start), 0)
                yield Edit(start, line_end(self.text, end), "")
            elif not gone.issuperset(range(number)):
                yield Edit(places[number - 1][2], end, "")
            else:  # nothing but ours stands before it
                after = places[number + 1][1] if number + 1 < len(places) else end
                yield Edit(start, after, "")

    def _to_null(self, table: Table, key: Word, there: Table | Row, before: str) -> None:
        word = "" if before == "-" else before
        after = self.text.index(":", key.end) + 1
        if table.flow:
            self._edits.append(Edit(there.start if word else after, there.end, word))
            return
        self._edits.append(Edit(after, after, f" {word}" if word else ""))
        self._edits.append(Edit(line_end(self.text, after), line_end(self.text, there.end), ""))


def _places(there: Table | Row) -> list[tuple[str, int, int]]:
    """Return name, begin and end of each entry or item."""
    if isinstance(there, Table):
        return [(key.text, key.start, value.end) for key, value in there.entries]
    return [(name_of(item), item.start, item.end) for item in there.items]


def name_of(item: Written) -> str:
    """Return what stands under ``name`` in a list's item."""
    found = item.find("name") if isinstance(item, Table) else None
    return found[1].text if found and isinstance(found[1], Word) else ""
