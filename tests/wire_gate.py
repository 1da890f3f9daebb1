"""A table whose commits can be held at a gate, for the proxy's own tests."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeAlias

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.wire import WireProxy

Connection: TypeAlias = psycopg.Connection[tuple[object, ...]]

GATE = 4711  # the advisory lock that a blocked commit waits for
WAIT = 30.0  # seconds

SCHEMA = f"""
DROP TABLE IF EXISTS mark;
CREATE TABLE mark (id int CONSTRAINT one_mark UNIQUE DEFERRABLE INITIALLY DEFERRED);
CREATE OR REPLACE FUNCTION wait_at_the_gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock({GATE});
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER gated AFTER INSERT ON mark DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.id >= 100) EXECUTE FUNCTION wait_at_the_gate();
"""


def connect(proxy: WireProxy, *, autocommit: bool = False) -> Connection:
    """Connect through the proxy."""
    return psycopg.connect(proxy.conninfo(), autocommit=autocommit)


def marks(direct: Connection) -> list[object]:
    """Read what is committed."""
    return [row[0] for row in direct.execute("SELECT id FROM mark ORDER BY id")]


def wait_for_a_waiter(direct: Connection) -> None:
    """Return once a session waits at the gate."""
    waiting = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = %s AND NOT granted"
    wait_until(lambda: direct.execute(waiting, [GATE]).rowcount > 0, "somebody waits at the gate")


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Ask until it is so."""
    end = time.monotonic() + WAIT
    while not condition():
        if time.monotonic() > end:
            pytest.fail(f"not so within {WAIT} s: {what}")
