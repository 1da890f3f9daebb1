from __future__ import annotations

from datetime import UTC, datetime

import pytest

from k8sjob.kube.objects import Event, Job
from tests.kube.made import MADE, job, uid
from tests.kube.made_pods import event


def test_a_job_of_a_cronjob_names_it() -> None:
    read = Job.parse(job("billing/credit-29818080", owner="billing/credit", scheduled=MADE))
    assert (read.cronjob, read.cronjob_uid) == ("credit", uid("cronjob", "billing/credit"))
    assert read.annotations == {
        "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-09-01T00:00:00Z"
    }
    assert (read.created, read.started, read.active) == (MADE, MADE, 1)
    assert (read.backfill_of, read.finished, read.deleting) == (None, None, False)


def test_an_owner_that_is_no_controller_or_no_cronjob_is_not_taken_for_one() -> None:
    raw = job("billing/credit-1", owner="billing/credit")
    raw["metadata"]["ownerReferences"][0]["controller"] = False
    assert Job.parse(raw).cronjob is None
    raw["metadata"]["ownerReferences"][0] |= {"controller": True, "kind": "Workflow"}
    assert Job.parse(raw).cronjob is None


@pytest.mark.parametrize(
    ("label", "found"), [("true", "credit"), ("false", None), ("", None), (None, None)]
)
def test_a_backfill_is_known_by_both_labels(label: str | None, found: str | None) -> None:
    labels = {"k8sjob.io/cronjob": "credit"}
    labels |= {} if label is None else {"k8sjob.io/backfill": label}
    assert Job.parse(job("billing/credit-bf-20260911-0-1", labels=labels)).backfill_of == found


@pytest.mark.parametrize("end", ["Complete", "Failed"])
def test_the_end_of_a_job_is_its_terminal_condition(end: str) -> None:
    ended = datetime(2026, 9, 1, 0, 4, tzinfo=UTC)
    read = Job.parse(job("billing/c-1", end=end, ended=ended, reason="Why", message="so"))
    assert (read.finished, read.reason, read.message, read.finished_at) == (end, "Why", "so", ended)
    assert read.completed == (ended if end == "Complete" else None)
    assert not read.is_alive


def test_a_job_that_lost_pods_but_goes_on_has_not_failed() -> None:
    read = Job.parse(job("billing/credit-1", failed=2, active=1))
    assert (read.finished, read.failed, read.is_alive) == (None, 2, True)


def test_the_condition_before_the_last_is_no_end_yet() -> None:
    raw = job("billing/credit-1", end="Failed")
    raw["status"]["conditions"] = raw["status"]["conditions"][:1]
    assert Job.parse(raw).finished is None


def test_a_condition_that_is_not_true_is_none() -> None:
    raw = job("billing/credit-1", end="Complete")
    for condition in raw["status"]["conditions"]:
        condition["status"] = "False"
    assert Job.parse(raw).finished is None


def test_a_finished_job_whose_pod_still_terminates_is_alive() -> None:
    assert Job.parse(job("billing/credit-1", end="Failed", terminating=1)).is_alive


def test_a_job_that_is_being_deleted_says_so() -> None:
    assert Job.parse(job("billing/credit-1", deleting=MADE)).deleting


def test_an_event_is_read_in_its_old_and_its_new_form() -> None:
    last = datetime(2026, 9, 1, 0, 30, tzinfo=UTC)
    old = event(
        "billing", "Job/credit-1", "FailedCreate", "no account", count=4, first=MADE, last=last
    )
    read = Event.parse(old)
    assert (read.kind, read.about, read.reason, read.message) == (
        *("Job", "credit-1"),
        *("FailedCreate", "no account"),
    )
    assert (read.count, read.first, read.last) == (4, MADE, last)
    new = old | {
        "count": None,
        "firstTimestamp": None,
        "lastTimestamp": None,
        "eventTime": "2026-09-01T00:00:00.123456Z",
        "series": {"count": 7, "lastObservedTime": "2026-09-01T00:30:00.000000Z"},
    }
    read = Event.parse(new)
    assert (read.count, read.last) == (7, last)
    assert read.first == MADE.replace(microsecond=123456)
