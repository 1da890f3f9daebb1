"""The last of what a command said, in bounded memory."""

from __future__ import annotations

#: Bytes 0b10xxxxxx stand inside of a UTF-8 character (RFC 3629, section 3), at most three in a row.
_INSIDE = range(0x80, 0xC0)
_MOST_INSIDE = 3


class Tail:
    """A ring of bytes: it takes any number of them and keeps the last ``limit``.

    Memory stays at ``limit`` plus one write and what Python allots beyond, however much is written.
    """

    def __init__(self, limit: int) -> None:
        """Keep ``limit`` bytes; 0 keeps none. Raises ValueError if it is negative."""
        if limit < 0:
            raise ValueError(f"a tail of {limit} bytes cannot be kept; give 0 or more")
        self._limit = limit
        self._kept = bytearray()
        self._seen = 0

    @property
    def limit(self) -> int:
        """How many bytes are kept at most."""
        return self._limit

    @property
    def left_out(self) -> int:
        """How many bytes were written before the ones that are kept."""
        return self._seen - len(self._kept)

    def write(self, data: bytes) -> None:
        """Take ``data``; what was first goes first."""
        self._seen += len(data)
        if len(data) >= self._limit:
            self._kept[:] = data[len(data) - self._limit :]
            return
        overflow = len(self._kept) + len(data) - self._limit
        if overflow > 0:
            del self._kept[:overflow]
        self._kept += data

    def text(self) -> str:
        """Return what is kept, as text that any database can store.

        Where bytes were left out a line in front says how many. Bytes that are not UTF-8 become
        U+FFFD, which has three bytes of its own, and so does NUL, which PostgreSQL's text cannot
        hold (its documentation, section 8.3).
        """
        kept = self._whole_characters() if self.left_out else self._kept
        text = kept.decode("utf-8", errors="replace").replace("\0", "\ufffd")
        if not self._limit or not (left_out := self._seen - len(kept)):
            return text
        return f"[{left_out:,} bytes before this were left out]\n{text}"

    def _whole_characters(self) -> bytearray:
        """Return what is kept less the rest of a character whose first byte was left out."""
        start = 0
        while start < min(_MOST_INSIDE, len(self._kept)) and self._kept[start] in _INSIDE:
            start += 1
        return self._kept[start:]
