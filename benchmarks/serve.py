"""What a scrape costs: the exporter's own time, the number of queries, and whether history counts.

A scrape is all that `/metrics` does but for HTTP: the ledger is read, the numbers are worked out,
the text is written. Figures are of the processor time of this process, and of wall time.
"""

from __future__ import annotations

import gc
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from itertools import count
from time import perf_counter, process_time
from typing import TYPE_CHECKING

from benchmarks.page import pages
from benchmarks.pairs import Spread, take_turns
from benchmarks.report import Line, at_most
from k8sjob.ledger.migrate import grant
from k8sjob.ledger.settings import parse
from k8sjob.serve.collector import registry_of
from k8sjob.serve.exposition import write
from k8sjob.serve.ledgers import Ledgers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.scale import Scale
    from benchmarks.server import Database, Server

SCRAPE_LIMIT_MS, HISTORY_LIMIT, DEAD_LIMIT_S = 100.0, 1.3, 1.0
MANY, SOME, FEW = 1_000, 100, 10  # jobs
YEAR, YEARS, KEPT = 365 * 24, 10 * 365 * 24, 90 * 24  # hours; attempts are pruned after 90 days
ROUNDS, QUICK_ROUNDS = 31, 9
READER = "bench_reader"
_BATCH = 20  # jobs

_TRACK = """
SELECT k8sjob.track_job('bench/job-' || n, clock_timestamp(), 'scheduled', jsonb_build_object(
         'catch_up', 'flag', 'suspended', false, 'owner', 'team-' || n %% 20, 'severity', 'page')),
       k8sjob.change_version('bench/job-' || n, clock_timestamp(), 0, NULL, NULL, '0 * * * *',
         NULL, false, began, began, false, 'uid')
  FROM generate_series(0, %(jobs)s::int - 1) n,
       LATERAL (SELECT clock_timestamp() - interval '11 years') t (began)"""

# Of each twentieth job the last 20 periods are open.
_PERIODS = """
INSERT INTO k8sjob.periods (job, period, scheduled_for, window_end, state, origin, attempt, done_at,
                            changed_at, deadline_at)
SELECT 'bench/job-' || j, to_char(fire, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), at, at + interval '1 hour',
       CASE WHEN is_open THEN 'open' ELSE 'done' END,
       CASE WHEN is_open THEN 'reconciler' ELSE 'claim' END,
       CASE WHEN NOT is_open THEN gen_random_uuid() END,
       CASE WHEN NOT is_open THEN at + interval '5 seconds' END, at + interval '5 seconds',
       CASE WHEN is_open THEN at + interval '30 minutes' END
  FROM generate_series(%(first)s::int, %(last)s - 1) j,
       generate_series(0, %(hours)s::int - 1) h,
       LATERAL (SELECT date_trunc('hour', timezone('UTC', now())) - make_interval(hours => h))
         t (fire),
       LATERAL (SELECT timezone('UTC', fire), j %% 20 = 0 AND h < 20) u (at, is_open)"""

_ATTEMPTS = """
INSERT INTO k8sjob.attempts (id, job, period, mode, source, client, started_at, ended_at, outcome,
                             exit_code, speaker)
SELECT gen_random_uuid(), p.job, p.period, 'command', '--period', '0.1.0',
       p.scheduled_for + interval '2 seconds', p.scheduled_for + interval '5 seconds', 'applied',
       0, 'k8sjob'
  FROM generate_series(%(first)s::int, %(last)s - 1) j
  JOIN k8sjob.periods p ON p.job = 'bench/job-' || j
 WHERE p.state = 'done' AND p.scheduled_for > now() - make_interval(hours => %(kept)s)"""

_COUNTERS = """
INSERT INTO k8sjob.counters SELECT 'bench/job-' || j, o, 1000 + j
  FROM generate_series(0, %(jobs)s::int - 1) j,
       unnest('{applied,failed,duplicate,lost}'::text[]) o"""

_MARK = """
UPDATE k8sjob.jobs
   SET done_until = date_trunc('hour', clock_timestamp()) - make_interval(hours => %(hours)s)"""

_PASSED = "INSERT INTO k8sjob.passes (scope, ended_at, ok) VALUES ('*', clock_timestamp(), true)"
_CALLS = """
SELECT sum(s.calls)::int FROM pg_stat_statements s
  JOIN pg_roles r ON r.oid = s.userid JOIN pg_database d ON d.oid = s.dbid
 WHERE r.rolname = %s AND d.datname = current_database()"""


def measure(server: Server, scale: Scale) -> Iterator[Line]:
    """Measure a scrape of many jobs, then compare long histories with short ones."""
    year, years = min(YEAR, scale.history_rows // MANY), min(YEARS, scale.history_rows // SOME)
    rounds = QUICK_ROUNDS if scale.name == "quick" else ROUNDS
    with ExitStack() as stack:
        sizes = {"few": (FEW, 24), "many": (MANY, year), "old": (SOME, years)}
        sizes["young"] = (SOME, years // 10)
        exporters = {}
        for name, (jobs, hours) in sizes.items():
            made = stack.enter_context(closing(Exporter(server.database(f"serve_{name}"), jobs)))
            start = perf_counter()
            made.load(hours)
            exporters[name] = made
            yield Line(f"loading {jobs:,} jobs, {hours:,} hours", f"{perf_counter() - start:.0f} s")
        for made in exporters.values():
            made.mark()
        server.settle()
        yield from _queries(exporters["few"], exporters["many"])
        yield from _scrape(exporters["many"], year, rounds)
        yield from pages(exporters["many"].database.dsn(READER), MANY, "bench/job-1", rounds)
        yield _history(exporters["old"], exporters["young"], years, rounds)
        yield from _dead(exporters["many"], rounds)


def _queries(few: Exporter, many: Exporter) -> Iterator[Line]:
    """Count what the server was asked, BEGIN and COMMIT too."""
    counts = [few.queries(), many.queries()]
    question = f"queries of a scrape of {FEW} jobs, of {MANY:,}"
    same = counts[0] == counts[1]
    yield Line(question, f"{counts[0]}, {counts[1]}", "the same number", same)


def _scrape(many: Exporter, hours: int, rounds: int) -> Iterator[Line]:
    found = many.scrapes(rounds)
    what = f"a scrape of {MANY:,} jobs, {MANY * hours:,} periods"
    cpu = Spread.of([one.cpu_s * 1e3 for one in found])
    wall = Spread.of([one.wall_s * 1e3 for one in found])
    yield at_most(f"{what}: processor", cpu.median, SCRAPE_LIMIT_MS, cpu.text(".0f", " ms"), " ms")
    yield at_most(f"{what}: wall", wall.median, SCRAPE_LIMIT_MS, wall.text(".0f", " ms"), " ms")
    read = Spread.of([one.read_s * 1e3 for one in found])
    size = found[-1].size
    yield Line("  of that, to read the ledger: wall", read.text(".0f", " ms"))
    yield Line("  what it writes", f"{size / 1e6:.1f} MB")


def _history(old: Exporter, young: Exporter, hours: int, rounds: int) -> Line:
    exporters = {"old": old, "young": young}
    turns = take_turns({n: _wall(exporter) for n, exporter in exporters.items()}, rounds)
    ratio = turns.ratio("old", "young")
    times = " / ".join(f"{turns.of(name).median * 1e3:.1f}" for name in exporters)
    question = f"a scrape of {SOME} jobs, {hours:,} hours / {hours // 10:,}: wall"
    return at_most(question, ratio.median, HISTORY_LIMIT, f"{ratio.text()}: {times} ms")


def _wall(exporter: Exporter) -> Callable[[], float]:
    return lambda: exporter.scrape().wall_s


def _dead(many: Exporter, rounds: int) -> Iterator[Line]:
    """Let the marks be a day old: what has fired since is worked out, and looked up."""
    many.mark(hours_ago=24)
    first = many.anew().scrape()
    found = many.scrapes(rounds)
    wall = Spread.of([one.wall_s for one in found])
    cpu = Spread.of([one.cpu_s * 1e3 for one in found])
    what = "a scrape with the reconciler dead for a day"
    shown = f"{first.wall_s:.2f} s, of that {first.cpu_s:.2f} s of processor"
    yield at_most(f"{what}, an exporter's first", first.wall_s, DEAD_LIMIT_S, shown, " s")
    yield at_most(f"{what}: wall", wall.median, DEAD_LIMIT_S, wall.text(".2f", " s"), " s")
    yield Line(f"{what}: processor", cpu.text(".0f", " ms"))


@dataclass(frozen=True)
class Scrape:
    """How long one scrape took in seconds, how long of that the ledger was read, and its bytes."""

    wall_s: float
    cpu_s: float
    read_s: float
    size: int


@dataclass
class Exporter:
    """A ledger and what scrapes it, as a role that may only read."""

    database: Database
    jobs: int
    ledgers: Ledgers = field(init=False)

    def __post_init__(self) -> None:
        """Make the role, and connect at the first scrape."""
        with self.database.as_owner() as conn:
            if (
                conn.execute("SELECT FROM pg_roles WHERE rolname = %s", (READER,)).fetchone()
                is None
            ):
                conn.execute(f"CREATE ROLE {READER} LOGIN".encode())
                conn.execute(f"ALTER ROLE {READER} SET pg_stat_statements.track = 'top'".encode())
            conn.execute("CREATE EXTENSION pg_stat_statements")
        grant(self.database.dsn("postgres"), "reader", READER)
        self._serve()

    def _serve(self) -> None:
        ticks = count(step=1000)  # no snapshot is shared
        dsn = self.database.dsn(READER)
        self.ledgers = Ledgers({"bench": lambda: parse(dsn, "the benchmark")}, lambda: next(ticks))

    def close(self) -> None:
        """Give the connection back."""
        self.ledgers.close()

    def anew(self) -> Exporter:
        """Start as after a restart."""
        self.close()
        self._serve()
        return self

    def load(self, hours: int) -> None:
        """Track the jobs, and write what they have done for so long."""
        with self.database.as_owner() as conn:
            conn.execute("SET synchronous_commit = off")
            # The ledger's own trigger asks whether a claim would commit alone: these are no claims.
            conn.execute("SET session_replication_role = replica")
            conn.execute(_TRACK, {"jobs": self.jobs})
            conn.execute(_COUNTERS, {"jobs": self.jobs})
            for first in range(0, self.jobs, _BATCH):
                batch = {"first": first, "last": min(first + _BATCH, self.jobs)}
                conn.execute(_PERIODS, {"hours": hours, **batch})
                conn.execute(_ATTEMPTS, {"kept": KEPT, **batch})
            conn.execute(
                "INSERT INTO k8sjob.passes (scope, ended_at, ok) VALUES ('*', now(), true)"
            )

    def mark(self, hours_ago: int = 0) -> None:
        """Let the reconciler have looked at all up to so many hours ago."""
        with self.database.as_owner() as conn:
            conn.execute(_MARK, {"hours": hours_ago})
            conn.execute("VACUUM ANALYZE k8sjob.jobs")

    def scrape(self) -> Scrape:
        """Scrape once."""
        wall, cpu = perf_counter(), process_time()
        readings = self.ledgers.read()
        read_s = perf_counter() - wall
        text = write(registry_of(lambda: readings).collect(), open_metrics=False)
        made = Scrape(perf_counter() - wall, process_time() - cpu, read_s, len(text))
        if readings[0].trouble or text.count(b"k8sjob_job_info{") != self.jobs:
            raise RuntimeError(readings[0].trouble or "not all jobs are there")
        return made

    def scrapes(self, rounds: int) -> Sequence[Scrape]:
        """Scrape some times; the first two do not count."""
        for _ in range(2):
            self.scrape()
        gc.collect()
        return [self.scrape() for _ in range(rounds)]

    def queries(self) -> int:
        """Return how many statements the server gets at a scrape."""
        self.scrape()
        with self.database.as_owner() as conn:
            conn.execute("SELECT pg_stat_statements_reset()")
            self.scrape()
            row = conn.execute(_CALLS, (READER,)).fetchone()
        return int(row[0]) if row else 0
