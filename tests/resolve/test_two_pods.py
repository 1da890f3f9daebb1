"""Two Pods of one Job resolve at once and get the same period."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING

from k8sjob.key import JobName
from k8sjob.ledger import settings
from k8sjob.ledger.contract import drive
from k8sjob.ledger.known import Resolution
from k8sjob.ledger.open import open_ledger
from k8sjob.period import Period
from tests.fix_stores import wait_until_blocked
from tests.inside.apiserver import answer
from tests.resolve.world import JOB, UID, job

if TYPE_CHECKING:
    import ssl

    from k8sjob.ledger.contract import Ledger
    from tests.fix_stores import Database
    from tests.resolve.pod import Pod

NAME = JobName.parse(JOB)


def connected(dsn: str) -> Ledger:
    ledger = open_ledger(settings.parse(dsn, "test"), application_name="test", lock_timeout_s=30)
    drive(ledger.open())
    return ledger


def day(number: int) -> Resolution:
    return Resolution(NAME, Period.parse(f"2026-01-{number:02}"), f"source {number}")


def test_the_second_waits_for_the_first_and_takes_its_answer(db: Database) -> None:
    admin = db.connect("admin", autocommit=True)
    first, second = db.connect(), connected(db.dsn())
    call = "SELECT k8sjob.resolve_job(%s, %s, '2026-01-01', 'job-name')"
    first.execute(call, (UID, JOB))

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lambda: drive(second.remember(UID, day(2))))
        wait_until_blocked(admin, second.conn.info.backend_pid)
        first.commit()
        answered = waiting.result(30)

    assert answered == Resolution(NAME, Period.parse("2026-01-01"), "job-name")
    drive(second.close())


def test_an_answer_that_is_rolled_back_is_none(db: Database) -> None:
    admin = db.connect("admin", autocommit=True)
    first, second = db.connect(), connected(db.dsn())
    first.execute("SELECT k8sjob.resolve_job(%s, %s, '2026-01-01', 'job-name')", (UID, JOB))

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lambda: drive(second.remember(UID, day(2))))
        wait_until_blocked(admin, second.conn.info.backend_pid)
        first.rollback()
        answered = waiting.result(30)

    assert answered == day(2)
    drive(second.close())


def test_of_twenty_at_once_all_get_one_answer_under_every_isolation_level(db: Database) -> None:
    for level in ("read committed", "repeatable read", "serializable"):
        uid, count = f"{UID}-{level}", 20
        dsn = db.dsn(
            options=f"-c default_transaction_isolation={level.replace(' ', chr(92) + ' ')}"
        )
        ledgers = [connected(dsn) for _ in range(count)]
        together = Barrier(count)

        def resolve(number: int) -> Resolution:
            together.wait(30)  # noqa: B023  # all of them end within this turn
            return drive(ledgers[number].remember(uid, day(number + 1)))  # noqa: B023  # as above

        with ThreadPoolExecutor(count) as pool:
            answers = set(pool.map(resolve, range(count)))
        for ledger in ledgers:
            drive(ledger.close())
        assert len(answers) == 1


def test_two_processes_of_a_manual_job_do_one_period_once(pod: Pod) -> None:
    pod.has(job("by-hand"))
    pod.track("0 0 * * *", limits={"manual_runs": "latest-missing"})
    both = Barrier(2)
    send = answer(200, job("by-hand"))

    def act(tls: ssl.SSLSocket) -> None:
        both.wait(60)  # both have asked the ledger already, in vain
        send(tls)

    pod.api.script = [act]
    file = pod.cli.file("UPDATE app.accounts SET balance = balance + 10")
    command = [sys.executable, "-m", "k8sjob", "run", file]
    env = {**os.environ, **pod.env}
    running = [
        subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for _ in range(2)
    ]
    told = sorted(process.communicate(timeout=100)[0].decode() for process in running)

    assert [process.returncode for process in running] == [0, 0], told
    assert len({tried.period for tried in pod.cli.attempts()}) == 1
    assert sorted(str(tried.outcome) for tried in pod.cli.attempts()) == ["applied", "duplicate"]
    assert (pod.cli.balance(), len(pod.kept())) == (10, 1)
