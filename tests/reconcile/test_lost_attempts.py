from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from k8sjob.kube.objects import Container
from tests.reconcile.conftest import JOB, MINUTE, at
from tests.reconcile.things import attempt, ended, failed_job, pod_of, slot_job

if TYPE_CHECKING:
    from uuid import UUID

    from tests.reconcile.conftest import Desk

SLOT = at("2026-09-13 12:00")
PERIOD = "2026-09-13T12:00:00Z"


def end_of(desk: Desk, identity: UUID) -> tuple[str | None, str | None]:
    query = "SELECT outcome || '|' || message FROM k8sjob.attempts WHERE id = %s"
    told = desk.value(query, identity)
    return tuple(told.split("|")) if told else (None, None)


@pytest.mark.parametrize(
    ("container", "words"),
    [
        (ended(137, "OOMKilled"), "OOMKilled: exit code 137 after 41 s, Pod credit-"),
        (ended(1, "Error"), "exit code 1 after 41 s, Pod credit-"),
        (ended(0, "OOMKilled"), "exit code 0 after 41 s, Pod credit-"),  # the word is no evidence
        (ended(128, "StartError"), "StartError: exit code 128"),
    ],
    ids=["oom", "error", "oom-word-alone", "start-error"],
)
def test_an_attempt_whose_container_ended_is_lost_with_its_reason(
    desk: Desk, container: Container, words: str
) -> None:
    pod = pod_of(slot_job(SLOT), container)
    lost = attempt(desk, PERIOD, pod)
    desk.jobs, desk.pods = [slot_job(SLOT)], [pod]
    desk.one_pass()
    outcome, message = end_of(desk, lost)
    assert outcome == "lost"
    assert message is not None
    assert message.startswith(words)


def test_an_attempt_whose_container_runs_is_left_alone(desk: Desk) -> None:
    pod = pod_of(slot_job(SLOT))
    alive = attempt(desk, PERIOD, pod)
    desk.jobs, desk.pods = [slot_job(SLOT)], [pod]
    desk.clock += timedelta(hours=5)
    desk.one_pass()
    assert end_of(desk, alive) == (None, None)


def test_a_pod_that_terminates_still_lives(desk: Desk) -> None:
    pod = pod_of(slot_job(SLOT), deleting=True)
    alive = attempt(desk, PERIOD, pod)
    desk.jobs, desk.pods = [slot_job(SLOT, active=0, terminating=1)], [pod]
    desk.one_pass()
    assert end_of(desk, alive) == (None, None)


def test_only_the_job_tells_of_a_deadline_that_deleted_the_pod(desk: Desk) -> None:
    pod = pod_of(slot_job(SLOT))
    lost = attempt(desk, PERIOD, pod)
    desk.jobs = [failed_job(SLOT, "DeadlineExceeded")]
    desk.one_pass()
    outcome, message = end_of(desk, lost)
    assert outcome == "lost"
    assert message is not None
    assert message.startswith("DeadlineExceeded: Pod credit-")


def test_an_evicted_pod_says_so(desk: Desk) -> None:
    pod = pod_of(slot_job(SLOT), Container(name="main"), phase="Failed", reason="Evicted")
    lost = attempt(desk, PERIOD, pod)
    desk.jobs, desk.pods = [slot_job(SLOT)], [pod]
    desk.one_pass()
    assert (end_of(desk, lost)[1] or "").startswith("Evicted: Pod credit-")


def test_a_pod_that_is_nowhere_is_lost_only_once_no_sign_of_life_comes(desk: Desk) -> None:
    """Its Job is nowhere either: both may be in a namespace that was not listed."""
    lost = attempt(desk, PERIOD, pod_of(slot_job(SLOT)))
    desk.one_pass()
    assert end_of(desk, lost) == (None, None)
    desk.clock += 4 * MINUTE
    desk.one_pass()
    assert end_of(desk, lost)[0] == "lost"


def test_an_attempt_that_is_in_its_periods_row_has_applied(desk: Desk) -> None:
    pod = pod_of(slot_job(SLOT), ended(137, "OOMKilled"))
    applied = attempt(desk, PERIOD, pod)
    with desk.db.connect() as conn:
        conn.execute("SELECT k8sjob.claim(%s, %s, NULL, %s)", (JOB, PERIOD, applied))
        conn.commit()
    desk.jobs, desk.pods = [slot_job(SLOT)], [pod]
    desk.one_pass()
    outcome, message = end_of(desk, applied)
    assert outcome == "applied"
    assert message is not None
    assert "its commit stands" in message
    assert desk.value("SELECT n FROM k8sjob.counters WHERE outcome = 'applied'") == 1


def test_without_a_pod_only_the_connection_tells(desk: Desk) -> None:
    here, away = attempt(desk, PERIOD), attempt(desk, "2026-09-13T11:00:00Z")
    desk.clock += 4 * MINUTE
    with desk.db.connect(application_name=f"k8sjob {JOB}:{PERIOD}"):
        desk.one_pass()
        assert end_of(desk, here) == (None, None)
        assert end_of(desk, away)[0] == "lost"


def test_a_command_without_a_pod_is_never_called_lost(desk: Desk) -> None:
    command = attempt(desk, PERIOD, mode="command")
    desk.clock += timedelta(days=3)
    desk.one_pass()
    assert end_of(desk, command) == (None, None)


def test_nothing_is_called_lost_where_pods_could_not_be_listed(desk: Desk) -> None:
    attempt_ = attempt(desk, PERIOD, pod_of(slot_job(SLOT)))
    desk.pods = None
    desk.clock += timedelta(days=1)
    desk.one_pass()
    assert end_of(desk, attempt_) == (None, None)


def test_a_container_that_was_restarted_in_place_has_lost_its_first_attempt(desk: Desk) -> None:
    again = Container(
        name="main",
        running_since=at("2026-09-13 12:02"),
        last_terminated=ended(137, "OOMKilled", seconds=60).terminated,
    )
    pod = pod_of(slot_job(SLOT), again)
    desk.jobs, desk.pods = [slot_job(SLOT)], [pod]
    desk.clock = at("2026-09-13 12:00:05")
    first = attempt(desk, PERIOD, pod)
    desk.clock = at("2026-09-13 12:02:05")
    second = attempt(desk, PERIOD, pod)
    desk.clock = at("2026-09-13 12:04:05")
    desk.one_pass()
    assert end_of(desk, first)[0] == "lost"
    assert end_of(desk, second) == (None, None)


def test_an_attempt_without_a_sign_of_life_hides_no_period_for_ever(desk: Desk) -> None:
    """Nobody can say whether a command without a Pod is over, so its period is told and left."""
    assert desk.cronjobs is not None
    desk.cronjobs[0] = replace(desk.cronjobs[0], annotations={"k8sjob.io/catch-up": "every"})
    desk.pass_at("11:50")
    attempt(desk, PERIOD, mode="command")
    desk.clock = at("2026-09-13 12:31")
    desk.one_pass()
    assert desk.missing() == ["12:00"]
    assert desk.launched == []


def test_an_attempt_that_gives_signs_of_life_holds_its_period(desk: Desk) -> None:
    desk.pass_at("11:50")
    desk.clock = at("2026-09-13 12:29")
    attempt(desk, PERIOD, mode="command")
    desk.pass_at("12:31")
    assert desk.rows() == {}


def test_of_several_containers_the_worst_end_tells(desk: Desk) -> None:
    good, bad = replace(ended(0), name="proxy"), ended(3, "Error")
    pod = pod_of(slot_job(SLOT), good, bad)
    lost = attempt(desk, PERIOD, pod)
    desk.jobs, desk.pods = [slot_job(SLOT)], [pod]
    desk.one_pass()
    assert (end_of(desk, lost)[1] or "").startswith("exit code 3 after 41 s")


def test_while_one_container_runs_nothing_is_lost(desk: Desk) -> None:
    running = Container(name="main", running_since=SLOT)
    pod = pod_of(slot_job(SLOT), replace(ended(1), name="proxy"), running)
    alive = attempt(desk, PERIOD, pod)
    desk.jobs, desk.pods = [slot_job(SLOT)], [pod]
    desk.one_pass()
    assert end_of(desk, alive) == (None, None)


def test_a_sidecar_may_write_the_end_for_as_long_as_it_lives(desk: Desk) -> None:
    """It is an init container that goes on, and the Pod's phase waits for it."""
    pod = pod_of(slot_job(SLOT), ended(0))
    alive = attempt(desk, PERIOD, pod, mode="sidecar")
    desk.jobs, desk.pods = [slot_job(SLOT)], [pod]
    desk.one_pass()
    assert end_of(desk, alive) == (None, None)
    desk.pods = [replace(pod, phase="Succeeded")]
    desk.clock += MINUTE
    desk.one_pass()
    assert end_of(desk, alive)[0] == "lost"


def test_a_sidecar_that_is_silent_has_lost_its_attempt(desk: Desk) -> None:
    pod = pod_of(slot_job(SLOT), ended(1, "Error"))
    lost = attempt(desk, PERIOD, pod, mode="sidecar")
    desk.jobs, desk.pods = [slot_job(SLOT)], [pod]
    desk.clock += 4 * MINUTE
    desk.one_pass()
    assert end_of(desk, lost)[0] == "lost"


@pytest.mark.parametrize("outcome", ["applied", "awaiting", "lost"])
def test_a_dry_run_says_what_the_pass_would_come_to(desk: Desk, outcome: str) -> None:
    pod = pod_of(slot_job(SLOT), ended(137, "OOMKilled"))
    killed = attempt(desk, PERIOD, pod)
    if outcome != "lost":
        with desk.db.connect() as conn:
            conn.execute("SELECT k8sjob.claim(%s, %s, NULL, %s)", (JOB, PERIOD, killed))
            if outcome == "awaiting":
                handed = "SELECT k8sjob.await(%s, %s, 'sent to the bank', %s)"
                conn.execute(handed, (JOB, PERIOD, killed))
    desk.jobs, desk.pods = [slot_job(SLOT)], [pod]
    dry = desk.one_pass(dry_run=True)
    real = desk.one_pass()
    assert [line.action for line in dry.lines if line.what == f"{JOB}:{PERIOD}"] == [outcome]
    assert dry.lines == real.lines
