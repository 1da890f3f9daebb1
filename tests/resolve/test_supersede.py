"""A run of the newest period skips the older ones in its own transaction, and never before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from k8sjob.key import Key
from k8sjob.kube import words
from k8sjob.kube.names import backfill_name
from tests.fix_stores import wait_until_blocked
from tests.resolve.world import CRONJOB, JOB, job
from tests.run.commandline import CREDIT

if TYPE_CHECKING:
    from tests.fix_stores import Database
    from tests.resolve.pod import Pod

NEWEST = "2026-01-09T00:00:00Z"
RANGE = "2026-01-01T00:00:00Z..2026-01-08T00:00:00Z"


def day(number: int) -> str:
    return f"2026-01-0{number}T00:00:00Z"


def open_rows(pod: Pod, *days: int, origin: str = "reconciler", **columns: str) -> None:
    names = "".join(f", {name}" for name in columns)
    values = "".join(f", {value}" for value in columns.values())
    for number in days:
        pod.query(
            f"""INSERT INTO k8sjob.periods (job, period, scheduled_for, origin, state{names})
                VALUES ('{JOB}', '{day(number)}', '{day(number)}', '{origin}', 'open'{values})"""
        )


def launched(pod: Pod, supersedes: str = RANGE) -> None:
    """Let the Pod be of the Job that catch-up has made."""
    name = backfill_name(CRONJOB, Key.parse(f"{JOB}:{NEWEST}"), 0, 1)
    labels = {words.BACKFILL: "true", words.CRONJOB: CRONJOB}
    pod.has(job(name, owner=None, labels=labels, JOB=JOB, PERIOD=NEWEST, SUPERSEDES=supersedes))


def states(pod: Pod) -> dict[str, str]:
    return {key.partition(":")[2][8:10]: state for key, state in pod.cli.states().items()}


def test_the_older_open_periods_are_skipped_with_the_newest_done(pod: Pod) -> None:
    open_rows(pod, 7, 8)
    launched(pod)

    told = pod.run()

    assert told.code == 0, told.text
    assert states(pod) == {"07": "skipped", "08": "skipped", "09": "done"}
    assert pod.cli.last().source == "backfill-annotation"
    rows = pod.query(
        "SELECT DISTINCT superseded_by, reason, reason_code, attempt::text, generation, db_user"
        "  FROM k8sjob.periods WHERE state = 'skipped'"
    )
    assert rows == [
        (NEWEST, f"superseded by {NEWEST}", "superseded", pod.cli.last().id, 0, "k8sjob_runner")
    ]
    events = pod.query(
        """SELECT period, kind, from_state, to_state, reason, attempt::text, prior->>'state'
             FROM k8sjob.events ORDER BY period"""
    )
    assert events == [
        (
            day(n),
            "superseded",
            "open",
            "skipped",
            f"superseded by {NEWEST}",
            pod.cli.last().id,
            "open",
        )
        for n in (7, 8)
    ]


def test_work_that_fails_supersedes_nothing(pod: Pod) -> None:
    open_rows(pod, 7, 8)
    launched(pod)

    assert pod.run(target=pod.cli.file("SELECT 1 / 0")).code == 1
    assert states(pod) == {"07": "open", "08": "open"}


def test_a_duplicate_supersedes_nothing(pod: Pod) -> None:
    launched(pod)
    assert pod.run().code == 0
    open_rows(pod, 7)

    assert "duplicate" in pod.run().text
    assert states(pod) == {"07": "open", "09": "done"}


def test_what_is_decided_uncertain_outside_or_being_tried_stays(pod: Pod) -> None:
    open_rows(pod, 2, 8)
    open_rows(pod, 3, uncertain="true")
    open_rows(pod, 1)
    pod.query(
        f"""UPDATE k8sjob.periods SET state = 'blocked', reason = 'x' WHERE period = '{day(1)}';
            INSERT INTO k8sjob.periods (job, period, scheduled_for, origin, state)
            VALUES ('billing/other', '{day(2)}', '{day(2)}', 'reconciler', 'open'),
                   ('{JOB}/part', '{day(2)}', '{day(2)}', 'reconciler', 'open');
            INSERT INTO k8sjob.attempts (id, job, period, mode, source, client, started_at)
            VALUES (gen_random_uuid(), '{JOB}', '{day(2)}', 'sql', 'x', '0.1.0', '2026-01-01')"""
    )
    open_rows(pod, 7)
    launched(pod, f"{day(1)}..{day(7)}")

    assert pod.run().code == 0
    found = {
        (job, period[8:10]): state
        for job, period, state in pod.query("SELECT job, period, state FROM k8sjob.periods")
    }
    assert found == {
        (JOB, "01"): "blocked",
        (JOB, "02"): "open",  # an attempt has no end yet
        (JOB, "03"): "open",
        (JOB, "07"): "skipped",
        (JOB, "08"): "open",
        (JOB, "09"): "done",
        ("billing/other", "02"): "open",
        (f"{JOB}/part", "02"): "open",
    }


def test_what_a_person_has_opened_is_that_persons(pod: Pod) -> None:
    """The range is of what was missing when the Job was made, and much may come in between."""
    open_rows(pod, 5, generation="1")
    open_rows(pod, 6, origin="ann")
    open_rows(pod, 7)
    launched(pod)

    assert pod.run().code == 0
    assert states(pod) == {"05": "open", "06": "open", "07": "skipped", "09": "done"}


def test_a_rival_that_holds_an_older_period_is_not_waited_for(pod: Pod) -> None:
    open_rows(pod, 7, 8)
    launched(pod)
    pod.query(f"INSERT INTO k8sjob.gate VALUES ('{JOB}', 'scheduled')")
    assert pod.cli.store.db
    rival = pod.cli.store.db.connect()
    rival.execute("SELECT k8sjob.claim(%s, %s)", (JOB, day(8)))
    rival.execute("SELECT 1")

    assert pod.run().code == 0
    assert states(pod) == {"07": "skipped", "08": "open", "09": "done"}
    rival.commit()
    assert states(pod)["08"] == "done"


def test_a_claim_of_an_older_period_waits_and_then_sees_that_it_is_skipped(db: Database) -> None:
    admin = db.connect("admin", autocommit=True)
    for number in (8, 9):
        admin.execute(
            """INSERT INTO k8sjob.periods (job, period, scheduled_for, origin, state)
               VALUES (%s, %s, %s, 'reconciler', 'open')""",
            (JOB, day(number), day(number)),
        )
    runner, rival = db.connect(), db.connect()
    runner.execute("SELECT k8sjob.claim(%s, %s)", (JOB, NEWEST))
    skipped = runner.execute(SUPERSEDE, _call()).fetchone()
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        claim = "SELECT outcome, reason FROM k8sjob.try_claim(%s, %s)"
        waiting = pool.submit(lambda: rival.execute(claim, (JOB, day(8))).fetchone())
        wait_until_blocked(admin, rival.info.backend_pid)
        runner.commit()
        assert waiting.result(30) == ("skipped", f"superseded by {NEWEST}")
    assert skipped == (1,)


SUPERSEDE = "SELECT k8sjob.supersede(%(job)s, %(period)s, %(first)s, %(last)s, %(attempt)s)"


def _call(**changes: Any) -> dict[str, Any]:
    return {
        "job": JOB,
        "period": NEWEST,
        "first": day(1),
        "last": day(8),
        "attempt": None,
    } | changes


@pytest.mark.parametrize("case", ["not claimed", "claimed before", "another's attempt", "ended"])
def test_nothing_is_superseded_by_what_this_transaction_has_not_claimed(
    pod: Pod, case: str
) -> None:
    open_rows(pod, 8)
    attempt = None
    if case != "not claimed":
        launched(pod, f"{day(1)}..{day(2)}")
        assert pod.run().code == 0
    if case == "another's attempt":
        attempt = "0199a1c4-0000-7000-8000-000000000001"
        pod.query(
            f"""INSERT INTO k8sjob.attempts (id, job, period, mode, source, client, db_user)
                VALUES ('{attempt}', '{JOB}', '{NEWEST}', 'sql', 'x', '0.1.0', 'somebody');
                UPDATE k8sjob.periods SET attempt = '{attempt}' WHERE period = '{NEWEST}'"""
        )
    if case == "ended":
        attempt = pod.cli.last().id
    assert pod.cli.store.db
    conn = pod.cli.store.db.connect()

    with pytest.raises(psycopg.Error, match="was not claimed in this transaction") as refused:
        conn.execute(SUPERSEDE, _call(attempt=attempt))

    assert refused.value.sqlstate == "KJ015"
    assert states(pod)["08"] == "open"


@pytest.mark.parametrize(
    "change", [{"first": "2026-01-01"}, {"last": "once"}, {"last": "x"}], ids=str
)
def test_periods_of_another_kind_are_refused(db: Database, change: dict[str, str]) -> None:
    conn = db.connect()
    conn.execute("SELECT k8sjob.claim(%s, %s)", (JOB, NEWEST))

    with pytest.raises(psycopg.Error) as refused:
        conn.execute(SUPERSEDE, _call(**change))
    assert refused.value.sqlstate == "KJ012"


def test_only_older_periods_are_superseded_whatever_the_range_says(db: Database) -> None:
    admin = db.connect("admin", autocommit=True)
    admin.execute(
        """INSERT INTO k8sjob.periods (job, period, scheduled_for, origin, state)
           VALUES (%s, '2026-01-10T00:00:00Z', '2026-01-10T00:00:00Z', 'reconciler', 'open')""",
        (JOB,),
    )
    conn = db.connect()
    conn.execute("SELECT k8sjob.claim(%s, %s)", (JOB, NEWEST))

    found = conn.execute(SUPERSEDE, _call(last="2026-02-01T00:00:00Z")).fetchone()
    assert found == (0,)


# ------------------------------------------------------------------------------------- commands

CLAIMS = f"""
import os, psycopg
with psycopg.connect(os.environ["K8SJOB_DSN"]) as conn:
    conn.execute("SELECT k8sjob.claim(%s, %s, attempt => %s)", [os.environ[n] for n in
                 ("K8SJOB_JOB", "K8SJOB_PERIOD", "K8SJOB_ATTEMPT")])
    conn.execute("{CREDIT}")
"""


def test_a_command_that_claims_by_itself_supersedes_once_it_is_proven(pod: Pod) -> None:
    import sys

    open_rows(pod, 7, 8)
    launched(pod)

    told = pod.call("run", "--", sys.executable, "-c", CLAIMS)

    assert told.code == 0, told.text
    assert states(pod) == {"07": "skipped", "08": "skipped", "09": "done"}
    assert pod.cli.balance() == 10


def test_a_command_that_is_recorded_supersedes_with_its_record(pod: Pod) -> None:
    open_rows(pod, 7)
    launched(pod)

    assert pod.call("run", "--record-on-success", "--", "false").code == 1
    assert states(pod) == {"07": "open"}
    assert pod.call("run", "--record-on-success", "--", "true").code == 0
    assert states(pod) == {"07": "skipped", "09": "done"}


def test_a_file_as_ledger_has_no_catch_up(lite_pod: Pod) -> None:
    launched(lite_pod)

    told = lite_pod.run()

    assert told.code == 78
    assert "cannot be superseded on SQLite" in told.err
    assert lite_pod.cli.states() == {}
