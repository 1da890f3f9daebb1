"""The period's row decides; beside it stands the main container's exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.sidecar.pod import ATTEMPT, JOB, KEY, OTHER

if TYPE_CHECKING:
    from tests.sidecar.pod import Pod


def ran(pod: Pod, code: object, *, applied_by: object = None) -> str:
    """Let the main container do its work and end; return the end row's message."""
    pod.start()
    pod.wait_for_the_start_row()
    if applied_by:
        pod.claim(None if applied_by == "nobody" else applied_by)  # type: ignore[arg-type]
    pod.leave_exit_code(code)
    pod.wait_for_the_end_row()
    assert pod.stop() == 0
    return pod.message()


def test_a_period_that_is_done_by_this_attempt_is_applied(pod: Pod) -> None:
    message = ran(pod, 0, applied_by=ATTEMPT)

    assert message == f"{KEY} applied"
    assert pod.attempts() == [("applied", 0, "child")]


def test_the_start_row_tells_where_it_runs(pod: Pod) -> None:
    pod.start(K8SJOB_POD_UID="uid-1", K8SJOB_NODE="node-1")
    pod.wait_for_the_start_row()

    columns = "job, period, mode, source, job_uid, job_name, pod_name, pod_uid, node, outcome"
    job, _, period = KEY.partition(":")
    assert pod.attempts(columns) == [
        (
            *(job, period, "sidecar", "the Job's annotation", "6f1d0e7c", "daily-credit-29817615"),
            *("pod-1", "uid-1", "node-1", None),
        )
    ]
    assert [str(row) for (row,) in pod.attempts("id")] == [str(ATTEMPT)]


def test_exit_0_without_the_row_is_unproven(pod: Pod) -> None:
    message = ran(pod, 0)

    assert message.startswith(
        f"{KEY} unproven: the main container ended with 0, but its period is not done\n"
    )
    assert "attempt => '$K8SJOB_ATTEMPT'" in message
    assert pod.attempts() == [("unproven", 0, "child")]
    assert pod.store.query(f"SELECT * FROM {pod.store.table('periods')}") == []


def test_a_failure_keeps_its_code(pod: Pod) -> None:
    message = ran(pod, 3)

    assert message == f"{KEY} failed: the main container ended with 3"
    assert pod.attempts() == [("failed", 3, "child")]


def test_a_failure_after_the_commit_has_done_its_period(pod: Pod) -> None:
    message = ran(pod, 3, applied_by=ATTEMPT)

    assert message == f"{KEY} applied, although the main container ended with 3"
    assert pod.attempts() == [("applied", 3, "child")]


def test_a_period_that_another_attempt_has_done_is_a_duplicate(pod: Pod) -> None:
    message = ran(pod, 0, applied_by=OTHER)

    assert message.startswith(f"{KEY} duplicate: done ")
    assert f"by attempt {str(OTHER)[:8]}" in message
    assert pod.attempts() == [("duplicate", 0, "child")]


def test_a_failure_is_one_whoever_has_done_the_period(pod: Pod) -> None:
    assert ran(pod, 1, applied_by=OTHER) == f"{KEY} failed: the main container ended with 1"
    assert pod.attempts() == [("failed", 1, "child")]


def test_a_claim_from_sql_that_names_no_attempt_is_this_ones(pod: Pod) -> None:
    if pod.store.path:
        return  # only SQL functions may leave it out
    assert ran(pod, 0, applied_by="nobody") == f"{KEY} applied"


def test_a_claim_without_an_attempt_that_was_there_before_is_not_this_ones(pod: Pod) -> None:
    if pod.store.path:
        return  # as above
    pod.claim(None)

    assert ran(pod, 0).startswith(f"{KEY} duplicate: done ")


@pytest.mark.parametrize("order", ["claimed, resolved", "resolved, claimed"])
def test_when_it_was_resolved_tells_a_quick_claim_from_an_earlier_one(pod: Pod, order: str) -> None:
    """Resolve ends before the main container starts, and the sidecar may connect long after it."""
    if pod.store.path:
        return  # as above
    for step in order.split(", "):
        if step == "resolved":
            ((now,),) = pod.store.query("SELECT clock_timestamp()")
            pod.resolve(resolved_at=now.isoformat())
        else:
            pod.claim(None)

    message = ran(pod, 0)

    if order == "resolved, claimed":
        assert message == f"{KEY} applied"
    else:
        assert message.startswith(f"{KEY} duplicate: done ")


def test_the_payload_is_the_main_containers_affair(pod: Pod) -> None:
    """Its digest is in the row, and the sidecar does not know what it was made of."""
    import k8sjob

    pod.start()
    pod.wait_for_the_start_row()
    conn = pod.connect()
    k8sjob.claim(conn, KEY, attempt=OTHER, payload=b"of the main container")
    conn.commit()
    conn.close()
    pod.leave_exit_code(0)
    pod.wait_for_the_end_row()

    assert pod.attempts() == [("duplicate", 0, "child")]


def test_a_period_that_is_blocked_says_why(pod: Pod) -> None:
    job, _, period = KEY.partition(":")
    columns = "job, period, scheduled_for, state, origin, reason, changed_at"
    pod.store.query(
        f"INSERT INTO {pod.store.table('periods')} ({columns}) VALUES ('{job}', '{period}', "
        f"'{period}', 'blocked', 'test', 'no feed', '2026-09-13T00:00:00.000000Z') RETURNING state"
    )

    assert ran(pod, 0).startswith(f"{KEY} blocked: no feed\n")
    assert pod.attempts() == [("blocked", 0, "child")]


@pytest.mark.parametrize(("code", "outcome"), [(0, "in-doubt"), (1, "failed")])
def test_a_period_of_a_kind_that_the_job_does_not_have_says_so(
    pod: Pod, code: int, outcome: str
) -> None:
    import k8sjob

    conn = pod.connect()
    k8sjob.claim(conn, f"{JOB}:2026-09-12")
    conn.commit()
    conn.close()

    message = ran(pod, code)

    assert pod.attempts() == [(outcome, code, "child")]
    assert ("has periods of kind day" in message) == (code == 0)


def test_counters_move_once(pod: Pod) -> None:
    ran(pod, 0, applied_by=ATTEMPT)

    assert pod.store.query(f"SELECT outcome, n FROM {pod.store.table('counters')}") == [
        ("applied", 1)
    ]


def test_a_file_that_holds_no_code_says_so(lite_pod: Pod) -> None:
    message = ran(lite_pod, "oops")

    assert message.startswith(
        f"{KEY} lost: how the main container ended is not known (the file exit holds 'oops' and "
        "no exit code), and the period is not done by it\n"
    )
    assert lite_pod.attempts() == [("lost", None, "k8sjob")]
