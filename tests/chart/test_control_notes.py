"""What helm says after an install: what to do next, and what is off and may hurt."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.alerts.commands import fault_of
from tests.chart.control import names, render

pytestmark = pytest.mark.usefixtures("helm")

#: With these there is nothing to warn of but that people can start Jobs.
QUIET: dict[str, Any] = {
    "ledgers": {
        "default": {
            "existingSecret": "s",
            "grants": {"operator": ["o"], "runner": ["r"], "reader": ["l"]},
        }
    },
    "reconciler": {"catchUp": {"enabled": True}},
    "control": {"readCluster": True},
    "backfill": {"enabled": True},
    "serviceMonitor": {"enabled": True},
    "prometheusRule": {"enabled": True, "runbookUrl": "https://wiki.example"},
    "networkPolicy": {"enabled": True, "exporter": {"from": [{"podSelector": {}}]}},
}
_ALWAYS = "Whoever may exec into k8sjob-control can start Jobs of any CronJob in the scope"


def warnings(values: dict[str, Any]) -> list[str]:
    """Return the warnings that ``values`` add to what is quiet."""
    merged = {key: QUIET.get(key, {}) | values.get(key, {}) for key in QUIET | values}
    merged["ledgers"] = values.get("ledgers", QUIET["ledgers"])
    _, _, text = render(merged).notes.partition("WARNINGS\n")
    return re.findall(r"^  \* (.*)$", text, re.MULTILINE)


WARNED: list[tuple[dict[str, Any], str]] = [
    ({"reconciler": {"enabled": False}}, "Nothing looks for missing periods: reconciler.enabled"),
    ({"reconciler": {"suspend": True}}, "Nothing looks for missing periods: reconciler.suspend"),
    (
        {"reconciler": {"catchUp": {"enabled": False}}},
        "CronJobs with k8sjob.io/catch-up every or latest are only flagged",
    ),
    ({"prometheusRule": {"enabled": False}}, "Nobody is told of what is missing"),
    (
        {"prometheusRule": {"runbookUrl": "https://k8sjob.example/runbooks"}},
        "Alerts lead to an example's runbooks",
    ),
    ({"serviceMonitor": {"enabled": False}}, "Prometheus is not told to scrape the exporter"),
    (
        {"exporter": {"enabled": False}, "serviceMonitor": {"enabled": False}},
        "There are no metrics and no status page",
    ),
    (
        {"exporter": {"service": {"type": "LoadBalancer"}}},
        "The exporter asks nobody to log in, and its Service is a LoadBalancer",
    ),
    ({"exporter": {"readyWithLedger": True}}, "The exporter is not ready before there is a schema"),
    ({"migrate": {"enabled": False}}, "Nobody makes or upgrades the ledgers: migrate.enabled"),
    (
        {"ledgers": {"default": {"existingSecret": "s", "migrate": False}}},
        "Nobody makes or upgrades the ledger default: its migrate is false",
    ),
    (
        {"ledgers": {"default": {"existingSecret": "s", "grants": {"reader": ["l"]}}}},
        "No role of the database is let in by ledgers.default.grants.operator, ledgers.default.gr",
    ),
    (
        {"ledgers": {"shop": QUIET["ledgers"]["default"]}},
        "No ledger is called default",
    ),
    ({"networkPolicy": {"enabled": False}}, "Every Pod of the cluster may reach the exporter"),
    ({"networkPolicy": {"exporter": {"from": []}}}, "Nobody reaches the exporter, Prometheus nei"),
    (
        {"control": {"readCluster": False}},
        "`kubectl k8sjob reconcile --dry-run`, which alerts about the reconciler advise, may not",
    ),
    (
        {
            "global": {"imageRegistry": "mirror.example"},
            "image": {"repository": "registry.example/control"},
        },
        "image.repository begins with registry.example, which looks like a registry, and mirror.ex",
    ),
    ({"rbac": {"create": False}}, "No account has rights: rbac.create is false"),
]


@pytest.mark.parametrize(("values", "warning"), WARNED, ids=lambda one: str(one)[:60])
def test_what_is_off_and_may_hurt_is_said(values: dict[str, Any], warning: str) -> None:
    said, also = sorted(warnings(values), key=lambda one: not one.startswith(warning))
    assert said.startswith(warning)
    assert also.startswith(_ALWAYS)


def test_there_is_nothing_else_to_say() -> None:
    (only,) = warnings({})
    assert only.startswith(_ALWAYS)


@pytest.mark.parametrize(
    "image",
    [
        {"repository": "registry.example/control"},
        {"registry": "r.example", "repository": "team/control"},
        {"registry": "r.example", "repository": "control.d"},
    ],
    ids=str,
)
def test_a_registry_that_stands_once_is_not_warned_of(image: dict[str, str]) -> None:
    assert len(warnings({"image": image})) == 1


def test_what_backfill_may_is_said_either_way() -> None:
    (only,) = warnings({"backfill": {"enabled": False}})
    assert only.startswith("`kubectl k8sjob backfill` may not start Jobs")
    (only,) = warnings({"backfill": {"enabled": False}, "control": {"enabled": False}})
    assert only.startswith("`kubectl k8sjob` has nowhere to run")


def test_it_says_what_it_looks_after() -> None:
    assert "looks after CronJobs of all namespaces" in render().notes
    scoped = render({"scope": {"namespaces": ["shop", "billing"]}}).notes
    assert "looks after the CronJobs of billing, shop" in scoped


def test_the_commands_are_about_what_is_there() -> None:
    rendered = render(name="main", namespace="platform")
    notes = rendered.notes
    assert "helm test -n platform main --logs" in notes
    there = {name.lower() for name in names(rendered)}
    for kind, short in (("deployment", "deploy/"), ("service", "svc/"), ("cronjob", "cronjob/")):
        for name in re.findall(rf"(?<![\w-]){short}([\w-]+)", notes):
            assert f"{kind} {name}" in there
    for line in re.findall(r"k8sjob get [^#\n]*", notes):
        assert fault_of(line) is None


def test_what_is_off_is_not_recommended() -> None:
    notes = render(
        {
            "reconciler": {"enabled": False},
            "exporter": {"enabled": False},
            "control": {"enabled": False},
            "tests": {"enabled": False},
        }
    ).notes
    for word in ("helm test", "port-forward", "exec", "create job"):
        assert word not in notes.partition("WARNINGS")[0]
