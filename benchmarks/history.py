"""Whether a claim gets slower with the years."""

from __future__ import annotations

from itertools import cycle
from time import perf_counter
from typing import TYPE_CHECKING

from benchmarks.pairs import block, take_turns
from benchmarks.report import at_most
from benchmarks.work import CREDIT, periods
from k8sjob import claim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.report import Line
    from benchmarks.scale import Scale
    from benchmarks.server import Connection, Database, Server

LIMIT = 1.1
FEW = 10_000
JOBS = 100
_BATCH = 500_000

# The ledger's own trigger asks whether a claim would commit alone: these rows are nobody's claim.
_QUIET = "ALTER TABLE k8sjob.periods {} TRIGGER USER"
_GATES = """INSERT INTO k8sjob.gate (job, kind)
            SELECT 'bench/job-' || j, 'scheduled' FROM generate_series(0, %(jobs)s - 1) j"""
_ROWS = """
INSERT INTO k8sjob.periods (job, period, scheduled_for, state, origin, attempt, done_at)
SELECT 'bench/job-' || n %% %(jobs)s, to_char(at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
       timezone('UTC', at), 'done', 'claim', gen_random_uuid(), clock_timestamp()
  FROM generate_series(%(first)s::int, %(last)s - 1) n,
       LATERAL (SELECT timestamp '1990-01-01' + make_interval(mins => n / %(jobs)s)) t (at)"""


def measure(server: Server, scale: Scale) -> Iterator[Line]:
    """Compare the claim's statement on a ledger with few rows and on one with many."""
    sizes = {"few": FEW, "many": scale.history_rows}
    databases = {name: server.database(f"history_{name}") for name in sizes}
    for name, database in databases.items():
        _load(database, sizes[name])
    server.settle()
    with databases["few"].connect() as few, databases["many"].connect() as many:
        rivals = {"few": _claims(few, FEW), "many": _claims(many, scale.history_rows)}
        for claims in rivals.values():  # first touches of pages after the checkpoint
            block(claims, JOBS)()
        rounds = take_turns(
            {name: block(claims, scale.block) for name, claims in rivals.items()}, scale.rounds
        )
    ratio = rounds.ratio("many", "few")
    times = " / ".join(f"{rounds.of(name).median * 1e6:.0f}" for name in ("many", "few"))
    question = f"claim with {scale.history_rows:,} period rows / {FEW:,}"
    yield at_most(question, ratio.median, LIMIT, f"{ratio.text()}: {times} us")


def _load(database: Database, rows: int) -> None:
    with database.as_owner() as conn:
        conn.execute("SET synchronous_commit = off")
        conn.execute(_QUIET.format("DISABLE").encode())
        conn.execute(_GATES, {"jobs": JOBS})
        for first in range(0, rows, _BATCH):
            conn.execute(_ROWS, {"jobs": JOBS, "first": first, "last": min(first + _BATCH, rows)})
        conn.execute(_QUIET.format("ENABLE").encode())


def _claims(conn: Connection, rows: int) -> Callable[[], float]:
    """Return what claims the next period of the next job, and returns how long the claim took."""
    jobs, texts = cycle(range(JOBS)), periods(rows // JOBS + 1)
    now = {"period": next(texts)}

    def one() -> float:
        job = next(jobs)
        if job == 0:
            now["period"] = next(texts)
        conn.execute(CREDIT)  # begins
        start = perf_counter()
        claim(conn, f"bench/job-{job}:{now['period']}")
        took = perf_counter() - start
        conn.commit()
        return took

    return one
