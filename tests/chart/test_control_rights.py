"""Each part may do what it must, letter by letter, and where it must."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.doctor.purpose import NEEDS, Purpose
from tests import fix_chart
from tests.chart.control import FOLDER, pod_specs, render

if TYPE_CHECKING:
    from tests.fix_chart import Object, Rendered

pytestmark = pytest.mark.usefixtures("helm")

READS = {
    "cronjobs.batch": ["list"],
    "jobs.batch": ["list"],
    "pods": ["list"],
    "events": ["list"],
}
CATCHES_UP = {**READS, "jobs.batch": ["create", "get", "list"]}
BACKFILLS = {"cronjobs.batch": ["get"], "jobs.batch": ["create", "get", "list"]}
LOOKS = {
    "cronjobs.batch": ["get", "list"],
    "jobs.batch": ["get", "list"],
    "pods": ["list"],
    "events": ["list"],
}
BOTH = {**LOOKS, "jobs.batch": ["create", "get", "list"]}


@pytest.mark.parametrize(
    ("values", "reconciler", "control"),
    [
        ({}, READS, {}),
        ({"reconciler": {"catchUp": {"enabled": True}}}, CATCHES_UP, {}),
        ({"backfill": {"enabled": True}}, READS, BACKFILLS),
        ({"control": {"readCluster": True}}, READS, LOOKS),
        ({"control": {"readCluster": True}, "backfill": {"enabled": True}}, READS, BOTH),
    ],
    ids=str,
)
def test_the_rights_are_these_and_no_others(
    values: dict[str, Any], reconciler: dict[str, list[str]], control: dict[str, list[str]]
) -> None:
    rendered = render(values)
    assert rights(rendered, "k8sjob-reconciler") == {"*": reconciler}
    assert rights(rendered, "k8sjob-control") == ({"*": control} if control else {})
    assert rights(rendered, "k8sjob-exporter") == {}


def test_with_namespaces_there_are_no_rights_beyond_them() -> None:
    rendered = render(
        {"scope": {"namespaces": ["shop", "billing", "shop"]}, "backfill": {"enabled": True}}
    )
    assert rights(rendered, "k8sjob-reconciler") == {"shop": READS, "billing": READS}
    assert rights(rendered, "k8sjob-control") == {"shop": BACKFILLS, "billing": BACKFILLS}
    assert rendered.all("ClusterRole") == rendered.all("ClusterRoleBinding") == []


def test_the_reconciler_looks_where_its_rights_are() -> None:
    """In one order, whatever the values': each combination has its own memory of the last list."""
    rendered = render({"scope": {"namespaces": ["shop", "billing"]}})
    pod = rendered.one("CronJob")["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert pod["containers"][0]["args"][:3] == [
        "reconcile",
        "--namespace=billing",
        "--namespace=shop",
    ]


def test_no_job_is_started_by_a_reconciler_that_has_no_right_to() -> None:
    """With a limit of 0 it says so of each job that asks for it, and the pass is not a failure."""
    for enabled, most in ((False, 0), (True, 50)):
        rendered = render({"reconciler": {"catchUp": {"enabled": enabled}}})
        pod = rendered.one("CronJob")["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        assert f"--max-launches={most}" in pod["containers"][0]["args"]


@pytest.mark.parametrize(
    ("values", "callers"),
    [
        ({}, {"k8sjob-reconciler", "k8sjob-test-reconcile"}),
        ({"tests": {"enabled": False}}, {"k8sjob-reconciler"}),
        (
            {"backfill": {"enabled": True}},
            {
                "k8sjob-reconciler",
                "k8sjob-test-reconcile",
                "k8sjob-control",
                "k8sjob-test-backfill",
            },
        ),
        (
            {"control": {"readCluster": True}},
            {"k8sjob-reconciler", "k8sjob-test-reconcile", "k8sjob-control"},
        ),
    ],
    ids=str,
)
def test_only_those_that_call_the_api_get_a_token(
    values: dict[str, Any], callers: set[str]
) -> None:
    specs = dict(pod_specs(render(values).objects))
    assert {name for name, spec in specs.items() if spec["automountServiceAccountToken"]} == callers
    assert all(type(spec["automountServiceAccountToken"]) is bool for spec in specs.values())


def test_an_account_gives_no_token_to_pods_that_do_not_ask_for_it() -> None:
    for account in render().all("ServiceAccount"):
        assert account["automountServiceAccountToken"] is False


def test_accounts_of_others_are_bound_by_their_names() -> None:
    rendered = render(
        {
            "reconciler": {"serviceAccount": {"create": False, "name": "watcher"}},
            "control": {"serviceAccount": {"create": False, "name": "desk"}, "readCluster": True},
        }
    )
    assert rights(rendered, "watcher") == {"*": READS}
    assert rights(rendered, "desk") == {"*": LOOKS}
    assert dict(pod_specs(rendered.objects))["k8sjob-reconciler"]["serviceAccountName"] == "watcher"


def test_two_releases_in_two_namespaces_do_not_share_a_role() -> None:
    of = [
        {
            one["metadata"]["name"]
            for kind in ("ClusterRole", "ClusterRoleBinding")
            for one in render(namespace=namespace).all(kind)
        }
        for namespace in ("one", "two")
    ]
    assert not of[0] & of[1]


def test_the_readme_says_the_same() -> None:
    """The words of its table, which people bind by hand where rbac.create is false."""
    page = (FOLDER / "README.md").read_text("utf-8")
    assert table(page) == {
        ("reconciler", "always"): READS,
        ("reconciler", "`reconciler.catchUp.enabled`"): {"jobs.batch": ["create", "get"]},
        ("control", "`backfill.enabled`"): BACKFILLS,
        ("control", "`control.readCluster`"): LOOKS,
    }


def test_the_page_of_backfill_says_the_same() -> None:
    page = (FOLDER.parents[1] / "docs" / "backfill.md").read_text("utf-8")
    block = next(one for one in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "verbs" in one)
    (told,) = fix_chart.read(block)
    assert flat(told["rules"]) == BACKFILLS


@pytest.mark.parametrize(
    ("purpose", "given"), [(Purpose.RECONCILE, CATCHES_UP), (Purpose.BACKFILL, BACKFILLS)]
)
def test_doctor_asks_for_the_same(purpose: Purpose, given: dict[str, list[str]]) -> None:
    asked: dict[str, list[str]] = {}
    for access in NEEDS[purpose].access:
        asked.setdefault(access.resource, []).append(access.verb)
    assert {resource: sorted(verbs) for resource, verbs in asked.items()} == given


def test_doctor_asks_for_nothing_where_there_is_no_token() -> None:
    assert NEEDS[Purpose.SERVE].access == ()


def table(page: str) -> dict[tuple[str, str], dict[str, list[str]]]:
    """Return the rights in a page's table: part and when, resource, verbs."""
    found = {}
    for part, when, rights in re.findall(
        r"^\| (\w+) \| (.+?) \| (`.+: .+?`.*) \|$", page, re.MULTILINE
    ):
        if verbs := re.findall(r"`(\w+): ([\w, ]+)`", rights):
            found[part, when] = {
                name + ".batch" * name.endswith("jobs"): sorted(words.split(", "))
                for name, words in verbs
            }
    return found


def flat(rules: list[Object]) -> dict[str, list[str]]:
    """Return the verbs of each resource; none may be there twice."""
    found: dict[str, list[str]] = {}
    for rule in rules:
        assert set(rule) == {"apiGroups", "resources", "verbs"}
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                name = f"{resource}.{group}".rstrip(".")
                assert name not in found
                found[name] = sorted(rule["verbs"])
    return found


def rights(rendered: Rendered, account: str) -> dict[str, dict[str, list[str]]]:
    """Return what an account may by all roles bound to it: namespace (*: all), resource, verbs."""
    found: dict[str, dict[str, list[str]]] = {}
    for binding in rendered.all("RoleBinding") + rendered.all("ClusterRoleBinding"):
        subject = {"kind": "ServiceAccount", "name": account, "namespace": "k8sjob"}
        if subject not in binding["subjects"]:
            continue
        namespace = binding["metadata"].get("namespace")
        ref = binding["roleRef"]
        role = next(
            one
            for one in rendered.all(ref["kind"])
            if one["metadata"]["name"] == ref["name"]
            and one["metadata"].get("namespace") == namespace
        )
        assert (namespace or "*") not in found
        found[namespace or "*"] = flat(role["rules"])
    return found
