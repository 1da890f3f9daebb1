"""The proof: a job credits 10 to a balance once a day, whoever starts it and however often.

Read it from top to bottom. The balance is always read over a connection of the test's own, which
sees only what is committed.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from k8sjob.ledger.settings import parse
from k8sjob.ledger.uuid7 import uuid7
from k8sjob.run import points
from k8sjob.run.entry import attempt_once
from k8sjob.run.request import Flags, make_request
from k8sjob.run.stop import StopSignals

if TYPE_CHECKING:
    from k8sjob.run.result import Result
    from tests.acceptance.processes import Processes, Told
    from tests.fix_stores import Store

JOB = "billing/daily-credit"
CREDIT = "tests.acceptance.child:credit"
CREDIT_SQL = "UPDATE accounts SET balance = balance + 10 WHERE name = 'alice';\n"
FAILS_BEFORE_COMMIT = """\
def credit(run):
    run.conn.execute("UPDATE accounts SET balance = balance + 10 WHERE name = 'alice'")
    raise RuntimeError("the power went")
"""

Outcomes = list[str]


def test_a_job_credits_once_a_day(store: Store, processes: Processes) -> None:
    proof = Proof(store, processes)
    (processes.folder / "failing.py").write_text(FAILS_BEFORE_COMMIT)

    # A failure before commit leaves neither row nor effect.
    failed = proof.run("failing:credit", period="2026-09-13")
    assert (failed.code, proof.balance(), proof.done()) == (1, 0, [])

    # Of eight concurrent attempts of one key exactly one applies.
    outcomes = proof.eight_processes_at_once(period="2026-09-13")
    assert sorted(outcomes) == ["applied", *["duplicate"] * 7]
    assert (proof.balance(), proof.done()) == (10, ["2026-09-13"])

    # A replay is a duplicate.
    replayed = proof.run(CREDIT, period="2026-09-13")
    assert (replayed.code, outcome(replayed)) == (0, "duplicate")
    assert (proof.balance(), proof.done()) == (10, ["2026-09-13"])

    # The next day's key applies.
    next_day = proof.run(CREDIT, period="2026-09-14")
    assert (next_day.code, outcome(next_day)) == (0, "applied")
    assert (proof.balance(), proof.done()) == (20, ["2026-09-13", "2026-09-14"])

    # And each of these eleven attempts has its row.
    assert proof.attempts() == ["applied"] * 2 + ["duplicate"] * 8 + ["failed"]


def test_it_is_so_for_threads_of_one_process(store: Store, processes: Processes) -> None:
    proof = Proof(store, processes)
    for number in range(1, 3):
        outcomes = proof.eight_threads_at_once(period=f"2026-09-{12 + number}")
        assert sorted(outcomes) == ["applied", *["duplicate"] * 7]
        assert proof.balance() == 10 * number
    assert proof.done() == ["2026-09-13", "2026-09-14"]
    assert proof.attempts() == ["applied"] * 2 + ["duplicate"] * 14


def test_it_is_so_for_a_file_of_sql(store: Store, processes: Processes) -> None:
    proof = Proof(store, processes)
    (processes.folder / "credit.sql").write_text(CREDIT_SQL)
    (processes.folder / "failing.sql").write_text(CREDIT_SQL + "SELECT * FROM no_such_table;\n")

    assert proof.run("failing.sql", period="2026-09-13").code == 1
    assert (proof.balance(), proof.done()) == (0, [])

    told = [proof.run("credit.sql", period=f"2026-09-{day}") for day in (13, 13, 14, 14)]
    assert [outcome(each) for each in told] == ["applied", "duplicate", "applied", "duplicate"]
    assert (proof.balance(), proof.done()) == (20, ["2026-09-13", "2026-09-14"])


# --------------------------------------------------------------------- how the above is done


class Proof:
    """Runs the job, and looks at the store."""

    def __init__(self, store: Store, processes: Processes) -> None:
        self.store = store
        self.processes = processes
        self.env = {"K8SJOB_DSN": store.dsn}

    def run(self, target: str, *, period: str) -> Told:
        """Run ``python -m k8sjob run TARGET`` to its end."""
        args = ("run", target, "--job", JOB, "--period", period)
        return self.processes.run(*args, env=self.env)

    def eight_processes_at_once(self, *, period: str) -> Outcomes:
        """Run eight processes, each held until all have written that they start."""
        args = ("run", CREDIT, "--job", JOB, "--period", period)
        children = [self.processes.hold(*args, env=self.env) for _ in range(8)]
        for child in children:
            child.wait_for("started")
        for child in children:
            child.release()
        told = [child.end() for child in children]
        assert [each.code for each in told] == [0] * 8, told
        return [outcome(each) for each in told]

    def eight_threads_at_once(self, *, period: str) -> Outcomes:
        """Run eight threads, each held until all have written that they start."""
        barrier = threading.Barrier(8, timeout=60)

        def wait_at_start(point: str) -> None:
            if point == "started":
                barrier.wait()

        request = make_request(CREDIT, Flags(job=JOB, period=period))
        address = parse(self.store.dsn, "the test")

        def attempt(_number: int) -> Result:
            return attempt_once(request, address, uuid7(), StopSignals())

        with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(8) as pool:
            patch.setattr(points, "hook", wait_at_start)
            return [str(result.outcome) for result in pool.map(attempt, range(8))]

    def balance(self) -> int:
        """Return what alice has."""
        ((balance,),) = self.store.query("SELECT balance FROM accounts WHERE name = 'alice'")
        return int(balance)

    def done(self) -> list[str]:
        """Return the periods in the ledger; there is none in another state."""
        rows = self.store.query(
            f"SELECT period, state FROM {self.store.table('periods')} ORDER BY period"
        )
        assert {state for _, state in rows} <= {"done"}
        return [period for period, _ in rows]

    def attempts(self) -> Outcomes:
        """Return the outcomes of all attempts, sorted; every attempt has one."""
        rows = self.store.query(
            f"SELECT outcome FROM {self.store.table('attempts')} WHERE ended_at IS NOT NULL"
        )
        return sorted(outcome for (outcome,) in rows)


def outcome(told: Told) -> str:
    """Return the outcome in ``billing/daily-credit:2026-09-13 applied in 12 ms (…)``."""
    return told.out.split()[1].rstrip(":")
