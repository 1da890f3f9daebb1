from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from k8sjob.errors import InvalidKey
from k8sjob.key import Key
from k8sjob.kube.manifest import backfill_job
from k8sjob.kube.objects import CronJob
from tests.kube.made import cronjob, template

KEY = Key.parse("billing/credit:2026-09-11T00:00:00Z")


def manifest(made: dict[str, Any] | None = None, **given: Any) -> dict[str, Any]:
    read = CronJob.parse(cronjob("billing/credit", template=made or template()))
    return backfill_job(read, KEY, 0, 1, **given)


def test_the_job_is_the_template_with_its_period() -> None:
    spec = template()["spec"] | {"ttlSecondsAfterFinished": 86_400}
    assert manifest() == {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": "credit-bf-20260911-0-1",
            "namespace": "billing",
            "labels": {
                "app": "credit",
                "k8sjob.io/backfill": "true",
                "k8sjob.io/cronjob": "credit",
            },
            "annotations": {
                "team.example.com/owner": "billing",
                "k8sjob.io/job": "billing/credit",
                "k8sjob.io/period": "2026-09-11T00:00:00Z",
            },
        },
        "spec": spec,
    }


def test_a_spec_with_fields_of_any_version_is_copied_to_the_letter() -> None:
    made = template()
    made["spec"] |= {
        "podFailurePolicy": {"rules": [{"action": "FailJob", "fieldOfTomorrow": [1, {"a": None}]}]},
        "completionMode": "Indexed",
    }
    assert manifest(made)["spec"] == made["spec"] | {"ttlSecondsAfterFinished": 86_400}


def test_the_template_itself_is_left_as_it_is() -> None:
    made = template()
    before = deepcopy(made)
    manifest(made)["spec"]["template"]["spec"]["containers"].clear()
    assert made == before


@pytest.mark.parametrize("ttl", [0, 60])
def test_a_time_to_live_of_the_template_stays(ttl: int) -> None:
    made = template()
    made["spec"]["ttlSecondsAfterFinished"] = ttl
    assert manifest(made)["spec"]["ttlSecondsAfterFinished"] == ttl


def test_a_template_that_makes_suspended_jobs_makes_one_that_runs() -> None:
    made = template()
    made["spec"]["suspend"] = True
    assert manifest(made)["spec"]["suspend"] is False
    assert "suspend" not in manifest()["spec"]


def test_annotations_that_would_lie_are_not_inherited() -> None:
    lies = {
        "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-01-01T00:00:00Z",
        "cronjob.kubernetes.io/instantiate": "manual",
        "k8sjob.io/period": "2026-01-01",
        "k8sjob.io/supersedes": "2026-01-01..2026-01-02",
        "k8sjob.io/job": "billing/other",
    }
    assert manifest(template(**lies)) == manifest()


def test_nothing_of_the_job_makes_gitops_prune_it_and_its_pods_keep_their_labels() -> None:
    made = template(**{"argocd.argoproj.io/tracking-id": "billing:batch/Job:billing/credit"})
    tracked = {"app.kubernetes.io/instance": "billing", "argocd.argoproj.io/instance": "billing"}
    made["metadata"]["labels"] |= tracked
    made["spec"]["template"].setdefault("metadata", {})["labels"] = dict(tracked)
    job = manifest(made)
    assert job["metadata"] == manifest()["metadata"]
    assert job["spec"]["template"]["metadata"]["labels"] == tracked


def test_what_a_catch_up_makes_needless_stands_on_the_job() -> None:
    text = "2026-09-09T00:00:00Z..2026-09-10T00:00:00Z"
    annotations = manifest(supersedes=text)["metadata"]["annotations"]
    assert annotations["k8sjob.io/supersedes"] == text


def test_a_template_of_nothing_but_a_spec_is_enough() -> None:
    made: dict[str, Any] = {"spec": {"template": {}}}
    assert manifest(made)["metadata"]["labels"] == {
        "k8sjob.io/backfill": "true",
        "k8sjob.io/cronjob": "credit",
    }


def test_a_job_has_no_owner() -> None:
    assert "ownerReferences" not in manifest()["metadata"]


def test_a_try_without_a_name_is_refused() -> None:
    read = CronJob.parse(cronjob("billing/credit"))
    with pytest.raises(InvalidKey):
        backfill_job(read, KEY, 0, 0)
