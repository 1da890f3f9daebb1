"""SQL files are cut where Postgres cuts them, and the end of a transaction is found."""

from __future__ import annotations

import pytest

from k8sjob.errors import ConfigError
from k8sjob.ledger.statements import (
    Statement,
    ends_transaction,
    first_transaction_end,
    split,
    split_sqlite,
)


def texts(sql: str) -> list[str]:
    return [statement.text for statement in split(sql)]


# ------------------------------------------------------------------- where a statement ends

WHOLE = {
    "a doubled quote": "select 'it''s; x'",
    "a backslash in a plain string": "select '\\'",
    "a backslash in an E string": r"select E'\'; commit; --'",
    "a small e": r"select e'a''\';'",
    "an E string that goes on in the next line": "select E'a'\n'b\\'; commit; --'",
    "an E string that goes on after comments": "select E'a' -- c'\n -- d\r\t'b\\'; commit; --'",
    "unicode, bit and national strings": "select U&';', B';', x';', N';'",
    "a quoted name": 'select 1 as "a;""; commit; "',
    "a unicode name": 'select 1 as U&"d\\0061;"',
    "an empty dollar tag": "select $$;commit;$$",
    "another tag inside a dollar quote": "select $a$ $$ ; $b$ ; $a $a$",
    "the tag's case": "select $A$;$a$;$A$",
    "a tag beyond ASCII": "select $é$;$e$;$é$",
    "a tag that begins within another": "select $a$ $b$a$",
    "a nested comment": "select 1 /* a /* b; */ c; */",
    "comment edges that touch": "select 2 /*;/*;*/*/ /***; **/ /*/ ; */",
    "a line comment that a carriage return ends": "select 1 -- ;\r, 2",
    "a line comment after an operator": "select 1 +-- ;'\n 2",
    "a comment after an operator": "select 1 @-/* ; ' */ 2",
    "a json arrow": "select '{}'::json->'a;'",
    "a rule of two actions": "create rule r as on insert to t do (delete from t; select 1;)",
    "a function body": "create function f() returns int begin atomic select 1; select 2; end",
    "a procedure body": "CREATE OR REPLACE PROCEDURE p() BEGIN/**/ATOMIC delete from t; END",
    "an empty body": "create function f() returns void begin atomic end",
    "CASE … END in a body": (
        "create function f() returns int begin atomic"
        " select case when true then 1 end; select 2; end"
    ),
    "end as a label and a field in a body": (
        "create function f(x ty) returns int begin atomic"
        " select 1 as end, (x).end, 2 end, 3 case, atomic end from t; select 2; end"
    ),
}


@pytest.mark.parametrize("sql", WHOLE.values(), ids=WHOLE.keys())
def test_a_semicolon_inside_a_token_or_a_body_does_not_split(sql: str) -> None:
    assert texts(f"{sql};select 9") == [sql, "select 9"]


CUT = {
    "a dollar within a name opens no quote": (["select 1 as a$b$", "select 2 as c$b$"]),
    "a dollar with a number is a parameter": (["prepare q as select $1$", "select $1"]),
    "strings on one line do not go on": (["select E'a' '\\'", "select 3"]),
    "a comment between strings ends them": (["select E'a' /**/\n'\\'", "select 3"]),
    "a letter before the quote is part of a name": (["select typE'\\'", "select 3"]),
    "a function may be called begin": (["create function begin() returns int", "select 1"]),
    "a column may be called begin atomic": (["select begin atomic from t", "select 1"]),
    "a body ends once": (["create function f() begin atomic select 1 case; end", "end"]),
    "a closing parenthesis too many opens nothing": (["select 1))", "select (2)"]),
    "a space beyond ASCII is a letter": (["select 1 as \u00a0", "select 2"]),
}


@pytest.mark.parametrize("parts", CUT.values(), ids=CUT.keys())
def test_a_semicolon_outside_splits(parts: list[str]) -> None:
    assert texts(";".join(parts)) == parts


def test_statements_know_the_line_of_their_first_token() -> None:
    sql = "\ufeff-- one\r\nselect 1;\n\n/* two\n*/ select\n 2; -- three\rselect 3;\n;\n-- four\n"
    assert split(sql) == [
        Statement("-- one\r\nselect 1", 2),
        Statement("/* two\n*/ select\n 2", 5),
        Statement("-- three\rselect 3", 7),
    ]


def test_a_position_that_postgres_reports_becomes_a_line_of_the_file() -> None:
    [_, second] = split("select 1;\n-- a comment\nselect 1,\n       nothing;")
    assert second.line == 3
    assert second.line_at(second.text.index("nothing") + 1) == 4
    assert second.line_at(second.text.index("select") + 1) == 3


@pytest.mark.parametrize("sql", ["", " \r\n", "-- only this", "/* ; */", ";;\n; -- x\n", "\ufeff"])
def test_what_holds_no_statement_gives_none(sql: str) -> None:
    assert split(sql) == []
    assert split_sqlite(sql) == []


# ------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("select 1;\nselect 'a;\n", "line 2: a string is opened here and never closed."),
        ("select E'a'\n'b\\'; select 1", "line 1: a string is opened here and never closed."),
        ('\n\nselect "a""', "line 3: a quoted name is opened here and never closed."),
        ("select\r\n$a$ $A$ $$", "line 2: a dollar quote is opened here and never closed."),
        ("select 1 /* /* \n */", "line 1: a comment is opened here and never closed."),
        ("select 1;\n\0", "line 2: a NUL stands here."),
        ("select 1;\n\\i other.sql", "line 2: \\i is a command of psql"),
        ("select 1 \\gset\nselect 'x", "line 1: \\gset is a command of psql"),
        ("\\copy t from 'f'", "Use INSERT, or a program that copies"),
        ("\\timing", "Remove it"),
        ("-- c\ncopy t (a) from stdin;\n1\t'\n\\.\n", "line 2: COPY FROM STDIN waits for data"),
        ('COPY "from"/**/FROM STDIN WITH (format csv)', "line 1: COPY FROM STDIN waits for data"),
        ("copy t from stdout", "line 1: COPY FROM STDIN waits for data"),
    ],
)
def test_what_a_file_cannot_hold_is_refused_with_its_line(sql: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        split(sql)
    assert message in str(caught.value)
    assert "Nothing of the file was run." in str(caught.value)


@pytest.mark.parametrize(
    "sql",
    [
        "copy (select x from stdin) to '/dev/null'",
        "copy t from 'stdin'",
        "copy t from program 'cat'",
        "select copy from stdin",
        "select '\\i' -- \\i\n/* \\i */",
    ],
)
def test_what_only_looks_like_it_is_not_refused(sql: str) -> None:
    assert texts(sql) == [sql]


# ------------------------------------------------------------------ the end of a transaction


@pytest.mark.parametrize(
    ("sql", "command"),
    [
        ("COMMIT AND CHAIN", "COMMIT"),
        ("commit/**/work", "COMMIT"),
        ("/* x */ cOmMiT", "COMMIT"),
        ("-- c\n END TRANSACTION", "END"),
        ("\v\fend", "END"),
        ("rollback", "ROLLBACK"),
        ("rollback work", "ROLLBACK"),
        ("ROLLBACK TRANSACTION AND NO CHAIN", "ROLLBACK"),
        ("abort", "ABORT"),
        ("prepare transaction 'to'", "PREPARE TRANSACTION"),
        ("prepare/* */transaction $$as$$", "PREPARE TRANSACTION"),
        ("commit prepared 'x'", "COMMIT PREPARED"),
        ("Rollback Prepared 'x'", "ROLLBACK PREPARED"),
        ("begin isolation level serializable", "BEGIN"),
        ("start transaction read only", "START TRANSACTION"),
    ],
)
def test_a_statement_that_ends_the_transaction_is_named(sql: str, command: str) -> None:
    assert ends_transaction(sql) == command
    assert first_transaction_end(sql) == (command, 1 + sql.count("\n"))
    assert first_transaction_end(f"select 1;{sql};select 'x") == (command, 1 + sql.count("\n"))


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "rollback to a",
        "ROLLBACK WORK TO SAVEPOINT a",
        "rollback transaction/**/to a",
        "savepoint commit",
        "release savepoint begin",
        "set session characteristics as transaction read write",
        "discard all",
        "prepare transaction as select 1",
        "prepare transaction(int) as select $1",
        "prepare p as select 1",
        "commit_all",
        "commité",
        "rollbac\u212a",
        '"commit"',
        "'commit'",
        "$$commit$$",
        "/* commit",
        "select case when true then 1 end",
        "do $$ begin commit; end $$",
        "call commit()",
    ],
)
def test_a_statement_that_leaves_the_transaction_alone_is_allowed(sql: str) -> None:
    assert ends_transaction(sql) is None
    assert first_transaction_end(f"select 1; {sql}; select 2") is None


@pytest.mark.parametrize("sql", WHOLE.values(), ids=WHOLE.keys())
def test_words_inside_a_token_or_a_body_are_not_reported(sql: str) -> None:
    assert first_transaction_end(f"{sql}; select 1") is None
    assert first_transaction_end(f"{sql};\ncommit") == (
        "COMMIT",
        2 + sql.count("\n") + sql.count("\r"),
    )


def test_the_line_of_the_first_transaction_end_is_told() -> None:
    assert first_transaction_end("select 1;\r\n;-- x\r\nrollback;\ncommit") == ("ROLLBACK", 3)


def test_a_byte_order_mark_hides_nothing() -> None:
    assert ends_transaction("\ufeffcommit") == "COMMIT"
    assert first_transaction_end("\ufeffcommit") == ("COMMIT", 1)


def test_an_end_after_a_function_body_is_not_part_of_it() -> None:
    body = "create function f() returns int begin atomic select 1 case; end;"
    assert first_transaction_end(body) is None
    assert first_transaction_end(f"{body}\nend;") == ("END", 2)


def test_a_commit_where_none_can_stand_is_reported_all_the_same() -> None:
    assert first_transaction_end("select (1; commit") == ("COMMIT", 1)


def test_what_a_program_may_send_is_not_refused() -> None:
    assert first_transaction_end("copy begin from stdin") is None
    assert first_transaction_end("select 'begin") is None
