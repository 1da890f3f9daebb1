"""Files of manifests: their bytes as text, and which line a position is in."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left
from pathlib import Path

from k8sjob.manifest.read import Trouble

#: No manifest comes near it: a cluster takes objects of 1.5 MiB at most (etcd's limit).
LARGEST = 32 * 2**20

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_file(name: str) -> bytes | Trouble:
    """Return the bytes of a file, one more than `LARGEST` at most; what is wrong if it has none."""
    try:
        with Path(name).open("rb") as file:
            return file.read(LARGEST + 1)
    except IsADirectoryError:
        return Trouble(None, f"is a folder, so nothing in it was checked: write {name}/*.yaml")
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        return Trouble(None, f"cannot be read, so nothing was checked: {reason}")


def decode(data: bytes) -> str | Trouble:
    """Return a manifest's text, each line ended by a newline alone, without byte order marks.

    It is UTF-8, or UTF-16 with a byte order mark, as ``>`` of Windows PowerShell writes it.
    """
    if len(data) > LARGEST:
        limit = f"{LARGEST // 2**20} MiB"
        return Trouble(None, f"is larger than {limit}, so nothing was checked: split it")
    coding = "utf-16" if data.startswith(_UTF_16) else "utf-8"
    try:
        text = data.decode(coding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what = f"is not {coding.upper()} in line {line}, so nothing was checked: save it as UTF-8"
        return Trouble(None, what)
    return text.replace("\ufeff", "").replace("\r\n", "\n").replace("\r", "\n")


class Lines:
    """Tells the line of a position in a text, counted from 1."""

    def __init__(self, text: str) -> None:
        """Take the text that positions are of."""
        self._ends = [match.start() for match in re.finditer("\n", text)]

    def line(self, at: int) -> int:
        """Return the line that the character ``at`` stands in."""
        return bisect_left(self._ends, at) + 1
