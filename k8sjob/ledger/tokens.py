"""Cut SQL into tokens, as far as one must to know where a statement ends and what it begins with.

The Postgres rules are those of its lexer (documentation, section 4.1; ``scan.l``), with
``standard_conforming_strings`` on. Numbers and operators are not told apart: they cannot hold a
semicolon, a quote or the start of a comment.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

BOM = "\ufeff"
# All beyond ASCII is a letter. As [^…] that compiles at once; as \x80-\U0010ffff in 10 ms.
_NO_LETTER = r"\x00-@\[-^`{-\x7f"
_NO_LETTER_OR_DIGIT = r"\x00-/:-@\[-^`{-\x7f"
_NO_WORD = r"\x00-\#%-/:-@\[-^`{-\x7f"  # a dollar may be part of one
_NEWLINE = re.compile(r"\r\n|\r|\n")

# Each alternative opens a token; strings, names and comments are then followed to their end.
POSTGRES = re.compile(
    rf"""
    (?P<blank>   [ \t\n\r\f\v]+ | --[^\n\r]* )
  | (?P<nested>  /\* )
  | (?P<escape>  [eE]' )
  | (?P<string>  (?: [bBnNxX] | [uU]& )? ' )
  | (?P<name>    (?: [uU]& )? " )
  | (?P<dollar>  \$ (?: [^{_NO_LETTER}] [^{_NO_LETTER_OR_DIGIT}]* )? \$ )
  | (?P<word>    [^{_NO_LETTER}] [^{_NO_WORD}]* )
  | (?P<mark>    [;()\\] )
  | (?P<other>   [0-9.,:=<>+*%^&|!~?@\[\]]+ | . )
    """,
    re.VERBOSE | re.DOTALL,
)
# https://sqlite.org/lang_comment.html: comments do not nest, and only \n ends a line comment.
SQLITE = re.compile(
    rf"""
    (?P<blank>   [ \t\n\r\f{BOM}]+ | --[^\n]* )
  | (?P<flat>    /\* )
  | (?P<string>  ' )
  | (?P<name>    " )
  | (?P<tick>    ` )
  | (?P<bracket> \[ )
  | (?P<word>    [^{_NO_WORD}]+ )
  | (?P<mark>    ; )
  | (?P<other>   . )
    """,
    re.VERBOSE | re.DOTALL,
)
# Only whitespace with a newline continues a string. It matters for E'': what follows is E'' too.
_CONTINUED = r"(?:[ \t\f\v]*(?:--[^\n\r]*)?[\n\r])+[ \t\f\v]*"
# The edges of a quoted token: one character closes it, a longer match belongs to it.
_QUOTES = {
    "escape": re.compile(rf"\\.|'(?:{_CONTINUED})?'|'", re.DOTALL),
    "string": re.compile(r"''?"),
    "name": re.compile(r'""?'),
    "tick": re.compile(r"``?"),
}
_COMMENT_EDGE = re.compile(r"/\*|\*/")


class Token(NamedTuple):
    r"""One token. `value`: a word in lower case, one of ``;()\`` as it is, "" for all else."""

    value: str
    start: int
    unclosed: bool = False


def tokens(text: str, rules: re.Pattern[str] = POSTGRES) -> Iterator[Token]:
    """Yield all that is neither blank nor comment; what is never closed comes last, as such."""
    position = 0
    while match := rules.match(text, position):
        kind = match.lastgroup or ""
        end = _end(text, kind, match)
        if end < 0:
            yield Token("", position, unclosed=True)
            return
        if kind in ("word", "mark"):
            # The servers fold ASCII only: a Kelvin sign is no k.
            yield Token(match[0].lower() if match[0].isascii() else "", position)
        elif kind not in ("blank", "nested", "flat"):
            yield Token("", position)
        position = end


def newlines(text: str, start: int, end: int) -> int:
    r"""Count the line ends between two positions: ``\n``, ``\r\n`` or ``\r``."""
    return len(_NEWLINE.findall(text, start, end))


def _end(text: str, kind: str, opening: re.Match[str]) -> int:
    """Where the token ends, or -1 if the text ends first."""
    inside = opening.end()
    if kind == "nested":
        return _comment_end(text, inside)
    if kind in _QUOTES:
        edges = _QUOTES[kind].finditer(text, inside)
        return next((edge.end() for edge in edges if len(edge[0]) == 1), -1)
    if kind in ("dollar", "flat", "bracket"):
        closing = {"flat": "*/", "bracket": "]"}.get(kind, opening[0])
        found = text.find(closing, inside)
        return found + len(closing) if found >= 0 else -1
    return inside


def _comment_end(text: str, inside: int) -> int:
    depth = 1
    for edge in _COMMENT_EDGE.finditer(text, inside):
        depth += 1 if edge[0] == "/*" else -1
        if depth == 0:
            return edge.end()
    return -1
