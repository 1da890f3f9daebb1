"""Values that cannot work are refused before anything is installed, and the message says why."""

from __future__ import annotations

from typing import Any

import pytest

from tests import fix_chart
from tests.chart.control import CHART, ONE_LEDGER, render

pytestmark = pytest.mark.usefixtures("helm")

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"ledgers": {}}, "no ledger is given, so there is nothing to look after. Nothing was insta"),
    ({"ledgers": {"shop": {}}}, "ledgers.shop names no Secret with the DSN of its owner. Nothing"),
    (
        {"ledgers": {"shop": {"ownerSecret": "a", "operatorSecret": "b", "readerSecret": ""}}},
        "ledgers.shop names no Secret with the DSN of its reader. Nothing was installed.",
    ),
    (
        {"prune": {"enabled": True}, "ledgers": {"shop": {"ownerSecret": "a"}}},
        "ledgers.shop names no Secret with the DSN of its operator. Nothing was installed.",
    ),
    ({"ledgers": {"Shop": {"existingSecret": "s"}}}, "'Shop' does not match pattern"),
    ({"ledgers": {"a" * 41: {"existingSecret": "s"}}}, "maxLength: got 41, want 40"),
    (
        {"ledgers": {"shop": {"existingSecret": "s", "dsn": "postgresql://"}}},
        "at '/ledgers/shop': additional properties 'dsn' not allowed",
    ),
    (
        {"ledgers": {"shop": {"existingSecret": "s", "grants": {"owner": ["x"]}}}},
        "at '/ledgers/shop/grants': additional properties 'owner' not allowed",
    ),
    (
        {"ledgers": {"shop": {"existingSecret": "s", "grants": {"reader": "x"}}}},
        "at '/ledgers/shop/grants/reader': got string, want array",
    ),
    ({"ledgers": {"shop": {"existingSecret": "A_b"}}}, "'A_b' does not match pattern"),
    ({"reconcilor": {}}, "at '': additional properties 'reconcilor' not allowed"),
    ({"reconciler": {"catchup": {}}}, "at '/reconciler': additional properties 'catchup' not all"),
    ({"reconciler": {"enabled": "yes"}}, "at '/reconciler/enabled': got string, want boolean"),
    ({"reconciler": {"schedule": "TZ=UTC 0 0 * * *"}}, "'TZ=UTC 0 0 * * *' does not match pattern"),
    ({"reconciler": {"schedule": "@every 5m"}}, "at '/reconciler/schedule': '@every 5m' does not"),
    ({"reconciler": {"schedule": "* * * *"}}, "at '/reconciler/schedule': '* * * *' does not"),
    ({"reconciler": {"timeZone": ""}}, "at '/reconciler/timeZone': '' does not match pattern"),
    ({"reconciler": {"timeZone": "europe/rome"}}, "'europe/rome' does not match pattern"),
    ({"reconciler": {"timeZone": "Local"}}, "reconciler.timeZone is Local, which Kubernetes refu"),
    ({"reconciler": {"startingDeadlineSeconds": 5}}, "minimum: got 5, want 10"),
    ({"reconciler": {"backoffLimit": 0}}, "at '/reconciler/backoffLimit': minimum: got 0, want 1"),
    ({"reconciler": {"catchUp": {"maxLaunches": 0}}}, "minimum: got 0, want 1"),
    ({"migrate": {"wait": "2 minutes"}}, "at '/migrate/wait': '2 minutes' does not match pattern"),
    (
        {"migrate": {"wait": "6h", "activeDeadlineSeconds": 290}},
        "migrate.wait=6h and migrate.backoffLimit=1 take the hook up to 43250 seconds, and migr",
    ),
    ({"image": {"digest": "sha256:12"}}, "at '/image/digest': 'sha256:12' does not match pattern"),
    ({"image": {"tag": 1.5}}, "at '/image/tag': got number, want string"),
    (
        {"image": {"pullPolicy": "Sometimes"}},
        "value must be one of 'Always', 'IfNotPresent', 'Neve",
    ),
    ({"image": {"repository": "Team/Image"}}, "'Team/Image' does not match pattern"),
    ({"fullnameOverride": "a" * 42}, "at '/fullnameOverride': maxLength: got 42, want 41"),
    ({"fullnameOverride": "7up"}, "at '/fullnameOverride': '7up' does not match pattern"),
    (
        {"scope": {"namespaces": ["Shop"]}},
        "at '/scope/namespaces/0': 'Shop' does not match pattern",
    ),
    ({"scope": {"namespaces": "shop"}}, "at '/scope/namespaces': got string, want array"),
    (
        {"exporter": {"service": {"type": "External"}}},
        "value must be one of 'ClusterIP', 'NodePort",
    ),
    ({"exporter": {"listenAddress": "localhost"}}, "'localhost' does not match pattern"),
    ({"exporter": {"resources": {"limit": {}}}}, "at '/exporter/resources': additional properties"),
    ({"exporter": {"service": {"port": 0}}}, "at '/exporter/service/port': minimum: got 0, want 1"),
    (
        {"prometheusRule": {"disabled": {"K8sjobMissing": True}}},
        "value must be one of 'K8sjobPerio",
    ),
    ({"prometheusRule": {"overrides": {"K8sjobBlocked": {"expr": "1"}}}}, "'expr' not allowed"),
    ({"prometheusRule": {"overrides": {"K8sjobBlocked": {"for": "5 m"}}}}, "'5 m' does not match"),
    ({"prometheusRule": {"runbookUrl": "wiki"}}, "at '/prometheusRule/runbookUrl': 'wiki' does no"),
    ({"serviceMonitor": {"interval": "often"}}, "at '/serviceMonitor/interval': 'often' does not"),
    ({"networkPolicy": {"exporter": {"from": [{}]}}}, "minProperties: got 0, want 1"),
    ({"networkPolicy": {"database": {"ports": []}}}, "at '/networkPolicy/database/ports': minItem"),
    ({"commonLabels": {"a b": "c"}}, "'a b' does not match pattern"),
    ({"podAnnotations": {"example.com/scrape": True}}, "got boolean, want string"),
    ({"extraEnv": [{"value": "x"}]}, "at '/extraEnv/0': missing property 'name'"),
    ({"extraEnv": [{"name": "K8SJOB_DSN", "value": "x"}]}, "extraEnv sets K8SJOB_DSN, which would"),
    (
        {"control": {"extraEnv": [{"name": "K8SJOB_LEDGERS_DIR", "value": "/"}]}},
        "extraEnv sets K8SJOB_LEDGERS_DIR",
    ),
    ({"extraEnv": [{"name": "PGHOST", "value": "db"}]}, "extraEnv sets PGHOST, which would bring"),
    (
        {"prune": {"extraEnv": [{"name": "K8SJOB_DSN_FILE", "value": "/"}]}},
        "extraEnv sets K8SJOB_DSN_FILE",
    ),
    (
        {"ledgers": {name: {"existingSecret": "s"} for name in "ab"}},
        "ledgers a and b have one DSN (Secret and key s/operator), so all of it would be counted",
    ),
    (
        {"ledgers": {name: {"existingSecret": name, "readerSecret": "s"} for name in "ab"}},
        "ledgers a and b have one DSN (Secret and key s/reader), so all of it would be counted",
    ),
    (
        {
            "ledgers": {
                "a": {"existingSecret": "s"},
                "c": {"existingSecret": "x", "operatorSecret": "s"},
            }
        },
        "ledgers a and c have one DSN (Secret and key s/operator), so all of it would be counted",
    ),
    (
        {"ledgers": {f"shop-{n}": {"existingSecret": f"s{n}"} for n in range(20)}},
        "the hook would keep the schemas of 20 ledgers, and Kubernetes takes 20 rules",
    ),
    (
        {"extraVolumes": [{"name": "ledgers", "emptyDir": {}}]},
        "extraVolumes has ledgers, as the chart calls the volume with the DSNs. Nothing",
    ),
    (
        {"backfill": {"enabled": True}, "control": {"enabled": False}},
        "backfill.enabled gives rights to the control Pod, and control.enabled is false. Nothing",
    ),
    (
        {"serviceMonitor": {"enabled": True}, "exporter": {"enabled": False}},
        "serviceMonitor.enabled lets Prometheus scrape the exporter, and exporter.enabled is",
    ),
]


@pytest.mark.parametrize(("values", "message"), REFUSED, ids=lambda one: str(one)[:60])
def test_it_is_refused_with_the_reason(values: dict[str, Any], message: str) -> None:
    with pytest.raises(fix_chart.ChartError) as refused:
        render(values)
    assert message in str(refused.value)


def test_a_refusal_of_the_templates_says_what_it_means_and_what_to_do() -> None:
    with pytest.raises(fix_chart.ChartError) as refused:
        fix_chart.render(CHART, {}, namespace="platform")
    assert "Nothing was installed." in str(refused.value)
    assert "kubectl -n platform create secret generic k8sjob-ledger" in str(refused.value)
    assert "--set ledgers.default.existingSecret=k8sjob-ledger" in str(refused.value)


@pytest.mark.parametrize(
    "values",
    [
        {"global": {"somebody": {"else": 1}}},
        {"enabled": True},
        {"reconciler": {"schedule": "@hourly"}},
        {"reconciler": {"schedule": "0,30 8-18/2 ? JAN-MAR mon-fri", "timeZone": "UTC"}},
        {"reconciler": {"timeZone": "America/Port-au-Prince"}},
        {"reconciler": {"timeZone": "Etc/GMT+5"}},
        {"image": {"registry": "registry.example:5000/mirror"}},
        {"exporter": {"resources": {"limits": {"memory": "1Gi", "cpu": 0.5}}}},
        {"prometheusRule": {"overrides": {"K8sjobBlocked": {"for": "1h30m"}}}},
    ],
    ids=str,
)
def test_it_is_taken(values: dict[str, Any]) -> None:
    assert render({**ONE_LEDGER, **values}).objects
