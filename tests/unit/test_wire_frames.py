"""Which statements are a COMMIT to the proxy."""

from __future__ import annotations

import pytest

from tests.wire_frames import is_commit


@pytest.mark.parametrize(
    "sql",
    [
        "COMMIT",
        "commit;",
        "END",
        "  \n\tCommit AND CHAIN",
        ";;COMMIT",
        "-- no\nCOMMIT",
        "/* a */ -- b /*\n COMMIT",
        "/* a /* nested */ ROLLBACK */COMMIT",
    ],
)
def test_a_commit_is_known_in_any_spelling(sql: str) -> None:
    assert is_commit(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "-- COMMIT",
        "/* COMMIT",
        "/* /* */ COMMIT */",
        "SELECT 'COMMIT'",
        "COMMITTED",
        "ROLLBACK",
    ],
)
def test_what_is_no_commit_is_not_taken_for_one(sql: str) -> None:
    assert not is_commit(sql)
