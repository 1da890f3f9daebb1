from __future__ import annotations

from typing import Any

import pytest

from k8sjob.policy import READERS, CatchUp, ManualRuns, read_policy
from tests.chart.jobs import RUN, containers, cronjob, pod_of, refusal, rendered, variables

pytestmark = pytest.mark.usefixtures("helm")

POLICY: dict[str, Any] = {
    "job": "books",
    "cycle": "day",
    "grace": "15m",
    "catchUp": "latest",
    "catchUpMaxCount": 20,
    "catchUpMaxAge": "14d",
    "manualRuns": "oldest-missing",
    "maxLateness": "2h",
    "maxDuration": "30m",
    "retention": "400d",
    "owner": "payments",
    "severity": "page",
    "runbook": "https://runbooks.example/books",
}


def test_every_annotation_has_a_value_of_the_same_name() -> None:
    cron = cronjob(RUN | POLICY, ledger={"name": "shop"})
    assert cron["metadata"]["annotations"].keys() == READERS.keys()


def test_the_reconciler_reads_what_was_written() -> None:
    policy = read_policy(cronjob(RUN | POLICY, ledger={"name": "shop"})["metadata"]["annotations"])

    assert (policy.job, policy.ledger, policy.cycle) == ("books", "shop", "day")
    assert (policy.catch_up, policy.catch_up_max_count) == (CatchUp.LATEST, 20)
    assert policy.catch_up_max_age_s == 14 * 86400
    assert policy.manual_runs is ManualRuns.OLDEST_MISSING
    assert (policy.grace_s, policy.max_lateness_s, policy.max_duration_s) == (900, 7200, 1800)
    assert policy.retention_s == 400 * 86400
    assert (policy.owner, policy.severity) == ("payments", "page")
    assert policy.runbook == "https://runbooks.example/books"


def test_annotations_stand_on_the_cronjob_and_nowhere_below() -> None:
    """A template's annotations would reach every Job that is made from it."""
    template = cronjob(RUN | POLICY)["spec"]["jobTemplate"]
    names = [
        *template["metadata"].get("annotations", {}),
        *template["metadata"]["labels"],
        *template["spec"]["template"]["metadata"]["annotations"],
        *template["spec"]["template"]["metadata"]["labels"],
    ]
    assert [name for name in names if name.startswith("k8sjob.io/")] == []


def test_the_default_ledger_is_not_named() -> None:
    annotations = cronjob(RUN | {"owner": "payments"})["metadata"]["annotations"]
    assert annotations == {"k8sjob.io/owner": "payments"}


def test_a_job_may_have_a_ledger_of_its_own() -> None:
    cron = cronjob(RUN | {"ledger": {"name": "books", "existingSecret": "books"}})

    assert cron["metadata"]["annotations"] == {"k8sjob.io/ledger": "books"}
    secrets = [one["secret"] for one in pod_of(cron)["volumes"] if "secret" in one]
    assert secrets == [{"secretName": "books", "items": [{"key": "runner", "path": "dsn"}]}]


def test_rules_that_are_meant_to_be_broken_are_named() -> None:
    cron = cronjob(RUN | {"lintIgnore": ["either-day", "fires-twice"]})
    assert cron["metadata"]["annotations"] == {"k8sjob.io/lint-ignore": "either-day,fires-twice"}


def test_the_entrypoint_is_told_what_the_reconciler_is() -> None:
    main = containers(pod_of(cronjob(RUN | POLICY)))["main"]
    told = variables(main)

    assert told["K8SJOB_CRONJOB"] == "credit"
    assert told["K8SJOB_TIME_ZONE"] == "Etc/UTC"
    assert (told["K8SJOB_JOB"], told["K8SJOB_CYCLE"]) == ("books", "day")
    assert told["K8SJOB_MANUAL_RUNS"] == "oldest-missing"
    assert told["K8SJOB_MAX_LATENESS"] == "2h"


def test_a_users_labels_and_annotations_stand_beside_ours() -> None:
    cron = cronjob(
        RUN | {"labels": {"tier": "back"}, "annotations": {"example.com/ticket": "4711"}},
        commonLabels={"team": "payments"},
        commonAnnotations={"example.com/contact": "payments"},
    )
    labels = cron["metadata"]["labels"]
    assert (labels["tier"], labels["team"]) == ("back", "payments")
    assert labels["app.kubernetes.io/component"] == "job"
    assert cron["metadata"]["annotations"] == {
        "example.com/contact": "payments",
        "example.com/ticket": "4711",
    }


def test_jobs_and_pods_have_labels_and_annotations_of_their_own() -> None:
    """A queue such as Kueue goes by a label of the Job, and looks at no Pod."""
    own = {
        "jobLabels": {"kueue.x-k8s.io/queue-name": "nightly", "app.kubernetes.io/component": "x"},
        "jobAnnotations": {"argocd.argoproj.io/ignore-healthcheck": "true"},
    }
    cron = cronjob(RUN | own, defaults={"jobLabels": {"tier": "back"}})
    template = cron["spec"]["jobTemplate"]

    assert template["metadata"] == {
        "labels": {
            "app.kubernetes.io/name": "k8sjob-jobs",
            "app.kubernetes.io/instance": "billing",
            "app.kubernetes.io/component": "job",
            "kueue.x-k8s.io/queue-name": "nightly",
            "tier": "back",
        },
        "annotations": own["jobAnnotations"],
    }
    assert "nightly" not in str(template["spec"])
    assert "nightly" not in str(cron["metadata"])
    assert "annotations" not in cronjob(RUN)["spec"]["jobTemplate"]["metadata"]


@pytest.mark.parametrize(
    "where",
    ["labels", "annotations", "jobLabels", "jobAnnotations", "podLabels", "podAnnotations"],
)
def test_names_of_k8sjob_are_made_from_values_and_in_no_other_way(where: str) -> None:
    said = refusal(RUN | {where: {"k8sjob.io/grace": "5m"}})
    assert f"jobs.credit: {where} has k8sjob.io/grace" in said
    assert "To do: write grace, catchUp" in said


def test_a_label_for_every_object_that_is_ours_too_is_there_once() -> None:
    """YAML has no key twice, and what reads it strictly (kustomize) would refuse the release."""
    found = rendered(RUN, commonLabels={"app.kubernetes.io/part-of": "shop", "team": "payments"})

    for one in found.objects:
        labels = one["metadata"]["labels"]
        assert labels["app.kubernetes.io/part-of"] == "k8sjob", one["kind"]
        assert labels["team"] == "payments", one["kind"]
