"""How often a claim goes to the server and back: counted on the wire, by a proxy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg

from benchmarks.report import Line
from benchmarks.work import CREDIT, ByHand, Claimed, periods
from k8sjob import claim
from tests.wire import WireProxy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.scale import Scale
    from benchmarks.server import Server

JOB = "bench/round-trips"


def measure(server: Server, _scale: Scale) -> Iterator[Line]:
    """Count the claim alone, and the whole transaction beside the hand-written one."""
    database = server.database("round_trips")
    with (
        WireProxy(database.dsn()) as proxy,
        psycopg.connect(proxy.conninfo(), prepare_threshold=None) as conn,
    ):
        conn.execute(CREDIT)  # begins
        with proxy.counting() as alone:
            claim(conn, f"{JOB}:{next(periods(10_000))}")
        conn.commit()
        with proxy.counting() as claimed:
            Claimed(conn, JOB)()
        with proxy.counting() as by_hand:
            ByHand(conn, JOB)()
    count = alone.count
    yield Line("round trips of a claim", str(count), "1", count == 1)
    yield Line("round trips of a transaction", f"{claimed.count} claimed, {by_hand.count} by hand")
