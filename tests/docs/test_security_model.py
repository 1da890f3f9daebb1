"""docs/security.md says of service accounts, tokens and DSNs what the charts make."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.chart import jobs
from tests.chart.control import dsns, everything, pod, pod_specs, render
from tests.chart.test_control_rights import flat, rights

if TYPE_CHECKING:
    from tests.fix_chart import Object

pytestmark = pytest.mark.usefixtures("helm")

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")
NO_SHELL = {k: v for k, v in jobs.SIDECAR.items() if k != "command"} | {"shell": False}


def rows(section: str, head: str) -> list[list[str]]:
    """Return the cells of the table with this head in a section, head and rule left out."""
    text = PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0]
    lines = text[text.index(f"| {head} |") :].splitlines()
    end = next(n for n, line in enumerate(lines) if not line.startswith("|"))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:end]]


def verbs(text: str) -> dict[str, list[str]]:
    """Return what a text such as "`jobs: get, list`, `pods: list`" grants, by resource."""
    return {
        name + ".batch" * name.endswith("jobs"): words.split(", ")
        for name, words in re.findall(r"`(\w+): ([\w, ]+)`", text)
    }


def told(account: str) -> dict[str, dict[str, list[str]]]:
    """Return the verbs of an account, by the value that they come with, "" for always."""
    cell = next(
        row[1] for row in rows("What runs in the cluster", "service account") if row[0] == account
    )
    found = {}
    for part in cell.split("; "):
        switch = re.match(r"with `([\w.]+)` ", part)
        found[switch[1] if switch else ""] = verbs(part)
    return found


def switched_on(path: str) -> dict[str, Any]:
    """Return the values with the one at ``path`` true."""
    values: Any = True
    for step in reversed([step for step in path.split(".") if step]):
        values = {step: values}
    return values if path else {}


def given(values: dict[str, Any], part: str) -> dict[str, list[str]]:
    return rights(render(values), f"k8sjob-{part}").get("*", {})


def test_the_reconciler_has_the_verbs_of_the_page() -> None:
    page = told("of the reconciler")
    assert set(page) == {"", "reconciler.catchUp.enabled"}
    assert given({}, "reconciler") == page[""]
    more = {**page[""]}
    for name, words in page["reconciler.catchUp.enabled"].items():
        more[name] = sorted({*more[name], *words})
    assert given(switched_on("reconciler.catchUp.enabled"), "reconciler") == more


def test_the_control_deployment_has_the_verbs_of_the_page() -> None:
    page = told("of the control Deployment")
    assert set(page) == {"", "backfill.enabled", "control.readCluster"}
    for switch, words in page.items():
        assert given(switched_on(switch), "control") == words, switch


def test_the_jobs_of_an_application_have_the_verbs_of_the_page() -> None:
    (row,) = [
        row for row in rows("What runs in the cluster", "service account") if "jobs" in row[0]
    ]
    always, no_shell = row[1].split(", with `shell: false` ")
    for values, text in ((jobs.SIDECAR, always), (NO_SHELL, f"{always} {no_shell}")):
        roles = jobs.rendered(values).all("Role")
        assert flat([rule for role in roles for rule in role["rules"]]) == verbs(text)
        assert {role["metadata"]["namespace"] for role in roles} == {"shop"}, "and nowhere else"


def test_those_without_a_token_are_the_others() -> None:
    (row,) = [
        row for row in rows("What runs in the cluster", "service account") if "mounted" in row[1]
    ]
    assert row[0] == "exporter, prune CronJob, migration"
    specs = dict(pod_specs(everything().objects))
    without = {name for name, spec in specs.items() if not spec["automountServiceAccountToken"]}
    parts = ("exporter", "prune", "migrate", "test-serve")
    assert without == {f"ledgers-{part}" for part in parts}


def test_each_part_has_the_dsn_of_the_role_that_the_page_gives_it() -> None:
    who = {row[0].strip("*"): row[1] for row in rows("Four roles in the database", "role")}
    parts = {
        "reconciler": ("operator", "k8sjob-reconciler"),
        "prune CronJob": ("operator", "k8sjob-prune"),
        "control Deployment": ("operator", "k8sjob-control"),
        "exporter": ("reader", "k8sjob-exporter"),
        "the migration": ("owner", "k8sjob-migrate"),
    }
    rendered = render({"prune": {"enabled": True}})
    for part, (role, name) in parts.items():
        assert part in who[role]
        assert [key for _, key in dsns(pod(rendered, name)).values()] == [role]


def holders(spec: Object, mount: str) -> set[str]:
    """Return the containers that mount something."""
    found = jobs.containers(spec)
    return {name for name, one in found.items() if mount in jobs.mounts(one)}


@pytest.mark.parametrize(
    ("job", "token", "dsn"),
    [
        (jobs.RUN, {"main"}, {"main"}),
        (jobs.SIDECAR, {"resolve"}, {"resolve", "sidecar"}),
        (NO_SHELL, {"resolve", "sidecar"}, {"resolve", "sidecar"}),
    ],
    ids=["run", "sidecar", "no shell"],
)
def test_token_and_dsn_are_where_the_page_says(job: Object, token: set[str], dsn: set[str]) -> None:
    said = "it has no token, and no DSN of k8sjob's: `resolve` has both, `sidecar` the DSN,"
    assert f"In sidecar mode {said} and the token with `shell: false`." in " ".join(PAGE.split())
    spec = jobs.pod(job)
    assert (holders(spec, "token"), holders(spec, "ledger")) == (token, dsn)


def test_the_switches_that_the_page_calls_off_are_off() -> None:
    rendered = render()
    assert rendered.all("NetworkPolicy") == []
    assert rendered.one("Service")["spec"]["type"] == "ClusterIP"
    assert given({}, "control") == {}


def test_the_tests_that_the_page_names_are_there() -> None:
    named = re.findall(r"`(tests/[\w/*.]+)`", PAGE)
    assert len(named) == 2
    for pattern in named:
        assert list(ROOT.glob(pattern)), pattern
