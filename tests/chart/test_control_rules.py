"""What Prometheus loads from the chart is files/alerts.yaml, but for what the values change."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

from tests.alerts.rulebook import RULES, alert_names, cases, load, run
from tests.chart.control import CI, FOLDER, everything, render, render_file

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fix_chart import Object, Rendered
    from tests.fix_promtool import Promtool

pytestmark = pytest.mark.usefixtures("helm")
BASE = "https://k8sjob.example/runbooks/"


def spec_of(**values: Any) -> Any:
    """Return the spec of the PrometheusRule."""
    return render({"prometheusRule": {"enabled": True, **values}}).one("PrometheusRule")["spec"]


def file() -> Any:
    """Return the file, to be changed."""
    return deepcopy(load(RULES))


def rules_of(spec: Any) -> list[Object]:
    return [rule for group in spec["groups"] for rule in group["rules"]]


def named(spec: Any, name: str) -> list[Object]:
    """Return the alerts of a name."""
    return [rule for rule in rules_of(spec) if rule.get("alert") == name]


def test_they_are_the_file_to_the_letter() -> None:
    assert spec_of() == file()


def test_the_runbooks_are_where_the_values_say() -> None:
    """With a slash at the end or without."""
    for url in ("https://wiki.example/k8sjob", "https://wiki.example/k8sjob/"):
        wanted = file()
        for rule in rules_of(wanted):
            if "alert" in rule:
                link = rule["annotations"]["runbook_url"]
                assert link.startswith(BASE)
                # Two rules may share their annotations.
                rule["annotations"] = rule["annotations"] | {
                    "runbook_url": link.replace(BASE, "https://wiki.example/k8sjob/")
                }
        assert spec_of(runbookUrl=url) == wanted


@pytest.mark.parametrize("name", alert_names())
def test_an_alert_that_is_disabled_is_gone_with_all_of_its_levels(name: str) -> None:
    wanted = file()
    for group in wanted["groups"]:
        group["rules"] = [rule for rule in group["rules"] if rule.get("alert") != name]
    assert spec_of(disabled={name: True}) == wanted


def test_what_is_disabled_with_false_is_there() -> None:
    assert spec_of(disabled=dict.fromkeys(alert_names(), False)) == file()


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("K8sjobPeriodMissingCritical", "K8sjobPeriodMissing"),
        ("K8sjobReconcilerStaleCritical", "K8sjobReconcilerStale"),
        ("K8sjobOutboxStuckDead", "K8sjobOutboxStuck"),
    ],
)
def test_a_second_level_can_be_disabled_or_changed_alone(key: str, name: str) -> None:
    first, second = named(file(), name)
    assert named(spec_of(disabled={key: True}), name) == [first]
    changed = named(spec_of(overrides={key: {"for": "3h"}}), name)
    assert changed == [first, second | {"for": "3h"}]
    changed = named(spec_of(overrides={name: {"for": "3h"}}), name)
    assert changed == [first | {"for": "3h"}, second]


def test_each_rule_has_a_key_and_the_schema_knows_them_all() -> None:
    """Two rules with one key would be changed together."""
    schema = json.loads((FOLDER / "values.schema.json").read_text("utf-8"))
    keys = schema["definitions"]["alertName"]["enum"]
    assert len(keys) == len([rule for rule in rules_of(file()) if "alert" in rule])
    for key in keys:
        changed = rules_of(spec_of(overrides={key: {"labels": {"seen": "yes"}}}))
        assert len([rule for rule in changed if rule.get("labels", {}).get("seen")]) == 1, key


def test_a_severity_is_the_default_and_a_cronjobs_own_one_still_wins() -> None:
    missing = named(spec_of(overrides={"K8sjobPeriodMissing": {"severity": "page"}}), _MISSING)[0]
    assert missing["labels"]["severity"] == (
        "{{ with $labels.severity }}{{ . }}{{ else }}page{{ end }}"
    )
    (down,) = named(spec_of(overrides={"K8sjobExporterDown": {"severity": "page"}}), _DOWN)
    assert down["labels"]["severity"] == "page"


_MISSING, _DOWN = "K8sjobPeriodMissing", "K8sjobExporterDown"


def test_labels_of_all_alerts_do_not_replace_what_an_alert_has() -> None:
    wanted, extra = file(), {"team": "platform", "severity": "x", "cycle": "y"}
    for rule in rules_of(wanted):
        if "alert" in rule:
            rule["labels"] = extra | rule["labels"]
    assert spec_of(ruleLabels=extra) == wanted


def test_labels_of_one_alert_are_its_alone() -> None:
    spec = spec_of(
        ruleLabels={"team": "platform"},
        overrides={"K8sjobBlocked": {"labels": {"team": "payments"}}},
    )
    assert named(spec, "K8sjobBlocked")[0]["labels"]["team"] == "payments"
    assert named(spec, _DOWN)[0]["labels"]["team"] == "platform"


def test_records_are_never_changed() -> None:
    def records(spec: Any) -> list[Object]:
        return [rule for rule in rules_of(spec) if "record" in rule]

    assert records(everything().one("PrometheusRule")["spec"]) == records(file())


with_rules = [path for path in CI if "prometheusRule" in path.read_text("utf-8")]


@pytest.mark.parametrize("path", with_rules, ids=lambda path: path.name)
def test_prometheus_takes_what_was_rendered(path: Path, promtool: Promtool, tmp_path: Path) -> None:
    answer = promtool.check(written(render_file(path), tmp_path))
    assert answer.ok, answer.text


@pytest.mark.parametrize("name", [name for name in cases() if name.startswith("K8sjobBlocked")])
def test_what_was_rendered_fires_as_the_file_does(
    name: str, promtool: Promtool, tmp_path: Path
) -> None:
    rules = json.dumps(spec_of(disabled={"K8sjobOutboxStuck": True}))
    answer = run(promtool, cases()[name], tmp_path, rules)
    assert answer.ok, answer.text


def written(rendered: Rendered, folder: Path) -> str:
    """Write the rules as Prometheus' operator would, and return the file's name."""
    rules = folder / "rules.yaml"
    rules.write_text(json.dumps(rendered.one("PrometheusRule")["spec"]), "utf-8")
    return str(rules)


def test_the_dashboard_is_the_file_to_the_letter() -> None:
    data = render({"dashboard": {"enabled": True}}).one("ConfigMap")["data"]
    assert data == {"k8sjob.json": (FOLDER / "files" / "dashboard.json").read_text("utf-8")}


def test_grafana_finds_the_dashboard() -> None:
    labels = render({"dashboard": {"enabled": True}}).one("ConfigMap")["metadata"]["labels"]
    assert labels["grafana_dashboard"] == "1"


def test_monitoring_objects_can_lie_where_the_operator_looks() -> None:
    rendered = everything()
    for kind in ("ServiceMonitor", "PrometheusRule", "ConfigMap"):
        assert rendered.one(kind)["metadata"]["namespace"] == "monitoring"
    monitor = rendered.one("ServiceMonitor")
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    assert monitor["spec"]["namespaceSelector"] == {"matchNames": ["k8sjob"]}


def test_the_jobs_namespace_is_kept_when_prometheus_scrapes() -> None:
    rendered = render({"serviceMonitor": {"enabled": True}})
    (endpoint,) = rendered.one("ServiceMonitor")["spec"]["endpoints"]
    assert endpoint["honorLabels"] is True
    (port,) = rendered.one("Service")["spec"]["ports"]
    assert (endpoint["port"], endpoint["path"]) == (port["name"], "/metrics")
    wanted = rendered.one("ServiceMonitor")["spec"]["selector"]["matchLabels"]
    assert wanted.items() <= rendered.one("Service")["metadata"]["labels"].items()
