"""A run that comes later than max-lateness skips its period, and overrules nobody."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest

from k8sjob.key import Key
from k8sjob.ledger.contract import drive
from tests.resolve.pod import ago, slot_job, text
from tests.resolve.world import JOB, UID

if TYPE_CHECKING:
    from datetime import datetime

    from tests.resolve.pod import Pod

TWO_HOURS = {"K8SJOB_MAX_LATENESS": "2h"}


@pytest.fixture
def slot(pod: Pod) -> datetime:
    """Let the Pod be of a slot of yesterday."""
    at = ago(hours=23)
    pod.has(slot_job(at))
    return at


def key(at: datetime) -> str:
    return f"{JOB}:{text(at)}"


def attempt(pod: Pod, at: datetime, started: str, **columns: str) -> None:
    names = "".join(f", {name}" for name in columns)
    values = "".join(f", {value}" for value in columns.values())
    pod.query(
        f"""INSERT INTO k8sjob.attempts (id, job, period, mode, source, client, pod_name, started_at
                                         {names})
            VALUES (gen_random_uuid(), '{JOB}', '{text(at)}', 'sql', 'x', '0.1.0', 'the-first',
                    {started} {values})"""
    )


def test_a_late_run_skips_its_period_and_says_so(pod: Pod, slot: datetime) -> None:
    told = pod.run(**TWO_HOURS)

    assert told.code == 0
    assert told.out.startswith(f"{key(slot)} skipped: late by 23 h > 2 h (attempt "), told.text
    assert (pod.cli.balance(), pod.cli.state(key(slot))) == (0, "skipped")
    assert pod.cli.last().ending == ("skipped", 0)
    assert pod.cli.last().source == "scheduled-timestamp"
    assert pod.query("SELECT reason, reason_code, attempt::text FROM k8sjob.periods") == [
        ("late by 23 h > 2 h", "late", pod.cli.last().id)
    ]
    assert pod.query("SELECT from_state, to_state, reason, by FROM k8sjob.events") == [
        (None, "skipped", "late by 23 h > 2 h", "attempt")
    ]


def test_whoever_wants_it_to_fail_gets_83(pod: Pod, slot: datetime) -> None:
    told = pod.run(K8SJOB_FAIL_ON="skipped", **TWO_HOURS)

    assert told.code == 83
    assert pod.cli.state(key(slot)) == "skipped"


def test_the_annotation_of_the_cronjob_counts(pod: Pod, slot: datetime) -> None:
    pod.track(limits={"max_lateness_s": 3600})

    assert "late by 23 h > 60 min" in pod.run().out
    assert pod.cli.state(key(slot)) == "skipped"


def test_a_retry_hours_later_is_late_though_the_first_pod_was_not(pod: Pod, slot: datetime) -> None:
    pod.query(
        f"""INSERT INTO k8sjob.resolutions (job_uid, job, period, source)
            VALUES ('{UID}', '{JOB}', '{text(slot)}', 'scheduled-timestamp')"""
    )
    attempt(pod, slot, "now() - interval '23 hours'")  # its node is gone

    told = pod.run(**TWO_HOURS)

    assert "skipped: late by 23 h > 2 h" in told.out
    assert pod.cli.last().source == "remembered (scheduled-timestamp)"
    assert pod.cli.balance() == 0


def test_a_command_is_not_started(pod: Pod, slot: datetime) -> None:
    told = pod.call("run", "--", "sh", "-c", "echo started", **TWO_HOURS)

    assert (told.code, pod.cli.last().tail) == (0, None)
    assert pod.cli.state(key(slot)) == "skipped"


def test_what_is_done_is_a_duplicate_as_usual(pod: Pod, slot: datetime) -> None:
    assert pod.run().code == 0

    told = pod.run(**TWO_HOURS)

    assert " duplicate: done " in told.out
    assert pod.cli.state(key(slot)) == "done"


def test_what_was_decided_stays(pod: Pod, slot: datetime) -> None:
    pod.query(
        f"""INSERT INTO k8sjob.periods (job, period, scheduled_for, origin, state, reason)
            VALUES ('{JOB}', '{text(slot)}', '{text(slot)}', 'test', 'blocked', 'no feed')"""
    )

    told = pod.run(**TWO_HOURS)

    assert " blocked: no feed" in told.out
    assert pod.cli.state(key(slot)) == "blocked"


def test_an_open_row_is_skipped(pod: Pod, slot: datetime) -> None:
    pod.query(
        f"""INSERT INTO k8sjob.periods (job, period, scheduled_for, origin, state)
            VALUES ('{JOB}', '{text(slot)}', '{text(slot)}', 'reconciler', 'open')"""
    )

    pod.run(**TWO_HOURS)

    assert pod.cli.state(key(slot)) == "skipped"


def test_a_hold_holds_a_late_run_too(pod: Pod, slot: datetime) -> None:
    pod.query(
        f"""INSERT INTO k8sjob.holds (namespace, job, reason, set_by)
            VALUES ('billing', '{JOB}', 'bank holiday', 'ops')"""
    )

    assert " blocked: bank holiday" in pod.run(**TWO_HOURS).out
    assert pod.cli.state(key(slot)) is None


@pytest.mark.parametrize(
    "signs",
    [
        {"started": "now() - interval '2 minutes'"},
        {"started": "now() - interval '9 hours'", "heartbeat_at": "now() - interval '1 minute'"},
    ],
    ids=["started just now", "heard of just now"],
)
def test_a_live_attempt_is_not_overruled(pod: Pod, slot: datetime, signs: dict[str, str]) -> None:
    attempt(pod, slot, **signs)

    told = pod.run(**TWO_HOURS)

    assert told.code == 75, told.text
    assert f"{key(slot)} busy: another transaction holds it: attempt " in told.err
    assert "the-first" in told.err
    assert pod.cli.state(key(slot)) is None
    assert pod.cli.last().ending == ("busy", 75)


def test_a_claim_under_way_is_not_overruled(pod: Pod, slot: datetime) -> None:
    pod.query(f"INSERT INTO k8sjob.gate VALUES ('{JOB}', 'scheduled')")
    assert pod.cli.store.db
    rival = pod.cli.store.db.connect()
    rival.execute("SELECT k8sjob.claim(%s, %s)", (JOB, text(slot)))

    told = pod.run("--lock-timeout", "100ms", **TWO_HOURS)

    assert told.code == 75, told.text
    assert f"{key(slot)} busy" in told.err
    rival.rollback()


def test_neither_is_one_between_look_and_skip(pod: Pod, slot: datetime) -> None:
    pod.query(f"INSERT INTO k8sjob.gate VALUES ('{JOB}', 'scheduled')")
    assert pod.cli.store.db
    rival = pod.cli.store.db.connect()
    rival.execute("SELECT k8sjob.claim(%s, %s)", (JOB, text(slot)))
    ledger = pod.ledger()

    ledger._lock_timeout = "100ms"  # type: ignore[attr-defined]  # noqa: SLF001  # not in the contract
    assert drive(ledger.lapse(Key.parse(key(slot)), "late", uuid.uuid4())) is None
    drive(ledger.close())
    rival.rollback()


def test_a_command_whose_record_follows_is_not_overruled(pod: Pod, slot: datetime) -> None:
    first, second = pod.ledger(), pod.ledger()
    assert drive(first.be_alone(Key.parse(key(slot))))

    assert drive(second.lapse(Key.parse(key(slot)), "late", uuid.uuid4())) is None
    drive(first.rollback())
    assert drive(second.lapse(Key.parse(key(slot)), "late", uuid.uuid4())) == "skipped"
    drive(first.close())
    drive(second.close())


def test_a_ledger_in_a_file_skips_too_and_overrules_nobody(lite_pod: Pod) -> None:
    at = ago(hours=23)
    lite_pod.has(slot_job(at))
    ledger = lite_pod.ledger()
    assert drive(ledger.be_alone(Key.parse(key(at))))
    drive(ledger.close())

    told = lite_pod.run(**TWO_HOURS)

    assert "skipped: late by 23 h > 2 h" in told.out, told.text
    assert lite_pod.cli.state(key(at)) == "skipped"
    assert "skipped: late by 23 h > 2 h" in lite_pod.run(**TWO_HOURS).out
