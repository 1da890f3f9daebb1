"""SQL files are cut where SQLite cuts them, and the end of a transaction is found."""

from __future__ import annotations

import pytest

from k8sjob.errors import ConfigError
from k8sjob.ledger.statements import Statement, ends_transaction, split_sqlite

TRIGGER = (
    "create temp trigger r after insert on t begin\n"
    " update t set a = case when a = ';' then 1 end; delete from t; end"
)


@pytest.mark.parametrize(
    "sql",
    [
        TRIGGER,
        "select 'it''s; x', \"a;\"\"b\", [;\"'], `;``;`",
        "select '\\'",
        "select 1 -- ;\r;\n, 2",
        "select 1 /* /* ; */",
        "select 1 /*/ ; */",
        "select\n.5",
    ],
)
def test_sqlite_statements_are_whole(sql: str) -> None:
    first, second = split_sqlite(f"{sql};\n\nselect 9")
    assert first == Statement(sql, 1)
    assert second.text == "select 9"


def test_sqlite_statements_know_their_line_and_lose_leading_comments() -> None:
    sql = "\ufeff-- one\n;/* /* two */\r\nselect 1;\n -- three\nCOMMIT /* x */;\n-- four"
    assert split_sqlite(sql) == [Statement("select 1", 3), Statement("COMMIT /* x */", 5)]


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (
            "select 1;\n.read other.sql\nselect 2;",
            "line 2: .read is a command of the sqlite3 shell",
        ),
        ("select 1;\nselect 'a''", "line 2: a string is opened here and never closed."),
        ("select [a", "line 1: a quoted name is opened here and never closed."),
        ("select\n`a", "line 2: a quoted name is opened here and never closed."),
        ("/* a", "line 1: a comment is opened here and never closed."),
        ("select\n\0", "line 2: a NUL stands here."),
    ],
)
def test_what_a_sqlite_file_cannot_hold_is_refused_with_its_line(sql: str, message: str) -> None:
    with pytest.raises(ConfigError, match="Nothing of the file was run") as caught:
        split_sqlite(sql)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("sql", "command"),
    [
        ("/* /* */ commit;", "COMMIT"),
        ("begin immediate;", "BEGIN"),
        ("end transaction", "END"),
        ("rollback transaction to savepoint a;", None),
        (f"{TRIGGER};", None),
    ],
)
def test_the_end_of_a_sqlite_transaction_is_named(sql: str, command: str | None) -> None:
    [statement] = split_sqlite(sql)
    assert ends_transaction(statement.text) == command
