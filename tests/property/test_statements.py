"""Whatever a file is made of, cutting it loses nothing and cuts only between statements."""

from __future__ import annotations

import re
import sqlite3

from hypothesis import given
from hypothesis import strategies as st

from k8sjob.errors import ConfigError
from k8sjob.ledger.statements import ends_transaction, first_transaction_end, split, split_sqlite
from k8sjob.ledger.tokens import tokens

BLANK = " \t\n\r\f\v"
INNER = st.text(alphabet="ab'\";$\\-/*()\n\ré ", max_size=6)


def comment(text: str) -> str:
    return "/*" + text.replace("*", "").replace("/", "") + "*/"


def dollar(tag: str, text: str) -> str:
    return f"${tag}$" + text.replace("$", "") + f"${tag}$"


strings = st.one_of(
    INNER.map(lambda text: "'" + text.replace("'", "''") + "'"),
    INNER.map(lambda text: "U&'" + text.replace("'", "''") + "'"),
    # The cast keeps a string in the next line from going on as an E string, with its escapes.
    INNER.map(lambda text: "E'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'::text"),
    st.builds(dollar, st.sampled_from(["", "a", "é1", "_"]), INNER),
)
names = st.one_of(
    INNER.map(lambda text: '"' + text.replace('"', '""') + '"'),
    st.sampled_from(["a", "a$b$", "é", "commit", "begin", "atomic", "x1", "endless"]),
)
comments = st.one_of(
    INNER.map(comment),
    INNER.map(lambda text: f"/*{comment(text)}'*/"),
    INNER.map(lambda text: "--" + text.replace("\n", "").replace("\r", "") + "\n"),
)
gaps = st.one_of(
    st.sampled_from([" ", "\n", "\r\n", "\t\v"]), comments.map(lambda text: f" {text} ")
)
items = st.one_of(strings, names, st.sampled_from(["1", "$1", "(';')", "case when 1 then 2 end"]))


@st.composite
def queries(draw: st.DrawFn) -> str:
    """Draw one statement of tokens with gaps between them."""
    parts = draw(st.lists(st.tuples(gaps, items), min_size=1, max_size=4))
    return "select" + "".join(gap + item for gap, item in parts)


@st.composite
def routines(draw: st.DrawFn) -> str:
    """Draw one function with a SQL-standard body."""
    body = "".join(f" {query} ;" for query in draw(st.lists(queries(), max_size=3)))
    head = draw(st.sampled_from(["create function f()", "CREATE OR REPLACE PROCEDURE p()"]))
    return f"{head} begin{draw(gaps)}ATOMIC{body}{draw(gaps)}end"


rules = queries().map(lambda query: f"create rule r as on insert to t do ({query} ; {query} ;)")
statements = st.one_of(queries(), queries(), routines(), rules)
soup = st.text(alphabet="E'\"$a;()/*-\n\r \\&U1é", max_size=40)


def hollow(text: str) -> bool:
    """Tell whether there is nothing but blanks, comments and semicolons."""
    return all(token.value == ";" for token in tokens(text))


@given(st.lists(statements, max_size=5), gaps)
def test_the_parts_of_a_file_are_given_back(parts: list[str], gap: str) -> None:
    whole = "".join(f"{part}{gap};" for part in parts) + gap
    assert [s.text for s in split(whole)] == [f"{part}{gap}".strip(BLANK) for part in parts]
    assert first_transaction_end(whole) is None


@given(st.lists(statements, max_size=3), st.sampled_from(["COMMIT", "end", "abort"]), statements)
def test_an_end_between_statements_is_always_found(
    before: list[str], command: str, after: str
) -> None:
    found = first_transaction_end("".join(f"{part};" for part in before) + f"{command};{after}")
    assert found is not None
    assert found[0] == command.upper()
    assert ends_transaction(command) == found[0]


@given(st.lists(statements, min_size=1, max_size=4))
def test_each_line_is_the_line_of_the_first_token(parts: list[str]) -> None:
    whole = "\r\n-- x\n".join(f"{part};" for part in parts)
    end = 0
    for part, statement in zip(parts, split(whole), strict=True):
        start = whole.index(part, end)
        assert statement.line == len(re.split("\r\n|\r|\n", whole[:start]))
        end = start + len(part)


@given(soup)
def test_only_comments_and_semicolons_are_lost_whatever_the_text(text: str) -> None:
    try:
        found = split(text)
    except ConfigError:
        return
    rest = text
    for statement in found:
        places = (at for at in range(len(rest)) if rest.startswith(statement.text, at))
        place = max(at for at in places if hollow(rest[:at]))
        rest = rest[place + len(statement.text) :]
    assert hollow(rest)


@given(soup)
def test_cutting_a_statement_again_gives_the_same(text: str) -> None:
    try:
        found = split(text)
    except ConfigError:
        return
    for statement in found:
        assert [again.text for again in split(statement.text)] == [statement.text]


@given(soup)
def test_the_guard_of_a_connection_never_raises(text: str) -> None:
    ends_transaction(text)
    first_transaction_end(f"{text}; commit; {text}")


sqlite_texts = st.text(alphabet="ab;-/*()[\r ", max_size=6)
sqlite_statements = st.one_of(
    sqlite_texts.map(
        lambda text: f"insert into t values ('{text}', 1) /* /* {text.replace('*', '')} '*/"
    ),
    sqlite_texts.map(lambda text: f"insert into t select 'x''\"{text}' as [;], 2 -- {text}"),
    sqlite_texts.map(lambda text: f'insert into t select 1 as "{text};\'", 2 as `{text};""`'),
    st.just("create trigger r after insert on t begin select ';', case 1 when 1 then 2 end; end"),
)


@given(st.lists(sqlite_statements, max_size=4, unique=True))
def test_sqlite_runs_the_parts_as_it_runs_the_whole(parts: list[str]) -> None:
    whole = "".join(f"{part}\n;\n" for part in parts)
    with sqlite3.connect(":memory:") as one, sqlite3.connect(":memory:") as other:
        for db in (one, other):
            db.execute("create table t (a, b)")
        one.executescript(whole)
        for statement in split_sqlite(whole):
            other.execute(statement.text)
        assert list(one.iterdump()) == list(other.iterdump())
        assert len(split_sqlite(whole)) == len(parts)
    one.close()
    other.close()
