"""Pieces of text that are put into a document, in the style of what stands around them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from k8sjob.manifest.inject.emit import Style, entries, in_flow, items, pair
from k8sjob.manifest.inject.raw import Edit
from k8sjob.manifest.inject.written import Alias, Row, Table, Word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from k8sjob.manifest.inject.written import Written


class Unwritable(Exception):
    """A piece stands in a way that nothing can be put there: where, and a clause."""

    def __init__(self, at: int, what: str) -> None:
        """Take the position in the file, and a clause."""
        super().__init__(what)
        self.at, self.what = at, what


def own(table: Table, name: str, *, shared: bool = False) -> Written | None:
    """Return what stands under ``name``, if it stands there and nowhere else; None: nothing does.

    ``shared``: aliases may stand for it. Raises Unwritable.
    """
    found = table.find(name)
    if found is None:
        if table.merges(name):
            raise Unwritable(table.start, f"its {name} comes from elsewhere, by <<: write it out")
        return None
    key, value = found
    if isinstance(value, Alias):
        raise Unwritable(key.start, f"its {name} is an alias of another piece: write it out")
    if value.shared and not shared:
        raise Unwritable(
            key.start,
            f"its {name} (&{value.anchor}) stands for another piece too, which would be changed "
            "with it: write that out",
        )
    return value


def style_of(root: Table, text: str) -> Style:
    """Return how the object ``root`` is written."""
    if not root.flow or not root.entries:
        return Style(step=next(_steps(root, text), 2), hyphen=next(_hyphens(root, text), 0))
    first = root.entries[0][0]
    own_line = _margin(text, first.start) is not None
    indent = next(_indents(root, text), "  ") if own_line else None
    quoted = text[first.start] == '"'
    gap = ": " in text[first.start : root.end].split("\n", 1)[0]
    return Style(json=quoted, indent=indent, gap=gap)


def _nodes(root: Written) -> Iterator[tuple[Table, Word, Written]]:
    waiting: list[Written] = [root]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, Table):
            for key, value in node.entries:
                yield node, key, value
                waiting.append(value)
        elif isinstance(node, Row):
            waiting += node.items


def _steps(root: Table, text: str) -> Iterator[int]:
    for table, key, value in _nodes(root):
        if isinstance(value, Table) and not value.flow and not table.flow:
            yield column(text, value.entries[0][0].start) - column(text, key.start)


def _hyphens(root: Table, text: str) -> Iterator[int]:
    for table, key, value in _nodes(root):
        if isinstance(value, Row) and not value.flow and not table.flow:
            yield column(text, value.dash) - column(text, key.start)


def _indents(root: Table, text: str) -> Iterator[str]:
    for _, key, value in _nodes(root):
        if isinstance(value, Table) and value.entries:
            outer, inner = _margin(text, key.start), _margin(text, value.entries[0][0].start)
            if outer is not None and inner is not None and inner.startswith(outer):
                yield inner.removeprefix(outer)


def column(text: str, at: int) -> int:
    """Return the column of a position."""
    return at - (text.rfind("\n", 0, at) + 1)


def line_end(text: str, at: int) -> int:
    """Return where the line of a position ends, before its newline."""
    found = text.find("\n", at)
    return len(text) if found < 0 else found


def _margin(text: str, at: int) -> str | None:
    """Return what the line before a position consists of, if that is nothing but space."""
    begin = text[text.rfind("\n", 0, at) + 1 : at]
    return begin if not begin.strip() else None


def _lines(text: str, after: int, lines: list[str]) -> Edit:
    """Return whole lines, put below the one that ``after`` is in."""
    at = line_end(text, after)
    depth = len(lines[0]) - len(lines[0].lstrip(" "))
    return Edit(at, at, "".join(f"\n{line}" for line in lines), depth)


def _first(there: Table | Row) -> Written:
    """Return the first piece in a map or list; itself if there is none."""
    if isinstance(there, Table):
        return there.entries[0][0] if there.entries else there
    return there.items[0] if there.items else there


def _check_absent(table: Table, name: str) -> None:
    """Raise Unwritable where a key stands with nothing behind it: a second one would not do."""
    if (found := table.find(name)) is not None:
        raise Unwritable(found[0].start, f"its {name} has no value: take the key away")


class Putting:
    """The edits that put something into one object."""

    def __init__(self, text: str, style: Style) -> None:
        """Take the plain text, and how the object is written."""
        self.text, self.style = text, style
        self.edits: list[Edit] = []

    def into(self, table: Table, name: str, value: dict[str, Any] | list[Any]) -> None:
        """Put ``value``'s entries or items at the end of what stands under ``name``, or make it."""
        found = table.find(name)
        if found is None:
            self.entry(table, name, value)
            return
        key, there = found
        if isinstance(there, Word) and there.null:
            self._instead_of_null(table, key, there, value)
        elif isinstance(value, dict) and isinstance(there, Table):
            self._add(there, value, [one.end for _, one in there.entries])
        elif isinstance(value, list) and isinstance(there, Row):
            self._add(there, value, [one.end for one in there.items])
        else:
            raise Unwritable(key.start, f"its {name} is not what Kubernetes has there")

    def entry(self, table: Table, name: str, value: Any, after: str | None = None) -> None:
        """Put an entry into a map: after the entry ``after``, else at its end."""
        _check_absent(table, name)
        found = table.find(after) if after else None
        if table.flow:
            ends = [found[1].end] if found else [one.end for _, one in table.entries]
            self._add(table, {name: value}, ends)
            return
        end = found[1].end if found else table.entries[-1][1].end
        lines = entries({name: value}, self.style, column(self.text, table.entries[0][0].start))
        self.edits.append(_lines(self.text, end, lines))

    def in_front(self, row: Row, words: list[str]) -> None:
        """Put items before the first one of a list that has some."""
        if not row.flow:
            at = self.text.rfind("\n", 0, row.dash) + 1
            lines = items(words, self.style, row.dash - at)
            self.edits.append(Edit(at, at, "".join(f"{line}\n" for line in lines)))
            return
        at = row.items[0].start
        gap = self._gap(row, at)
        new = "".join(f"{in_flow(word, self.style)}{gap}" for word in words)
        self.edits.append(Edit(at, at, new))

    def _add(self, there: Table | Row, value: dict[str, Any] | list[Any], ends: list[int]) -> None:
        if isinstance(there, Table):
            for name in value:
                _check_absent(there, name)
        if not there.flow:
            self._add_lines(there, value)
            return
        begin = _first(there).start
        margin = _margin(self.text, begin) if ends else None
        pieces = (
            [pair(name, one, self.style, margin) for name, one in value.items()]
            if isinstance(value, dict)
            else [in_flow(one, self.style, margin) for one in value]
        )
        gap = self._gap(there, begin)
        bracket = "{" if isinstance(there, Table) else "["
        at = ends[-1] if ends else self.text.index(bracket, there.start) + 1
        new = gap.join(pieces)
        self.edits.append(Edit(at, at, f"{gap}{new}" if ends else new))

    def _add_lines(self, there: Table | Row, value: dict[str, Any] | list[Any]) -> None:
        if isinstance(there, Table) and isinstance(value, dict):
            at = column(self.text, there.entries[0][0].start)
            lines = entries(value, self.style, at)
        else:
            assert isinstance(there, Row)  # noqa: S101  # for the type checker
            assert isinstance(value, list)  # noqa: S101  # as above
            lines = items(value, self.style, column(self.text, there.dash))
        self.edits.append(_lines(self.text, there.end, lines))

    def _gap(self, there: Table | Row, first: int) -> str:
        margin = _margin(self.text, first) if first != there.start else None
        if margin is not None:
            return f",\n{margin}"
        return ", " if self.style.gap or not self.style.json else ","

    def _instead_of_null(
        self, table: Table, key: Word, there: Word, value: dict[str, Any] | list[Any]
    ) -> None:
        if table.flow:
            margin = _margin(self.text, key.start)
            new = in_flow(value, self.style, margin)
            # Right behind its colon stands what is not there at all, and before what comes next.
            gap = " " if there.start == there.end else ""
            self.edits.append(Edit(there.start, there.end, f"{gap}{new}", depth=1))
            return
        after = self.text.index(":", key.end) + 1
        self.edits.append(Edit(after, there.end, ""))
        at = column(self.text, key.start)
        lines = (
            entries(value, self.style, at + self.style.step)
            if isinstance(value, dict)
            else items(value, self.style, at + self.style.hyphen)
        )
        self.edits.append(_lines(self.text, there.end, lines))
