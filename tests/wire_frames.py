"""The frames of the Postgres protocol: how they are read, and what SQL they are about.

Source: PostgreSQL documentation, chapter "Frontend/Backend Protocol", sections "Message Flow" and
"Message Formats". Protocols 3.0 and 3.2 frame alike.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    import socket

TO_SERVER: Literal[">"] = ">"
TO_CLIENT: Literal["<"] = "<"

ASKS = frozenset("QSF")  # Query, Sync, FunctionCall: each is answered with one ReadyForQuery

_UNTYPED = {80877102: "cancel", 80877103: "ssl", 80877104: "gssenc"}
_BEFORE_WORD = re.compile(r"[\s;]+|--[^\n]*|/\*")
_WORD = re.compile(r"[A-Za-z]*")
_COMMENT_MARK = re.compile(r"/\*|\*/")


@dataclass(frozen=True)
class Frame:
    """A frame as the log keeps it.

    `kind` is the type letter, or startup, ssl, gssenc, cancel for the packets that have none.
    `text` is the SQL of Query, Parse and Execute, the tag of CommandComplete, the status of
    ReadyForQuery (I, T or E), the SQLSTATE of ErrorResponse, and empty for all others.
    """

    connection: int
    direction: Literal[">", "<"]
    kind: str
    text: str


class RawFrame(NamedTuple):
    """A frame as it is on the wire; `data` is all of it, type and length too."""

    kind: str
    data: bytes

    @property
    def body(self) -> bytes:
        """What follows the type and the length."""
        return self.data[5:]


def read_startup(stream: socket.socket) -> RawFrame:
    """Read a packet without a type byte, the first of a connection. Raises EOFError."""
    head = _read(stream, 8)
    length, code = struct.unpack("!ii", head)
    return RawFrame(_UNTYPED.get(code, "startup"), head + _read(stream, length - len(head)))


def read_frame(stream: socket.socket) -> RawFrame:
    """Read one typed frame. Raises EOFError where the stream ends, in mid-frame too."""
    head = _read(stream, 5)
    kind, length = struct.unpack("!ci", head)
    return RawFrame(kind.decode("latin-1"), head + _read(stream, length - 4))


def _read(stream: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        piece = stream.recv(size - len(data))
        if not piece:
            raise EOFError
        data += piece
    return bytes(data)


def answer_text(frame: RawFrame) -> str:
    """Tag, status or SQLSTATE of a frame from the server; empty for the kinds without one."""
    fields = frame.body.split(b"\0")
    if frame.kind in {"C", "Z"}:
        return fields[0].decode()
    if frame.kind == "E":  # fields, each led by its letter; C is the SQLSTATE
        return next(field[1:].decode() for field in fields if field[:1] == b"C")
    return ""


class Statements:
    """What one client has prepared and bound, so that an Execute can be given its SQL."""

    def __init__(self) -> None:
        self._statements: dict[bytes, str] = {}
        self._portals: dict[bytes, str] = {}

    def text(self, frame: RawFrame) -> str:
        """Return the SQL that a Query or Execute runs or that a Parse prepares, else nothing."""
        first, _, rest = frame.body.partition(b"\0")
        second = rest.partition(b"\0")[0]
        match frame.kind:
            case "Q":
                return first.decode(errors="replace")
            case "P":
                self._statements[first] = second.decode(errors="replace")
                return self._statements[first]
            case "B":
                self._portals[first] = self._statements.get(second, "")
            case "E":
                return self._portals.get(first, "")
        return ""


def is_commit(sql: str) -> bool:
    """Whether the statement is a COMMIT, behind blanks, comments and empty statements."""
    return _first_word(sql) in {"COMMIT", "END"}


def _first_word(sql: str) -> str:
    at = 0
    while blank := _BEFORE_WORD.match(sql, at):
        at = _comment_end(sql, blank.end()) if blank.group() == "/*" else blank.end()
    word = _WORD.match(sql, at)
    return word.group().upper() if word else ""


def _comment_end(sql: str, start: int) -> int:
    depth = 1  # comments nest in Postgres
    for mark in _COMMENT_MARK.finditer(sql, start):
        depth += 1 if mark.group() == "/*" else -1
        if depth == 0:
            return mark.end()
    return len(sql)
