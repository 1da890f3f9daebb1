"""Aligned tables, with or without colour. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: SGR numbers (ECMA-48, 8.3.117) of words that are worth a colour.
_COLOURS = {
    "missing": 31, "failed": 31, "lost": 31, "unproven": 31, "conflict": 31, "no end": 31,
    "blocked": 33, "awaiting": 33, "due": 36, "running": 36, "done": 32, "applied": 32,
    "skipped": 90, "upcoming": 90, "suspended": 90,
    "fail": 31, "warn": 33, "ok": 32,
}  # fmt: skip


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, colour: bool) -> list[str]:
    """Return the lines; a word of ``_COLOURS`` in a cell colours the cell."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    made = [_line(header, widths, colour=False)]
    return made + [_line(row, widths, colour=colour) for row in rows]


def _line(cells: Sequence[str], widths: Sequence[int], *, colour: bool) -> str:
    return "  ".join(_padded(cells, widths, colour=colour)).rstrip()


def _padded(cells: Sequence[str], widths: Sequence[int], *, colour: bool) -> Iterator[str]:
    for cell, width in zip(cells, widths, strict=True):
        shown = paint(cell) if colour else cell
        yield shown + " " * (width - len(cell))


def paint(cell: str) -> str:
    """Return the cell in the colour of the first of its words that has one, if it begins so."""
    words = cell.lstrip("0123456789 ")
    for word, number in _COLOURS.items():
        if words == word or words.startswith((f"{word} ", f"{word},")):
            return f"\x1b[{number}m{cell}\x1b[0m"
    return cell
