"""How many transactions a second sixteen connections get through.

pgbench drives both, since it costs next to nothing itself: a client in Python would use up the
processors that the server needs, and hide what is compared.
"""

from __future__ import annotations

import os
import re
import subprocess
import zlib
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmarks.pairs import take_turns
from benchmarks.report import Line, at_least

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.pairs import Rounds
    from benchmarks.scale import Scale
    from benchmarks.server import Server

CONNECTIONS = 16
LIMITS = {"16 jobs": 0.75, "one job": 0.5}

# pgbench takes a colon before a letter for a variable of its own, so they are put in afterwards.
_PERIOD = (
    "replace(to_char(timestamp '1970-01-01' + make_interval(secs => :n * 16 + :client_id),"
    " 'YYYY-MM-DD\"T\"HH24_MI_SS\"Z\"'), '_', ':')"
)
_JOBS = {"16 jobs": "'bench/job-' || :client_id", "one job": "'bench/the-job'"}
_FIRST = {
    "by hand": "INSERT INTO done (job, period, done_at) VALUES ({job}, {period}, clock_timestamp())"
    " ON CONFLICT DO NOTHING",
    "claimed": "SELECT k8sjob.claim({job}, {period})",
}
# Each connection has its account: a row that all of them update would be all that is measured.
_SCRIPT = """\\set n :n + 1
BEGIN;
{first};
UPDATE accounts SET balance = balance + 10 WHERE name = 'account-' || :client_id;
COMMIT;
"""
#: No two runs share a period: each starts where none of them comes to.
_APART = 400_000


def measure(server: Server, scale: Scale) -> Iterator[Line]:
    """Compare on sixteen jobs, and on one, whose gate all sixteen share."""
    starts = count(_APART, _APART)
    with TemporaryDirectory(prefix="k8sjob-bench-") as folder:
        for mode in ("on", "off"):
            database = server.database(f"throughput_{mode}")
            pgbench = _Pgbench(server.programs, database.dsn(), mode, scale.seconds, Path(folder))
            server.settle()
            for jobs in _JOBS:
                rivals = {
                    name: pgbench.rival(first, jobs, starts) for name, first in _FIRST.items()
                }
                yield _line(take_turns(rivals, scale.pgbench_rounds), mode, jobs)


def _line(rounds: Rounds, mode: str, jobs: str) -> Line:
    ratio = rounds.ratio("claimed", "by hand")
    claimed, by_hand = (f"{rounds.of(name).median:,.0f}" for name in ("claimed", "by hand"))
    text = f"{ratio.text()}: {claimed} / {by_hand} per s"
    question = f"throughput on {jobs}, synchronous_commit {mode}"
    if mode == "on":
        return at_least(question, ratio.median, LIMITS[jobs], text)
    return Line(question, text)


@dataclass(frozen=True)
class _Pgbench:
    """How pgbench is called; its scripts are in ``folder``."""

    programs: Path
    dsn: str
    synchronous_commit: str
    seconds: int
    folder: Path

    def rival(self, first: str, jobs: str, starts: Iterator[int]) -> Callable[[], float]:
        """Return what runs the transaction that begins with the statement ``first``."""
        text = _SCRIPT.format(first=first.format(job=_JOBS[jobs], period=_PERIOD))
        script = self.folder / f"{zlib.crc32(text.encode())}.sql"
        script.write_text(text)
        return lambda: self._transactions_per_second(script, next(starts))

    def _transactions_per_second(self, script: Path, start: int) -> float:
        command = [str(self.programs / "pgbench"), "-n", "-M", "prepared", "-d", self.dsn]
        command += ["-c", str(CONNECTIONS), "-j", "2", "-T", str(self.seconds)]
        command += ["-D", f"n={start}", "-f", str(script)]
        env = os.environ | {"PGOPTIONS": f"-c synchronous_commit={self.synchronous_commit}"}
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        found = re.search(r"tps = ([0-9.]+)", done.stdout)
        if found is None or "aborted" in done.stderr:
            raise RuntimeError(f"pgbench gave no figure:\n{done.stdout}{done.stderr}")
        return float(found[1])
