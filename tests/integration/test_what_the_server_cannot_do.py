"""A server that gives a statement up, or has no room, is not one whose connection has failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from k8sjob.errors import K8sjobError, TryAgain, Unavailable
from k8sjob.ledger.postgres.errors import translate

if TYPE_CHECKING:
    from tests.fix_stores import Database


def told(db: Database, statement: str) -> K8sjobError:
    """Return what becomes of what the server says to a statement."""
    with pytest.raises(psycopg.Error) as raised:
        db.connect(autocommit=True).execute(statement.encode())
    return translate(raised.value, doing="store what is due")


def test_a_statement_that_takes_too_long_may_be_tried_again(db: Database) -> None:
    error = told(db, "SET statement_timeout = '10ms'; SELECT pg_sleep(10)")
    assert isinstance(error, TryAgain)
    first, rest = str(error).splitlines()
    assert first == "could not store what is due: canceling statement due to statement timeout"
    assert "Nothing was changed" in rest
    assert "SET statement_timeout" in rest


@pytest.mark.parametrize("state", ["53100", "53200", "53300", "53400"])
def test_a_server_without_room_is_told_as_one(db: Database, state: str) -> None:
    error = told(db, f"DO $$ BEGIN RAISE 'no space left' USING ERRCODE = '{state}'; END $$")
    assert isinstance(error, Unavailable)
    first, rest = str(error).splitlines()
    assert first == "the ledger's server has no room to store what is due: no space left"
    assert "Nothing was changed" in rest
    assert "connection to the ledger failed" not in str(error)


def test_a_connection_that_is_ended_has_failed(db: Database) -> None:
    error = told(db, "DO $$ BEGIN RAISE 'bye' USING ERRCODE = '57P01'; END $$")
    assert isinstance(error, Unavailable)
    assert str(error).startswith("the connection to the ledger failed while trying to store")
