"""A file's own text behind the plain one that positions are of: line ends, marks, coding."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from typing import NamedTuple

_ODD = re.compile("\r\n|\r|\ufeff")
_CODINGS = (
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Edit(NamedTuple):
    """``text`` in the place of what stands from ``start`` to ``end``.

    Of several at one place those that stand deeper come first, then those that were made first.
    """

    start: int
    end: int
    text: str
    #: The column that its lines begin in.
    depth: int = 0


class Raw:
    """A text with the line ends that it came with."""

    def __init__(self, text: str) -> None:
        """Take it as it is in the file."""
        self.text = text
        self.plain = ""
        self._marks: list[tuple[int, int]] = [(0, 0)]  # place in the plain text, and shift from it
        at, pieces, size = 0, [], 0
        for match in _ODD.finditer(text):
            piece = text[at : match.start()] + ("" if match[0] == "\ufeff" else "\n")
            pieces.append(piece)
            size, at = size + len(piece), match.end()
            if at - size != self._marks[-1][1]:
                self._marks.append((size, at - size))
        self.plain = "".join([*pieces, text[at:]])
        ends = re.search("\r\n|\r|\n", text)
        self.newline = ends[0] if ends else "\n"

    def edited(self, edits: list[Edit]) -> Raw:
        """Return the text with ``edits`` done, which do not overlap."""
        if not edits:
            return self
        order = sorted(enumerate(edits), key=lambda one: (one[1].start, -one[1].depth, one[0]))
        pieces, at = [], 0
        for _, edit in order:
            start, end = self._place(edit.start), self._place(edit.end)
            pieces += [self.text[at:start], edit.text.replace("\n", self.newline)]
            at = max(end, start)
        return Raw("".join([*pieces, self.text[at:]]))

    def _place(self, at: int) -> int:
        number = bisect_right(self._marks, (at, len(self.text))) - 1
        return at + self._marks[number][1]


def coding_of(data: bytes) -> str:
    """Return the coding of a file that `k8sjob.manifest.files.decode` takes."""
    return next((name for mark, name in _CODINGS if data.startswith(mark)), "utf-8")
