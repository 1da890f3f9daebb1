"""What was asked, what was wanted, what was measured."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import indent
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Line:
    """One line of the closing table; ``met`` is None where there is no target."""

    question: str
    measured: str
    target: str = ""
    met: bool | None = None

    @property
    def verdict(self) -> str:
        """Say it in a word."""
        return {True: "met", False: "NOT met", None: ""}[self.met]


def at_most(question: str, value: float, limit: float, measured: str, unit: str = "") -> Line:
    """Return a line whose target is an upper limit."""
    return Line(question, measured, f"<= {limit:g}{unit}", value <= limit)


def at_least(question: str, value: float, limit: float, measured: str) -> Line:
    """Return a line whose target is a lower limit."""
    return Line(question, measured, f">= {limit:g}", value >= limit)


def table(lines: Sequence[Line]) -> str:
    """Return the lines under their headings, in columns."""
    rows = [("question", "target", "measured: median (quartiles)", "")]
    rows += [(line.question, line.target or "-", line.measured, line.verdict) for line in lines]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    texts = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
    texts.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(text.rstrip() for text in texts)


def said(line: Line) -> str:
    """Return what is printed as soon as a line is known."""
    target = f"  [{line.target}: {line.verdict}]" if line.target else ""
    return indent(f"{line.question}: {line.measured}{target}", "  ")
