"""Which account may do what: no more than the jobs that run under it need."""

from __future__ import annotations

from typing import Any

import pytest

from tests.chart.jobs import RUN, SIDECAR, pod_of, refusal, rendered
from tests.fix_chart import Rendered, render

pytestmark = pytest.mark.usefixtures("helm")

NO_SHELL = {k: v for k, v in SIDECAR.items() if k != "command"} | {"shell": False}
OWN = "billing-k8sjob-jobs"
NOBODYS: dict[str, Any] = {"serviceAccount": {"create": False}}


def _rights(found: Rendered) -> dict[str, set[str]]:
    """Return what each account may do."""
    roles = {one["metadata"]["name"]: one for one in found.all("Role")}
    rights: dict[str, set[str]] = {}
    for binding in found.all("RoleBinding"):
        rules = roles.pop(binding["roleRef"]["name"])["rules"]
        may = {f"{verb} {rule['resources'][0]}" for rule in rules for verb in rule["verbs"]}
        for subject in binding["subjects"]:
            assert (subject["kind"], subject["namespace"]) == ("ServiceAccount", "shop")
            rights.setdefault(subject["name"], set()).update(may)
    assert not roles, "a Role that is not bound"
    return rights


@pytest.mark.parametrize(
    ("jobs", "rights"),
    [
        ([RUN], {OWN: {"get jobs"}}),
        ([SIDECAR], {OWN: {"get jobs"}}),
        ([RUN | {"shell": False}], {OWN: {"get jobs"}}),
        ([RUN, NO_SHELL], {OWN: {"get jobs", "get pods"}}),
        ([RUN, NO_SHELL | {"enabled": False}], {OWN: {"get jobs"}}),
        (
            [RUN, NO_SHELL | {"serviceAccountName": "statement"}],
            {OWN: {"get jobs"}, "statement": {"get jobs", "get pods"}},
        ),
        (
            [RUN | {"serviceAccountName": "statement"}, NO_SHELL],
            {OWN: {"get jobs", "get pods"}, "statement": {"get jobs"}},
        ),
        ([RUN | {"serviceAccountName": "statement"}], {"statement": {"get jobs"}}),
        ([], {}),
    ],
)
def test_an_account_may_do_what_its_own_jobs_need(
    jobs: list[dict[str, Any]], rights: dict[str, set[str]]
) -> None:
    assert _rights(rendered(*jobs)) == rights


def test_only_the_charts_own_account_is_made() -> None:
    found = rendered(RUN, RUN | {"serviceAccountName": "statement"})
    assert [one["metadata"]["name"] for one in found.all("ServiceAccount")] == [OWN]


def test_account_and_rights_may_be_somebody_elses() -> None:
    found = rendered(RUN, serviceAccount={"create": False, "name": "shop"}, rbac={"create": False})
    assert [one["kind"] for one in found.objects] == ["CronJob", "Pod"]
    assert pod_of(found.one("CronJob"))["serviceAccountName"] == "shop"


@pytest.mark.parametrize("job", [RUN, SIDECAR, NO_SHELL], ids=["run", "sidecar", "no shell"])
def test_rights_do_not_go_to_an_account_that_nobody_has_named(job: dict[str, Any]) -> None:
    said = refusal(job, **NOBODYS)
    assert "jobs.credit: serviceAccount.create is false and serviceAccount.name is empty" in said
    assert "To do: set serviceAccount.name" in said
    assert "account default" in said


def test_the_account_default_can_be_named() -> None:
    meant: dict[str, Any] = {"serviceAccount": {"create": False, "name": "default"}}
    assert _rights(rendered(RUN, **meant)) == {"default": {"get jobs"}}
    # Nor is anything given away where each job has an account, or somebody else binds.
    assert _rights(rendered(RUN | {"serviceAccountName": "shop"}, **NOBODYS)).keys() == {"shop"}
    assert _rights(rendered(RUN, **NOBODYS, rbac={"create": False})) == {}


def test_names_of_roles_are_cut_apart() -> None:
    values = {"image": {"repository": "b", "tag": "1"}, "jobs": {"credit": NO_SHELL}}
    found = render("k8sjob-jobs", values | {"fullnameOverride": "x" * 63}, namespace="shop")
    names = [one["metadata"]["name"] for one in found.all("Role")]
    assert len(set(names)) == 2
    assert max(map(len, names)) <= 63
