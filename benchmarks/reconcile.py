"""Whether a pass of the reconciler costs what is new, and not what is history.

The cluster is data in memory, so that the ledger's part is what is measured: to look at it, and to
write what a pass writes. The ledgers take turns, and each pass comes an hour after the one before.
"""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from time import perf_counter
from typing import TYPE_CHECKING, Any

from benchmarks.pairs import Spread, take_turns
from benchmarks.report import Line, at_most
from k8sjob.kube.objects import CronJob, Managed
from k8sjob.ledger.migrate import grant
from k8sjob.ledger.settings import parse
from k8sjob.ledger.watch import Watcher, open_watcher
from k8sjob.reconcile.one_pass import run
from k8sjob.reconcile.report import Report, summary
from k8sjob.reconcile.seen import Span, World, take_census
from k8sjob.reconcile.state import Pass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.pairs import Rounds
    from benchmarks.scale import Scale
    from benchmarks.server import Database, Server
    from k8sjob.reconcile.catch_up import Launch
    from k8sjob.reconcile.seen import Named

LIMIT = 1.3
YEAR, WEEK = 365 * 24, 7 * 24  # hours
JOBS, CARRIERS, CARRIED = 1_000, 5, 50
ROUNDS = 9
OUTAGE = 24 * 60  # minutes

HOUR, MINUTE, SECOND = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)
#: The clock stands at five past the half hour: what fired on the hour is past its grace.
START = datetime(2026, 9, 13, 12, 35, tzinfo=UTC)
_MADE = START - timedelta(days=400)
_BATCH = 50  # jobs

# These rows are nobody's claim, and the trigger would ask each one whether it commits alone.
_QUIET = "ALTER TABLE k8sjob.periods {} TRIGGER USER"
_ROWS = """
INSERT INTO k8sjob.periods (job, period, scheduled_for, window_end, state, origin, attempt, done_at,
                            deadline_at, reason_code, reason)
SELECT 'bench/job-' || j, to_char(fire, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), at, at + interval '1 hour',
       CASE WHEN is_open THEN 'open' ELSE 'done' END,
       CASE WHEN is_open THEN 'reconciler' ELSE 'claim' END,
       CASE WHEN NOT is_open THEN gen_random_uuid() END,
       CASE WHEN NOT is_open THEN at + interval '5 seconds' END,
       CASE WHEN is_open THEN at + interval '30 minutes' END,
       CASE WHEN is_open THEN 'no-job' END,
       CASE WHEN is_open THEN 'no Job was created (controller down?)' END
  FROM generate_series(%(first)s::int, %(last)s - 1) j,
       generate_series(1, %(hours)s::int) h,
       LATERAL (SELECT %(before)s::timestamp + make_interval(hours => h)) t (fire),
       LATERAL (SELECT timezone('UTC', fire), j %% %(nth)s = 0 AND h <= %(carried)s) u (at, is_open)
"""


def measure(server: Server, scale: Scale) -> Iterator[Line]:
    """Compare passes over a year of hourly rows and over a week of them; then an outage."""
    jobs = min(JOBS, max(CARRIERS, scale.history_rows // YEAR))
    with ExitStack() as stack:
        desks = {}
        for name, hours in {"year": YEAR, "week": WEEK}.items():
            desks[name] = stack.enter_context(closing(_desk(server, name, jobs)))
            seconds = desks[name].load(hours)
            yield Line(f"loading {jobs * hours:,} rows", f"{seconds:.0f} s")
        server.settle()
        for what, step in {"each job with a new period": HOUR, "nothing new": SECOND}.items():
            rounds = take_turns({n: _passes(d, step) for n, d in desks.items()}, ROUNDS)
            yield _line(rounds, f"a pass over {jobs:,} jobs, {what}: a year / a week")
    yield _outage(server)


def _line(rounds: Rounds, question: str) -> Line:
    ratio = rounds.ratio("year", "week")
    times = " / ".join(f"{rounds.of(name).median * 1e3:.0f}" for name in ("year", "week"))
    return at_most(question, ratio.median, LIMIT, f"{ratio.text()}: {times} ms")


def _outage(server: Server) -> Line:
    """List what a minute schedule missed while no reconciler was there for a day."""
    with closing(_desk(server, "outage", 1, "* * * * *")) as desk:
        desk.one_pass(SECOND)
        desk.one_pass(HOUR, missing=None)
        server.settle()
        times = []
        for _ in range(ROUNDS):
            desk.forget()
            times.append(desk.one_pass(OUTAGE * MINUTE, missing=OUTAGE))
    text = Spread.of(times).text(".2f", " s")
    return Line(f"a day's outage of a minute schedule: {OUTAGE:,} listed in a pass", text)


@dataclass
class _Desk:
    """A ledger, the CronJobs whose jobs it has, and the time."""

    database: Database
    watcher: Watcher
    cronjobs: Sequence[CronJob]
    clock: datetime = START

    def close(self) -> None:
        """Give the connection back."""
        self.watcher.close()

    def load(self, hours: int) -> float:
        """Let a pass track the jobs, then write what came before; return how long that took."""
        self.one_pass(SECOND)
        start = perf_counter()
        with self.database.as_owner() as conn:
            conn.execute("SET synchronous_commit = off")
            conn.execute(_QUIET.format("DISABLE").encode())
            for first in range(0, len(self.cronjobs), _BATCH):
                last = min(first + _BATCH, len(self.cronjobs))
                self._write(conn, first=first, last=last, hours=hours, carried=CARRIED)
            conn.execute(_QUIET.format("ENABLE").encode())
        return perf_counter() - start

    def one_pass(self, step: timedelta, *, missing: int | None = 0) -> float:
        """Go on in time and make a pass that has to find so many; return how long it took."""
        self.clock += step
        report = Report("bench", "*")
        start = perf_counter()
        watched = replace(self.watcher.look("*", None), now=self.clock)
        work = Pass(
            watcher=self.watcher,
            watched=watched,
            scope="*",
            namespaces=None,
            world=World(cronjobs=self.cronjobs, jobs=(), pods=()),
            census=take_census(self.cronjobs),
            report=report,
            launcher=_no_launch,
            budget=0,
        )
        run(work, Span(began=self.clock, ended=self.clock + SECOND, last=watched.last_list))
        took = perf_counter() - start
        found = sum(line.action == "missing" for line in report.lines)
        if not report.ok or missing not in (None, found):
            raise RuntimeError(f"{found} were found where {missing} are missing: {summary(report)}")
        return took

    def do_all(self) -> None:
        """Let each job be done for the hour that comes next."""
        with self.database.as_owner() as conn:
            conn.execute(_QUIET.format("DISABLE").encode())
            self._write(conn, first=0, last=len(self.cronjobs), hours=1, carried=0, upto=HOUR)
            conn.execute(_QUIET.format("ENABLE").encode())

    def _write(self, conn: Any, *, hours: int, upto: timedelta = 0 * HOUR, **more: int) -> None:
        last = self.clock.replace(minute=0, second=0, tzinfo=None) + upto
        before = last - hours * HOUR
        conn.execute(_ROWS, {"hours": hours, "before": before, "nth": CARRIERS, **more})

    def forget(self) -> None:
        """Take the missing ones away again, so that each pass has as many to look at."""
        with self.database.as_owner() as conn:
            conn.execute("DELETE FROM k8sjob.events")
            conn.execute("DELETE FROM k8sjob.periods")


def _passes(desk: _Desk, step: timedelta) -> Any:
    def one() -> float:
        if step >= HOUR:
            desk.do_all()
        return desk.one_pass(step)

    return one


def _desk(server: Server, name: str, jobs: int, schedule: str = "0 * * * *") -> _Desk:
    database = server.database(f"reconcile_{name}")
    role = "bench_operator"
    with database.as_owner() as conn:
        if conn.execute("SELECT FROM pg_roles WHERE rolname = %s", (role,)).fetchone() is None:
            conn.execute(f"CREATE ROLE {role} LOGIN".encode())
    grant(database.dsn("postgres"), "operator", role)
    watcher = open_watcher(parse(database.dsn(role), "the benchmark"))
    return _Desk(database, watcher, [_cronjob(n, schedule) for n in range(jobs)])


def _cronjob(number: int, schedule: str) -> CronJob:
    """Return a CronJob that was made long ago and written to once."""
    owns: Any = frozenset({"schedule", "timeZone", "suspend", "enabled-label"})
    once = Managed(manager="helm", operation="Update", subresource=None, time=_MADE, owns=owns)
    return CronJob(
        namespace="bench",
        name=f"job-{number}",
        uid=f"uid-{number}",
        generation=1,
        created=_MADE,
        schedule=schedule,
        managed=(once,),
    )


def _no_launch(_named: Named, launch: Launch) -> str:
    raise RuntimeError(f"nothing is to be started here, and {launch.key} was")
