"""Variables of the template say which job it is and of which kind, as the kubelet sets them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.cycle import Cycle
from k8sjob.reconcile.seen import take_census
from tests.reconcile.conftest import cronjob

if TYPE_CHECKING:
    from k8sjob.kube.objects import CronJob

Env = list[dict[str, Any]]


def told(main: Env, *, init: Env | None = None) -> CronJob:
    """Return a CronJob with these variables."""
    spec: dict[str, Any] = {"containers": [{"name": "main", "env": main}]}
    if init is not None:
        spec["initContainers"] = [{"name": "period", "env": init}]
    return cronjob(template={"spec": {"template": {"spec": spec}}})


def env(**values: str) -> Env:
    return [{"name": name, "value": value} for name, value in values.items()]


def job_of(cron: CronJob) -> str:
    (job,) = take_census([cron]).named
    return str(job)


@pytest.mark.parametrize(
    ("main", "job"),
    [
        (env(K8SJOB_JOB="other"), "billing/other"),
        ([*env(K8SJOB_JOB="first"), *env(K8SJOB_JOB="last")], "billing/last"),
        (env(K8SJOB_JOB=""), "billing/credit"),
        (env(K8SJOB_JOB="$(TEAM)-credit"), "billing/credit"),
        ([*env(K8SJOB_JOB="first"), {"name": "K8SJOB_JOB", "valueFrom": {}}], "billing/credit"),
    ],
    ids=["plain", "twice", "empty", "of another variable", "from elsewhere"],
)
def test_what_reconcile_and_backfill_take_for_the_job_is_the_same(main: Env, job: str) -> None:
    cron = told(main)
    assert job_of(cron) == job
    assert f"billing/{cron.declared('K8SJOB_JOB') or 'credit'}" == job


def test_the_first_container_that_says_so_wins_for_both() -> None:
    cron = told(env(K8SJOB_JOB="main"), init=env(K8SJOB_JOB="resolved"))
    assert (job_of(cron), cron.declared("K8SJOB_JOB")) == ("billing/resolved", "resolved")
    cron = told(env(K8SJOB_JOB="main"), init=env(K8SJOB_JOB="$(NAME)"))
    assert (job_of(cron), cron.declared("K8SJOB_JOB")) == ("billing/main", "main")


def test_a_kind_that_only_the_pod_knows_is_not_declared() -> None:
    (named,) = take_census([told(env(K8SJOB_CYCLE="$(KIND)"))]).named.values()
    assert named.policy.cycle is None
    (named,) = take_census([told(env(K8SJOB_CYCLE="day"))]).named.values()
    assert named.policy.cycle is Cycle.DAY


@pytest.mark.parametrize(
    ("main", "words"),
    [
        (env(K8SJOB_JOB="shop/credit"), "variable K8SJOB_JOB of its containers: 'shop/credit' is"),
        (env(K8SJOB_JOB="No Name"), "variable K8SJOB_JOB of its containers: 'No Name' is"),
        (env(K8SJOB_CYCLE="often"), "variable K8SJOB_CYCLE of its containers: 'often' does not"),
    ],
)
def test_what_does_not_parse_is_told_as_the_variable_that_it_is(main: Env, words: str) -> None:
    (why,) = take_census([told(main)]).broken.values()
    assert why.startswith(words)
    assert "annotation" not in why


def test_an_annotation_that_does_not_parse_is_told_as_one() -> None:
    (why,) = take_census([cronjob(annotations={"k8sjob.io/job": "shop/credit"})]).broken.values()
    assert why.startswith("annotation k8sjob.io/job: 'shop/credit' is not")
