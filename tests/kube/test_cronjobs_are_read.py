from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from k8sjob.errors import K8sjobError
from k8sjob.kube.objects import CronJob, UnreadableObject
from tests.kube.made import cronjob, managed, template

MADE = datetime(2026, 9, 1, tzinfo=UTC)


def test_all_that_a_cronjob_says_is_read() -> None:
    raw = cronjob(
        "billing/daily-credit",
        "0 2 * * *",
        zone="Europe/Rome",
        suspend=True,
        concurrency="Forbid",
        deadline=200,
        generation=4,
        annotations={"k8sjob.io/grace": "5m"},
        labels={"k8sjob.io/enabled": "true", "app": "credit"},
        last="2026-09-12T00:00:00Z",
        uid="0d5e",
    )
    assert CronJob.parse(raw) == CronJob(
        namespace="billing",
        name="daily-credit",
        uid="0d5e",
        generation=4,
        created=MADE,
        schedule="0 2 * * *",
        zone="Europe/Rome",
        suspended=True,
        concurrency="Forbid",
        starting_deadline_s=200,
        labels={"k8sjob.io/enabled": "true", "app": "credit"},
        annotations={"k8sjob.io/grace": "5m"},
        last_schedule_time=datetime(2026, 9, 12, tzinfo=UTC),
        template=template(),
    )


def test_what_a_cronjob_leaves_out_is_kubernetes_default() -> None:
    raw: dict[str, Any] = {
        "metadata": {
            "namespace": "billing",
            "name": "credit",
            "uid": "0d5e",
            "creationTimestamp": "2026-09-01T00:00:00Z",
        },
        "spec": {"schedule": "@daily", "jobTemplate": {"spec": {}}},
    }
    read = CronJob.parse(raw)
    assert (read.zone, read.suspended, read.concurrency) == (None, False, "Allow")
    assert (read.starting_deadline_s, read.last_schedule_time) == (None, None)
    assert (read.labels, read.annotations, read.managed) == ({}, {}, ())


def test_a_starting_deadline_of_zero_is_not_none() -> None:
    assert CronJob.parse(cronjob("billing/credit", deadline=0)).starting_deadline_s == 0


def test_managers_are_read_with_what_of_ours_they_own() -> None:
    entries = [
        managed("kubectl-create", MADE, "spec.schedule", "spec.timeZone", "metadata.labels.app"),
        managed("kubectl-patch", "2026-09-02T10:00:00Z", "spec.suspend", operation="Apply"),
        managed("helm", MADE, "metadata.labels.k8sjob.io/enabled"),
        managed("kubectl", MADE, "metadata.annotations.k8sjob.io/cycle"),
        managed("argocd", MADE, "metadata.annotations.argocd.argoproj.io/tracking-id"),
        managed("kube-controller-manager", MADE, "status.lastScheduleTime", subresource="status"),
    ]
    read = CronJob.parse(cronjob("billing/credit", managed=entries)).managed
    assert [(m.manager, set(m.owns)) for m in read] == [
        ("kubectl-create", {"schedule", "timeZone"}),
        ("kubectl-patch", {"suspend"}),
        ("helm", {"enabled-label"}),
        ("kubectl", {"annotations"}),
        ("argocd", set()),
        ("kube-controller-manager", set()),
    ]
    assert read[1].time == datetime(2026, 9, 2, 10, tzinfo=UTC)
    assert (read[1].operation, read[5].subresource) == ("Apply", "status")


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("spec.schedule", None, "spec.schedule is 'None' and not a text"),
        ("spec.schedule", 5, "spec.schedule is '5' and not a text"),
        ("spec.suspend", "yes", "spec.suspend is 'yes' and not true or false"),
        ("spec.startingDeadlineSeconds", True, "is 'True' and not a whole number"),
        ("spec.jobTemplate", [], "spec.jobTemplate is '[]' and not an object"),
        ("metadata.labels", {"a": 1}, "metadata.labels.a is '1' and not a text"),
        ("metadata.creationTimestamp", "soon", "is 'soon' and not a time"),
        ("metadata.creationTimestamp", "2026-09-01T00:00:00", "and not a time with a zone"),
        ("metadata.creationTimestamp", None, "is 'None' and not a time"),
        ("metadata.managedFields", [7], "metadata.managedFields[0]"),
    ],
)
def test_garbage_is_refused_by_the_name_of_the_object(path: str, value: Any, said: str) -> None:
    raw = cronjob("billing/credit")
    outer, inner = path.split(".")
    raw[outer][inner] = value
    with pytest.raises(UnreadableObject) as refused:
        CronJob.parse(raw)
    assert "CronJob billing/credit cannot be read" in str(refused.value)
    assert said in str(refused.value)
    assert isinstance(refused.value, K8sjobError)


@pytest.mark.parametrize("raw", [None, [], "text", {}, {"metadata": {"name": "credit"}}])
def test_what_is_no_object_at_all_is_refused(raw: object) -> None:
    with pytest.raises(UnreadableObject):
        CronJob.parse(raw)
