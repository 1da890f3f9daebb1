"""``k8sjob resolve``: for an init container."""

from __future__ import annotations

import json
import socket
import stat
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from k8sjob.run.origin.context_file import read_context
from tests.inside.apiserver import status
from tests.resolve.pod import ago, slot_job, text
from tests.resolve.world import CRONJOB, JOB, UID, job

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from tests.resolve.pod import Pod
    from tests.run.commandline import CommandLine

WITHOUT = "not looked up is what this Job stood for before, what is missing, and the schedule"


@pytest.fixture
def slot(pod: Pod) -> datetime:
    """Let the Pod be of a slot of just now."""
    at = ago(minutes=2)
    pod.has(slot_job(at))
    return at


def test_the_key_is_printed_and_the_folder_written(
    pod: Pod, slot: datetime, tmp_path: Path
) -> None:
    pod.track()

    told = pod.call("resolve", "--write", str(tmp_path))

    assert (told.code, told.out, told.err) == (0, f"{JOB}:{text(slot)}\n", "")
    context = read_context(str(tmp_path))
    assert (context.source, context.job_uid, context.cronjob) == (
        *("scheduled-timestamp", UID),
        CRONJOB,
    )
    assert context.window_end is not None
    assert context.attempt.version == 7
    assert stat.S_IMODE((tmp_path / "env").stat().st_mode) == 0o644


def test_json_is_what_the_file_has(pod: Pod, slot: datetime, tmp_path: Path) -> None:
    told = pod.call("resolve", "--write", str(tmp_path), "-o", "json")

    assert json.loads(told.out) == json.loads((tmp_path / "context.json").read_text())
    assert json.loads(told.out)["key"] == f"{JOB}:{text(slot)}"


def test_it_makes_no_attempt_but_remembers(pod: Pod, slot: datetime) -> None:
    pod.call("resolve")

    assert pod.cli.attempts() == []
    assert pod.kept() == [(UID, text(slot), "scheduled-timestamp")]


@pytest.mark.usefixtures("slot")
def test_it_leaves_the_time_by_the_ledgers_clock(pod: Pod, tmp_path: Path) -> None:
    before = pod.query("SELECT clock_timestamp()")[0][0]
    pod.call("resolve", "--write", str(tmp_path))

    at = read_context(str(tmp_path)).resolved_at

    assert at is not None
    assert before < at < pod.query("SELECT clock_timestamp()")[0][0]


def test_a_restarted_init_container_gets_the_same_period(pod: Pod, tmp_path: Path) -> None:
    pod.has(job("by-hand"))
    pod.track("0 0 * * *", limits={"manual_runs": "oldest-missing"})
    first = pod.call("resolve", "--write", str(tmp_path))
    pod.query("UPDATE k8sjob.jobs SET done_until = now(), limits = '{}'")

    second = pod.call("resolve", "--write", str(tmp_path))

    assert first.code == 0, first.text
    assert second.out == first.out
    assert read_context(str(tmp_path)).source == "remembered (manual oldest-missing)"


def test_it_may_be_told_where_it_is_going_to_write(
    pod: Pod, slot: datetime, tmp_path: Path
) -> None:
    folder = tmp_path / "k8sjob"
    folder.mkdir()
    (folder / "context.json").mkdir()  # as nobody would
    told = pod.call("resolve", K8SJOB_CONTEXT=str(tmp_path / "not-yet"))
    assert (told.code, told.out) == (0, f"{JOB}:{text(slot)}\n")

    told = pod.call("resolve", "--write", str(folder), K8SJOB_CONTEXT="")

    assert told.code == 78
    assert "the context cannot be written" in told.err


def test_a_folder_that_is_not_there_is_refused(pod: Pod, slot: datetime, tmp_path: Path) -> None:
    told = pod.call("resolve", "--write", str(tmp_path / "nowhere"))

    assert told.code == 78
    assert f"{JOB}:{text(slot)}: the context cannot be written into" in told.err
    assert told.out == ""


@pytest.mark.parametrize(("code", "exit_code"), [(403, 77), (404, 66)])
def test_the_exit_codes_are_those_of_run(pod: Pod, code: int, exit_code: int) -> None:
    pod.api.script = [status(code, "no")]

    assert pod.call("resolve", K8SJOB_JOB_NAME="by-hand").code == exit_code


def test_a_manual_job_is_refused(pod: Pod, tmp_path: Path) -> None:
    pod.has(job("by-hand"))

    told = pod.call("resolve", "--write", str(tmp_path))

    assert told.code == 66
    assert not (tmp_path / "env").exists()


def test_a_period_that_is_passed_is_held_against_the_schedule(pod: Pod) -> None:
    pod.track("0 0 * * *")
    day = text(ago(days=2).replace(hour=1, minute=30))

    assert pod.call("resolve", "--period", day).code == 66
    told = pod.call("resolve", "--period", day, "--off-schedule", "--reason", "late feed")
    assert (told.code, told.out) == (0, f"{JOB}:{day}\n")


# ----------------------------------------------------------------------------- without a ledger


def test_it_works_without_a_ledger_and_says_what_that_means(
    pod: Pod, slot: datetime, tmp_path: Path
) -> None:
    told = pod.call("resolve", "--write", str(tmp_path), K8SJOB_DSN="")

    assert (told.code, told.out) == (0, f"{JOB}:{text(slot)}\n")
    assert told.err == f"k8sjob: no ledger is set: {WITHOUT}\n"
    assert read_context(str(tmp_path)).source == "scheduled-timestamp"


def test_it_works_with_a_ledger_that_does_not_come(pod: Pod, slot: datetime) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    dsn = f"postgresql://runner:secret@127.0.0.1:{port}/x"

    told = pod.call("resolve", "--ledger-wait", "0s", K8SJOB_DSN=dsn)

    assert (told.code, told.out) == (0, f"{JOB}:{text(slot)}\n")
    assert "the ledger cannot be reached" in told.err
    assert WITHOUT in told.err
    assert "secret" not in told.text


def test_a_manual_job_whose_ledger_does_not_come_may_try_again(pod: Pod) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    pod.has(job("by-hand"))

    told = pod.call(
        "resolve", "--ledger-wait", "0s", K8SJOB_DSN=f"postgresql://x@127.0.0.1:{port}/x"
    )

    assert told.code == 69, told.text


def test_a_ledger_that_comes_within_the_budget_is_taken(
    pod: Pod, slot: datetime, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    dsn, paused = tmp_path / "dsn", []
    with socket.create_server(("127.0.0.1", 0)) as free:
        dsn.write_text(f"postgresql://x@127.0.0.1:{free.getsockname()[1]}/x")

    def pause(seconds: float) -> None:
        paused.append(seconds)
        dsn.write_text(pod.cli.store.dsn)  # the proxy is up, or the secret mounted

    monkeypatch.setattr(time, "sleep", pause)
    told = pod.call("resolve", K8SJOB_DSN="", K8SJOB_DSN_FILE=str(dsn))

    assert (told.code, told.err, len(paused)) == (0, "", 1), told.text
    assert pod.kept() == [(UID, text(slot), "scheduled-timestamp")]


def test_a_ledger_whose_address_is_wrong_is_no_missing_ledger(pod: Pod, slot: datetime) -> None:
    told = pod.call("resolve", K8SJOB_DSN="mysql://x")

    assert told.code == 78
    assert text(slot) not in told.text


def test_a_schema_that_is_not_there_yet_is_waited_for(
    pod: Pod, slot: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    paused: list[float] = []
    monkeypatch.setattr(time, "sleep", paused.append)
    pod.query("ALTER SCHEMA k8sjob RENAME TO not_yet")
    try:
        told = pod.call("resolve", "--ledger-wait", "50ms")
    finally:
        pod.query("ALTER SCHEMA not_yet RENAME TO k8sjob")

    assert (told.code, told.out) == (0, f"{JOB}:{text(slot)}\n")
    assert "the ledger has no k8sjob schema" in told.err
    assert paused


# -------------------------------------------------------------------------------------- too late


def test_a_slot_that_is_too_late_is_skipped_in_the_ledger_for_the_main_container(
    pod: Pod, tmp_path: Path
) -> None:
    at = ago(hours=23)
    pod.has(slot_job(at))

    told = pod.call("resolve", "--write", str(tmp_path), K8SJOB_MAX_LATENESS="2h")

    assert (told.code, told.out) == (0, f"{JOB}:{text(at)}\n"), told.text
    assert f"{JOB}:{text(at)} skipped: late by 23 h > 2 h" in told.err
    assert pod.cli.state(f"{JOB}:{text(at)}") == "skipped"
    assert (pod.cli.last().mode, pod.cli.last().ending) == ("resolve", ("skipped", 0))
    after = pod.run(K8SJOB_CONTEXT=str(tmp_path))
    assert (after.code, pod.cli.balance()) == (0, 0)
    assert "skipped: late by 23 h > 2 h" in after.out


def test_the_main_container_does_not_start_where_skipped_is_to_fail(
    pod: Pod, tmp_path: Path
) -> None:
    pod.has(slot_job(ago(hours=23)))

    told = pod.call(
        "resolve", "--write", str(tmp_path), K8SJOB_MAX_LATENESS="2h", K8SJOB_FAIL_ON="skipped"
    )

    assert told.code == 83
    assert not (tmp_path / "context.json").exists()


def test_it_never_loads_what_it_does_not_need() -> None:
    code = "import k8sjob.cli.resolve, sys; print([m for m in sys.modules if m in {names}])"
    names = {"kubernetes", "psycopg", "zoneinfo", "http.client", "ssl", "k8sjob.expect"}
    told = subprocess.run(
        [sys.executable, "-c", code.format(names=names)], capture_output=True, check=True
    )

    assert told.stdout == b"[]\n"


def test_on_a_file_it_works_alike(lite_pod: Pod) -> None:
    at = ago(minutes=2)
    lite_pod.has(slot_job(at))

    assert lite_pod.call("resolve").out == f"{JOB}:{text(at)}\n"
    assert lite_pod.kept() == [(UID, text(at), "scheduled-timestamp")]


def test_outside_of_a_pod_the_flags_do(lite: CommandLine) -> None:
    told = lite.call("resolve", "--job", "credit", "-n", "billing", "--period", "2026-09-13")

    assert (told.code, told.out) == (0, "billing/credit:2026-09-13\n")
