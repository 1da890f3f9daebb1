"""Cut a SQL file into statements, and find the statements that would end the transaction.

A semicolon ends a statement unless it stands in quotes, in a comment, in parentheses or in the
``BEGIN ATOMIC`` body of a function, as in psql. Nothing is interpolated.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

from k8sjob.errors import ConfigError
from k8sjob.ledger.tokens import BOM, SQLITE, Token, newlines, tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# The only whitespace there is: all beyond ASCII belongs to names (scan.l).
_BLANK = " \t\n\r\f\v"
_SUSPECT = re.compile(
    r"(?<![\w$])(?:commit|rollback|abort|end|prepare|begin|start)(?![\w$])", re.IGNORECASE
)

_NOTHING_RAN = "Nothing of the file was run."
_NEVER_CLOSED = {
    "'": ("a string is", "Close it; a quote inside a string is doubled: 'it''s'."),
    '"': ("a quoted name is", 'Close it: "name".'),
    "`": ("a quoted name is", "Close it: `name`."),
    "[": ("a quoted name is", "Close it: [name]."),
    "$": ("a dollar quote is", "Close it with the same tag: $tag$ … $tag$."),
    "/": ("a comment is", "Close it, each inner one too: /* … */."),
}
_USE_INSERT = "Use INSERT, or a program that copies: k8sjob run module:function."
_ONE_FILE = "Put the statements into this file."
_NO_VARIABLES = "Use SQL for it: k8sjob.current_period(), a table, a DO block."
_ONE_CONNECTION = "The file runs on the run's own connection: set K8SJOB_DSN."
_INSTEAD = {
    "copy": _USE_INSERT,
    "i": _ONE_FILE,
    "ir": _ONE_FILE,
    "include": _ONE_FILE,
    "include_relative": _ONE_FILE,
    "set": _NO_VARIABLES,
    "gset": _NO_VARIABLES,
    "if": _NO_VARIABLES,
    "gexec": "Use a DO block with EXECUTE.",
    "c": _ONE_CONNECTION,
    "connect": _ONE_CONNECTION,
}
_PLAIN_SQL = "Remove it: the file holds SQL statements only, each ended by a semicolon."


@dataclass(frozen=True)
class Statement:
    """One statement without its final semicolon.

    `line` is the line of its first token that is no comment, counted from 1. The text of a
    Postgres statement keeps its comments, leading ones too: they may be hints to the planner.
    """

    text: str
    line: int

    def line_at(self, position: int) -> int:
        """Give the file's line for a character of `text`, counted from 1 as Postgres reports it."""
        first = next((token.start for token in tokens(self.text)), 0)
        return self.line + newlines(self.text, first, position - 1)


def split(text: str) -> list[Statement]:
    """Cut the text of a file for Postgres into its statements, in order.

    A byte order mark at the start is dropped, and so are empty statements and the comments after
    the last statement.

    Raises ConfigError, its message starting with ``line N:``, for a NUL, for a string, name,
    dollar quote or comment that is never closed, for a psql command (a backslash outside quotes)
    and for COPY FROM STDIN.
    """
    text = _readable(text)
    groups: list[list[_Segment]] = []
    for segment in _segments(text):
        _refuse_what_psql_reads(text, segment.tokens)
        if not segment.nested:
            groups.append([])
        groups[-1].append(segment)
    spans = [
        (group[0].start, group[0].tokens[0].start, group[-1].end)
        for group in groups
        if group[0].tokens
    ]
    return _statements(text, spans)


def split_sqlite(text: str) -> list[Statement]:
    """Cut the text of a file for SQLite into its statements, in order.

    ``sqlite3.complete_statement`` decides where a trigger ends. The comments before a statement
    are dropped: here they do not nest, and :func:`ends_transaction` reads those that do.

    Raises ConfigError, its message starting with ``line N:``, for a NUL, for a string, name or
    comment that is never closed and for a command of the sqlite3 shell (``.read``).
    """
    from sqlite3 import complete_statement  # noqa: PLC0415  # a run on Postgres needs no sqlite3

    text = _readable(text)
    spans: list[tuple[int, int, int]] = []
    first = -1
    for token in tokens(text, SQLITE):
        _refuse_unclosed(text, token)
        if first < 0 and token.value != ";":
            first = token.start
            _refuse_dot_command(text, first)
        elif (
            token.value == ";" and first >= 0 and complete_statement(text[first : token.start + 1])
        ):
            spans.append((first, first, token.start))
            first = -1
    if first >= 0:
        spans.append((first, first, len(text)))
    return _statements(text, spans)


def ends_transaction(statement_text: str) -> str | None:
    """Name the command if one statement would end, hand over or begin a transaction.

    The answer is COMMIT, END, ROLLBACK, ABORT, PREPARE TRANSACTION, COMMIT PREPARED,
    ROLLBACK PREPARED, BEGIN or START TRANSACTION; None for all else, savepoints included.
    Never raises.
    """
    return _command(list(islice(tokens(statement_text.removeprefix(BOM)), 3)))


def first_transaction_end(text: str) -> tuple[str, int] | None:
    """Find the first statement of a Postgres string that :func:`ends_transaction` names.

    Returns the command and its line, counted from 1. Never raises: the server cannot parse what
    cannot be cut, and then runs no part of the string.
    """
    if not _SUSPECT.search(text):
        return None
    text = text.removeprefix(BOM)
    for segment in _segments(text):
        command = _command(segment.tokens)
        # BEGIN and END belong to a function's body; no body may hold any of the others.
        if command and not (segment.nested and command in ("BEGIN", "END")):
            return command, 1 + newlines(text, 0, segment.tokens[0].start)
    return None


def _command(statement: Sequence[Token]) -> str | None:
    first, second, third, *_ = [token.value for token in statement[:3]] + [""] * 3
    if first in ("commit", "rollback") and second == "prepared":
        return f"{first} prepared".upper()
    if first == "rollback" and (third if second in ("work", "transaction") else second) == "to":
        return None
    if first in ("commit", "end", "rollback", "abort", "begin"):
        return first.upper()
    # "transaction" may also name a prepared statement: PREPARE transaction AS SELECT 1.
    if second == "transaction" and first in ("start", "prepare") and third not in ("as", "("):
        return f"{first} transaction".upper()
    return None


class _Segment(NamedTuple):
    """What stands between two semicolons; `nested` if it goes on with the statement before."""

    start: int
    end: int
    nested: bool
    tokens: list[Token]


def _segments(text: str) -> Iterator[_Segment]:
    nesting = _Nesting()
    start, nested = 0, False
    segment: list[Token] = []
    for token in tokens(text):
        if token.value == ";":
            yield _Segment(start, token.start, nested, segment)
            start, nested, segment = token.start + 1, nesting.next_segment(), []
        else:
            segment.append(token)
            nesting.see(segment)
    yield _Segment(start, len(text), nested, segment)


class _Nesting:
    """Whether a semicolon stands inside a statement: in parentheses or in a function's body."""

    def __init__(self) -> None:
        self._parens = 0
        self._body = False
        self._statement_at = 1

    def next_segment(self) -> bool:
        """Take in a semicolon; say whether the statement goes on after it."""
        self._statement_at = 1
        return self._body or self._parens > 0

    def see(self, segment: Sequence[Token]) -> None:
        """Take in the last token of a segment."""
        value = segment[-1].value
        if value == "(":
            self._parens += 1
        elif value == ")":
            self._parens = max(0, self._parens - 1)
        elif self._parens == 0:
            self._see_word(value, segment)

    def _see_word(self, value: str, segment: Sequence[Token]) -> None:
        # Each statement of a body ends with a semicolon (gram.y, routine_body_stmt_list), so the
        # END of the body stands where a statement may begin; that of a CASE or "AS end" cannot.
        if self._body:
            self._body = not (value == "end" and len(segment) == self._statement_at)
        elif value == "atomic" and len(segment) > 1 and segment[-2].value == "begin":
            self._body = _creates_routine(segment)
            self._statement_at = len(segment) + 1


def _creates_routine(statement: Sequence[Token]) -> bool:
    words = [token.value for token in statement[:4]]
    if words[1:3] == ["or", "replace"]:
        del words[1:3]
    return words[0] == "create" and words[1] in ("function", "procedure")


def _statements(text: str, spans: Sequence[tuple[int, int, int]]) -> list[Statement]:
    statements = []
    line, counted = 1, 0
    for start, first, end in spans:
        line += newlines(text, counted, first)
        counted = first
        statements.append(Statement(text[start:end].strip(_BLANK), line))
    return statements


def _readable(text: str) -> str:
    text = text.removeprefix(BOM)
    if "\0" in text:
        raise _refusal(text, text.index("\0"), "a NUL stands here.", "Save the file as UTF-8.")
    return text


def _refuse_what_psql_reads(text: str, segment: Sequence[Token]) -> None:
    for token in segment:
        _refuse_unclosed(text, token)
        if token.value == "\\":
            name = _word_at(text, token.start + 1)
            what = f"\\{name} is a command of psql, and the file runs without psql."
            raise _refusal(text, token.start, what, _INSTEAD.get(name, _PLAIN_SQL))
    if _copies_in(segment):
        what = "COPY FROM STDIN waits for data, and a file of statements cannot carry data lines."
        raise _refusal(text, segment[0].start, what, _USE_INSERT)


def _copies_in(statement: Sequence[Token]) -> bool:
    """Whether this is a COPY FROM STDIN; the server takes FROM STDOUT for it too (gram.y)."""
    if not statement or statement[0].value != "copy":
        return False
    depth = 0
    for token, following in pairwise(statement):
        depth += (token.value == "(") - (token.value == ")")
        if depth == 0 and token.value == "from" and following.value in ("stdin", "stdout"):
            return True
    return False


def _refuse_dot_command(text: str, start: int) -> None:
    if text[start] == ".":
        name = _word_at(text, start)
        what = f"{name} is a command of the sqlite3 shell, and the file runs without that shell."
        raise _refusal(text, start, what, _PLAIN_SQL)


def _refuse_unclosed(text: str, token: Token) -> None:
    if token.unclosed:
        opener = next(char for char in text[token.start :] if char in _NEVER_CLOSED)
        what, instead = _NEVER_CLOSED[opener]
        raise _refusal(text, token.start, f"{what} opened here and never closed.", instead)


def _word_at(text: str, start: int) -> str:
    found = re.compile(r"[^\s;]*").match(text, start)
    return found[0] if found else ""


def _refusal(text: str, position: int, what: str, instead: str) -> ConfigError:
    line = 1 + newlines(text, 0, position)
    return ConfigError(f"line {line}: {what} {_NOTHING_RAN} {instead}")
