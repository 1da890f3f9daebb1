"""``k8sjob run`` without --period, as a Pod starts it: its API server speaks real TLS."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from k8sjob.run.origin.context_file import read_context
from tests.inside.apiserver import status
from tests.resolve.pod import ago, slot_job, text
from tests.resolve.world import CRONJOB, JOB, UID, job

if TYPE_CHECKING:
    from pathlib import Path

    from tests.resolve.pod import Pod


def test_a_scheduled_job_is_done_for_its_slot_once(pod: Pod) -> None:
    slot = ago(minutes=2)
    pod.has(slot_job(slot))

    first, second = pod.run(), pod.run()

    assert first.out.startswith(f"{JOB}:{text(slot)} applied"), first.text
    assert "source scheduled-timestamp)" in first.out
    found = f"k8sjob: the period is {JOB}:{text(slot)} (source scheduled-timestamp)\n"
    assert first.err == found
    assert "duplicate" in second.out
    assert pod.cli.balance() == 10
    assert pod.kept() == [(UID, text(slot), "scheduled-timestamp")]
    assert [tried.source for tried in pod.cli.attempts()] == [
        "scheduled-timestamp",
        "remembered (scheduled-timestamp)",
    ]


def test_the_first_that_is_told_is_the_period_in_the_zones_time(pod: Pod) -> None:
    slot = ago(minutes=2)
    pod.has(slot_job(slot))
    pod.track(zone="Europe/Rome")

    (first, *_) = pod.run().err.splitlines()
    record = json.loads(pod.run(K8SJOB_LOG_FORMAT="json").err.splitlines()[0])

    there = slot.astimezone(ZoneInfo("Europe/Rome"))
    assert f"{JOB}:{text(slot)}, {there:%a %d %b %Y %H:%M} Europe/Rome (source " in first
    assert (record["event"], record["period"]) == ("period_found", text(slot))
    assert (record["local"], record["time_zone"]) == (f"{there:%a %d %b %Y %H:%M}", "Europe/Rome")


def test_the_attempt_says_which_job_it_was_though_the_pod_was_not_told(pod: Pod) -> None:
    slot = ago(minutes=2)
    made = slot_job(slot)
    pod.has(made)

    pod.run(K8SJOB_JOB_UID="")

    ((uid, name),) = pod.query("SELECT job_uid, job_name FROM k8sjob.attempts")
    assert (uid, name) == (UID, made["metadata"]["name"])


def test_the_job_is_asked_for_with_the_pods_token_and_once(pod: Pod) -> None:
    pod.has(slot_job(ago(minutes=2)))

    pod.run()
    pod.run()  # what it stood for is remembered

    (asked,) = pod.api.asked
    name = pod.env["K8SJOB_JOB_NAME"]
    assert asked.line == f"GET /apis/batch/v1/namespaces/billing/jobs/{name} HTTP/1.1"
    assert asked.headers["authorization"].startswith("Bearer ")


def test_a_manual_job_is_refused_and_nothing_is_done(pod: Pod) -> None:
    pod.has(job("by-hand"))

    told = pod.run()

    assert told.code == 66
    assert "Job by-hand was made by hand" in told.err
    assert "Nothing was done" in told.err
    assert (pod.cli.balance(), pod.cli.attempts(), pod.kept()) == (0, [], [])


def test_a_manual_job_does_what_is_missing_under_a_policy(pod: Pod) -> None:
    pod.has(job("by-hand"))
    pod.track("0 0 * * *", limits={"manual_runs": "oldest-missing"})

    told = pod.run()

    assert told.code == 0, told.text
    ((period,),) = pod.query("SELECT min(period) FROM k8sjob.periods WHERE state = 'done'")
    assert pod.kept() == [(UID, period, "manual oldest-missing")]
    ((days,),) = pod.query(
        f"SELECT extract(epoch FROM now() - '{period}'::timestamptz)::float / 86400"
    )
    assert 4 <= days <= 5


def test_a_missing_policy_after_the_last_one_has_nothing_left(pod: Pod) -> None:
    pod.track("0 0 * * *", limits={"manual_runs": "latest-missing"})
    all_told = []
    for number in range(6):
        pod.has(job("by-hand", uid=f"uid-{number}"))
        all_told.append(pod.run(K8SJOB_JOB_UID=f"uid-{number}"))
    ended = [told.code for told in all_told]

    # Five midnights in five days, of which the last may be within its grace of an hour.
    done = ended.count(0)
    assert done in (4, 5)
    assert ended == [0] * done + [66] * (6 - done)
    assert "no period is missing" in all_told[-1].err
    assert pod.cli.balance() == 10 * done


@pytest.mark.parametrize(
    ("code", "exit_code", "words"),
    [
        (403, 77, "kubectl create role k8sjob-entrypoint -n billing --verb=get"),
        (404, 66, "It may have been deleted or replaced"),
    ],
)
def test_what_the_api_refuses_is_told_where_nothing_else_answers(
    pod: Pod, code: int, exit_code: int, words: str
) -> None:
    pod.api.script = [status(code, "no")]

    told = pod.run(K8SJOB_JOB_NAME="by-hand")

    assert told.code == exit_code, told.text
    assert words in told.err
    assert (pod.cli.states(), pod.cli.attempts(), pod.kept()) == ({}, [], [])


def test_without_the_right_to_read_jobs_the_jobs_name_answers(pod: Pod) -> None:
    slot = ago(minutes=1)
    pod.has(slot_job(slot))
    pod.api.script = [status(403, "no")]

    told = pod.run()

    assert told.out.startswith(f"{JOB}:{text(slot)} applied"), told.text
    assert pod.kept() == [(UID, text(slot), "job-name")]
    assert "the period is from job-name" in told.err
    assert "kubectl create role k8sjob-entrypoint -n billing --verb=get" in told.err


def test_the_reason_is_the_last_word_of_the_container(pod: Pod, tmp_path: Path) -> None:
    (tmp_path / "termination-log").touch()
    pod.has(job("by-hand"))

    told = pod.run(
        K8SJOB_TERMINATION_LOG=str(tmp_path / "termination-log"), K8SJOB_LOG_FORMAT="json"
    )

    assert "made by hand" in (tmp_path / "termination-log").read_text()
    last = json.loads(told.err.splitlines()[-1])
    assert (last["event"], last["exit_code"]) == ("attempt_not_started", 66)


def test_a_command_gets_the_period_too(pod: Pod) -> None:
    slot = ago(minutes=2)
    pod.has(slot_job(slot))
    pod.track()

    told = pod.call(
        "run", "--record-on-success", "--", "sh", "-c", 'echo "$K8SJOB_KEY to $K8SJOB_WINDOW_END"'
    )

    assert told.code == 0, told.text
    end = slot + timedelta(minutes=1)
    assert pod.cli.last().tail == f"{JOB}:{text(slot)} to {text(end)}\n"


def test_a_natural_period_goes_by_the_ledgers_cycle_and_zone(pod: Pod) -> None:
    at = ago(days=2).replace(hour=22, minute=30)
    pod.has(slot_job(at))
    pod.track(zone="Europe/Rome", limits={"cycle": "month"})

    told = pod.run()

    assert told.code == 0, told.text
    ((kind,),) = pod.query("SELECT kind FROM k8sjob.gate")
    assert kind == "month"
    ((zone, window),) = pod.query("SELECT zone, window_end > scheduled_for FROM k8sjob.periods")
    assert (zone, window) == ("Europe/Rome", True)


# ----------------------------------------------------------------------- what resolve has left


def test_the_init_containers_context_is_taken_and_the_api_is_not_asked_again(
    pod: Pod, tmp_path: Path
) -> None:
    slot = ago(minutes=2)
    pod.has(slot_job(slot))
    first = pod.call("resolve", "--write", str(tmp_path))
    context = read_context(str(tmp_path))

    told = pod.run(K8SJOB_CONTEXT=str(tmp_path))

    assert (first.code, first.out) == (0, f"{JOB}:{text(slot)}\n")
    assert told.out.startswith(f"{JOB}:{text(slot)} applied"), told.text
    assert len(pod.api.asked) == 1
    assert pod.cli.last().source == "context (scheduled-timestamp)"
    assert pod.cli.last().id != str(context.attempt)  # that one is the sidecar's


def test_a_context_of_another_version_is_refused(pod: Pod, tmp_path: Path) -> None:
    (tmp_path / "context.json").write_text('{"version": 2}')

    told = pod.run(K8SJOB_CONTEXT=str(tmp_path))

    assert told.code == 78
    assert "its version is 2, and not 1" in told.err


def test_a_ledger_in_a_file_remembers_too(lite_pod: Pod) -> None:
    slot = ago(minutes=2)
    lite_pod.has(slot_job(slot))

    assert lite_pod.run().code == 0
    assert "duplicate" in lite_pod.run().out
    assert lite_pod.kept() == [(UID, text(slot), "scheduled-timestamp")]


def test_outside_of_a_pod_nobody_is_asked(pod: Pod) -> None:
    for name in [n for n in os.environ if n.startswith(("K8SJOB_", "KUBERNETES_"))]:
        pod.cli.patch.delenv(name)
    pod.env = {}

    told = pod.run("--job", JOB)

    assert told.code == 66
    assert told.err.count("\n") == 2
    assert "Pass --period" in told.err
    assert pod.api.asked == []


def test_what_is_passed_in_a_pod_is_for_this_run_alone(pod: Pod) -> None:
    pod.has(slot_job(ago(minutes=2)))

    assert pod.run("--period", "2026-01-01T00:00:00Z").code == 0
    assert (pod.kept(), pod.api.asked) == ([], [])
    assert pod.cli.last().source == "--period"


def test_a_period_off_the_schedule_is_refused_before_an_attempt_is_made(pod: Pod) -> None:
    pod.track("0 0 * * *")
    day = ago(days=2).replace(hour=1, minute=30)

    told = pod.run("--period", text(day))

    assert told.code == 66, told.text
    assert f"{JOB}:{text(day)} is not on the schedule: 0 0 * * * Etc/UTC" in told.err
    assert f"{text(day.replace(hour=0, minute=0))} before" in told.err
    assert pod.cli.attempts() == []

    told = pod.run("--period", text(day), "--off-schedule", "--reason", "the feed was late")

    assert told.code == 0, told.text
    assert pod.cli.last().source == "--period, off schedule: the feed was late"


def test_the_window_of_a_scheduled_period_is_known_from_its_schedule(pod: Pod) -> None:
    pod.track("0 0 * * *")
    day = ago(days=2).replace(hour=0, minute=0)
    length = "extract(epoch FROM k8sjob.window_end() - k8sjob.scheduled_for())"
    file = pod.cli.file(f"UPDATE accounts SET balance = {length}")

    told = pod.run("--period", text(day), target=file)

    assert told.code == 0, told.text
    assert pod.cli.balance() == 86400


def test_a_part_is_held_against_its_jobs_schedule(pod: Pod) -> None:
    pod.track("0 0 * * *")
    day = ago(days=2).replace(hour=1, minute=0)

    assert pod.run("--job", f"{JOB}/eu", "--period", text(day)).code == 66
    assert pod.run("--job", f"{JOB}/eu", "--period", text(day.replace(hour=0))).code == 0
    assert CRONJOB in pod.cli.last().job
