"""What is switched off is not there, and what is off by default comes with its switch."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from tests import fix_chart
from tests.chart.control import FOLDER, everything, names, pod_specs, render

pytestmark = pytest.mark.usefixtures("helm")

BY_DEFAULT = {
    "ClusterRole k8sjob:k8sjob:reconciler",
    "ClusterRoleBinding k8sjob:k8sjob:reconciler",
    "CronJob k8sjob-reconciler",
    "Deployment k8sjob-control",
    "Deployment k8sjob-exporter",
    "Job k8sjob-migrate",
    "Pod k8sjob-test-reconcile",
    "Pod k8sjob-test-serve",
    "Service k8sjob-exporter",
    "ServiceAccount k8sjob-control",
    "ServiceAccount k8sjob-exporter",
    "ServiceAccount k8sjob-reconciler",
}
OFF: list[tuple[dict[str, Any], set[str]]] = [
    ({"migrate": {"enabled": False}}, {"Job k8sjob-migrate"}),
    (
        {"ledgers": {"default": {"existingSecret": "s", "migrate": False}}},
        {"Job k8sjob-migrate"},
    ),
    (
        {"reconciler": {"enabled": False}},
        {
            "ClusterRole k8sjob:k8sjob:reconciler",
            "ClusterRoleBinding k8sjob:k8sjob:reconciler",
            "CronJob k8sjob-reconciler",
            "Pod k8sjob-test-reconcile",
            "ServiceAccount k8sjob-reconciler",
        },
    ),
    (
        {"exporter": {"enabled": False}},
        {
            "Deployment k8sjob-exporter",
            "Pod k8sjob-test-serve",
            "Service k8sjob-exporter",
            "ServiceAccount k8sjob-exporter",
        },
    ),
    (
        {"control": {"enabled": False}},
        {"Deployment k8sjob-control", "ServiceAccount k8sjob-control"},
    ),
    ({"tests": {"enabled": False}}, {"Pod k8sjob-test-reconcile", "Pod k8sjob-test-serve"}),
    (
        {"rbac": {"create": False}},
        {"ClusterRole k8sjob:k8sjob:reconciler", "ClusterRoleBinding k8sjob:k8sjob:reconciler"},
    ),
    (
        {"reconciler": {"serviceAccount": {"create": False, "name": "watcher"}}},
        {"ServiceAccount k8sjob-reconciler"},
    ),
    ({"exporter": {"serviceAccount": {"create": False}}}, {"ServiceAccount k8sjob-exporter"}),
    ({"control": {"serviceAccount": {"create": False}}}, {"ServiceAccount k8sjob-control"}),
]
CONTROL_ROLE = {"ClusterRole k8sjob:k8sjob:control", "ClusterRoleBinding k8sjob:k8sjob:control"}
ON: list[tuple[dict[str, Any], set[str]]] = [
    ({"backfill": {"enabled": True}}, {"Pod k8sjob-test-backfill", *CONTROL_ROLE}),
    ({"control": {"readCluster": True}}, CONTROL_ROLE),
    ({"serviceMonitor": {"enabled": True}}, {"ServiceMonitor k8sjob-exporter"}),
    ({"prometheusRule": {"enabled": True}}, {"PrometheusRule k8sjob"}),
    ({"dashboard": {"enabled": True}}, {"ConfigMap k8sjob-dashboard"}),
    (
        {"networkPolicy": {"enabled": True}},
        {f"NetworkPolicy k8sjob{end}" for end in ("", "-api", "-migrate")},
    ),
    (
        {"networkPolicy": {"enabled": True, "exporter": {"from": [{"podSelector": {}}]}}},
        {f"NetworkPolicy k8sjob{end}" for end in ("", "-api", "-migrate", "-exporter")},
    ),
]


def test_a_ledger_is_enough_for_all_that_needs_nothing_else() -> None:
    assert names(render()) == BY_DEFAULT


@pytest.mark.parametrize(("values", "gone"), OFF, ids=lambda one: str(one)[:60])
def test_what_is_switched_off_is_not_there(values: dict[str, Any], gone: set[str]) -> None:
    assert names(render(values)) == BY_DEFAULT - gone


@pytest.mark.parametrize(("values", "more"), ON, ids=lambda one: str(one)[:60])
def test_what_is_switched_on_is_there(values: dict[str, Any], more: set[str]) -> None:
    assert names(render(values)) == BY_DEFAULT | more


def test_every_value_of_the_file_with_everything_arrives() -> None:
    """A value that no template reads would be found here: each has a text of its own."""
    text = str([*everything().objects])
    for word in (
        "registry.example:5000/team/k8sjob-control:1.2.3",
        "global-pull",
        "own-pull",
        "owner-dsn",
        "operator-dsn",
        "reader-dsn",
        "--wait=90s",
        "'serviceAccountName': 'migrator'",
        "America/Argentina/Buenos_Aires",
        "--max-launches=5",
        "K8SJOB_LOCK_TIMEOUT",
        "PGCONNECT_TIMEOUT",
        "xterm-256color",
        "--listen=[::]:8080",
        "example.com/lb",
        "'cost-centre': '42'",
        "example.com/contact",
        "'priorityClassName': 'high'",
        "'pool': 'control'",
        "verify-full",
        "database-ca",
        "/etc/ca",
        "'fsGroup': 65532",
        "'runAsUser': 65532",
        "grafana_folder",
        "'interval': '1m'",
        "python_.*",
        "'revisionHistoryLimit': 1",
        "cloud-sql-proxy",
        *(
            f"{part}{end}"
            for part in ("migrate", "reconciler", "prune", "exporter", "control")
            for end in ("-proxy", "/zone", "/host", "', 'operator': 'Exists'")
        ),
        "'loadBalancerClass': 'example.com/internal'",
    ):
        assert word in text, word


def test_nothing_calls_the_api_where_nothing_has_to() -> None:
    off = {"reconciler": {"enabled": False}, "networkPolicy": {"enabled": True}}
    assert "NetworkPolicy k8sjob-api" not in names(render(off))


SWITCHES = [
    "migrate.enabled",
    "reconciler.enabled",
    "reconciler.catchUp.enabled",
    "reconciler.serviceAccount.create",
    "prune.enabled",
    "exporter.enabled",
    "exporter.readyWithLedger",
    "exporter.serviceAccount.create",
    "control.enabled",
    "control.readCluster",
    "control.serviceAccount.create",
    "backfill.enabled",
    "serviceMonitor.enabled",
    "prometheusRule.enabled",
    "dashboard.enabled",
    "networkPolicy.enabled",
    "tests.enabled",
    "rbac.create",
]


def switched(on: dict[str, bool]) -> dict[str, Any]:
    """Return values from paths with dots."""
    values: dict[str, Any] = {}
    for path, value in on.items():
        *steps, last = path.split(".")
        inner = values
        for step in steps:
            inner = inner.setdefault(step, {})
        inner[last] = value
    return values


@settings(
    max_examples=25,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much],
)
@given(
    on=st.fixed_dictionaries(dict.fromkeys(SWITCHES, st.booleans())),
    namespaces=st.sampled_from([[], ["shop"], ["shop", "billing"]]),
)
def test_any_combination_is_whole(on: dict[str, bool], namespaces: list[str]) -> None:
    """Objects of Kubernetes, and each account and role that one names is there."""
    assume(on["control.enabled"] or not on["backfill.enabled"])
    assume(on["exporter.enabled"] or not on["serviceMonitor.enabled"])
    values = switched(on)
    for part in ("reconciler", "control"):
        account = values[part]["serviceAccount"]
        account["name"] = "" if account["create"] else "own"
    rendered = render({**values, "scope": {"namespaces": namespaces}})
    assert fix_chart.validate(rendered.objects) == []
    there = names(rendered)
    for _, spec in pod_specs(rendered.objects):
        account = spec["serviceAccountName"]
        assert account in {"default", "own"} or f"ServiceAccount {account}" in there
    for kind in ("RoleBinding", "ClusterRoleBinding"):
        for binding in rendered.all(kind):
            assert f"{binding['roleRef']['kind']} {binding['roleRef']['name']}" in there


def test_the_switches_of_the_test_are_all_that_there_are() -> None:
    """But for one that only stops the passes for a while."""

    def walk(values: dict[str, Any], above: str = "") -> list[str]:
        found = []
        for key, value in values.items():
            if isinstance(value, dict):
                found += walk(value, f"{above}{key}.")
            elif isinstance(value, bool) and not above.lower().endswith("securitycontext."):
                found.append(above + key)
        return found

    values = fix_chart.values_of(FOLDER / "values.yaml")
    assert sorted({*SWITCHES, "reconciler.suspend"}) == sorted(walk(values))
