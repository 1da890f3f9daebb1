from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from k8sjob import Key, NotApplied, Outcome, claim, try_claim
from tests.integration.callers import KEY
from tests.wire import WireProxy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fix_stores import Database

CREDIT = "UPDATE app.accounts SET balance = balance + 10"


@pytest.fixture
def proxy(db: Database) -> Iterator[WireProxy]:
    """Put the proxy before the test's database."""
    with WireProxy(db.dsn()) as proxy:
        yield proxy


@pytest.fixture
def conn(proxy: WireProxy) -> Iterator[psycopg.Connection[Any]]:
    """Connect through the proxy."""
    with closing(psycopg.connect(proxy.conninfo(), autocommit=True)) as conn:
        yield conn


def asked(proxy: WireProxy, start: int) -> str:
    """Return the frames that asked the server for something, one letter each."""
    return "".join(frame.kind for frame in proxy.frames[start:] if frame.direction == ">")


def test_an_applied_claim_is_one_round_trip(
    proxy: WireProxy, conn: psycopg.Connection[Any]
) -> None:
    with conn.transaction():
        before = len(proxy.frames)
        with proxy.counting() as trips:
            assert claim(conn, KEY, payload="10 to alice")
        assert trips.count == 1
        assert asked(proxy, before) == "PBDES"  # one message of the extended protocol


def test_a_claim_that_is_refused_is_one_round_trip(
    proxy: WireProxy, conn: psycopg.Connection[Any]
) -> None:
    with conn.transaction():
        claim(conn, KEY)
    with conn.transaction(), proxy.counting() as trips:
        assert try_claim(conn, KEY).outcome is Outcome.DUPLICATE
        assert trips.count == 1
        with pytest.raises(NotApplied):
            claim(conn, KEY)
        with pytest.raises(NotApplied):
            claim(conn, KEY, payload="another")
        assert trips.count == 3


def test_a_claimed_transaction_has_as_many_round_trips_as_one_by_hand(
    proxy: WireProxy, conn: psycopg.Connection[Any]
) -> None:
    conn.execute("CREATE TEMPORARY TABLE done (key text PRIMARY KEY)")
    with proxy.counting() as by_hand, conn.transaction():
        conn.execute("INSERT INTO done VALUES (%s) ON CONFLICT DO NOTHING", (str(KEY),))
        conn.execute(CREDIT)
    with proxy.counting() as claimed, conn.transaction():
        claim(conn, KEY)
        conn.execute(CREDIT)
    assert claimed.count == by_hand.count == 4  # BEGIN, the key, the work, COMMIT


def test_claims_that_follow_each_other_on_a_connection_are_one_round_trip_each(
    proxy: WireProxy, conn: psycopg.Connection[Any]
) -> None:
    conn.prepare_threshold = None  # else psycopg prepares the sixth, once, with a trip of its own
    with conn.transaction(), proxy.counting() as trips:
        for day in range(1, 13):
            claim(conn, Key.of(KEY.job, f"2024-01-{day:02}"))
        assert trips.count == 12
