"""Each file of values under ci/ gives a whole that Helm, Kubernetes and k8sjob itself accept."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from k8sjob.manifest.lint import Report
from k8sjob.manifest.lint import lint as lint_manifest
from tests import fix_chart
from tests.chart.control import CHART, CI, ONE_LEDGER, pod_specs, render_file

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fix_chart import Object

pytestmark = pytest.mark.usefixtures("helm")
each_file = pytest.mark.parametrize("path", CI, ids=lambda path: path.name)
COMPONENTS = {"migrate", "reconciler", "prune", "exporter", "control", "test", "network"}
NOW = datetime(2026, 9, 13, tzinfo=UTC)


@each_file
def test_helm_has_nothing_to_say_of_it(path: Path) -> None:
    assert fix_chart.lint(CHART, fix_chart.values_of(path)) == []


@each_file
@pytest.mark.parametrize("version", fix_chart.KUBERNETES)
def test_kubernetes_takes_each_object(path: Path, version: str) -> None:
    assert fix_chart.validate(render_file(path).objects, version) == []


def test_an_object_with_a_field_that_is_none_would_be_found() -> None:
    bad = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": {"prot": 1}}
    assert fix_chart.validate([bad])


@each_file
def test_k8sjob_itself_finds_nothing_in_its_jobs(path: Path) -> None:
    report = Report()
    for one in render_file(path).objects:
        lint_manifest(report, one["metadata"]["name"], json.dumps(one), NOW)
    assert (report.findings, report.unread) == ([], [])


@each_file
def test_no_two_objects_are_one(path: Path) -> None:
    objects = render_file(path).objects
    known = [
        (one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]) for one in objects
    ]
    assert len(known) == len(set(known))


@each_file
def test_each_object_says_what_it_is_part_of(path: Path) -> None:
    for one in render_file(path, name="main").objects:
        labels = one["metadata"]["labels"]
        assert labels["app.kubernetes.io/component"] in COMPONENTS
        wanted = {
            "app.kubernetes.io/name": "k8sjob",
            "app.kubernetes.io/instance": "main",
            "app.kubernetes.io/part-of": "k8sjob",
            "app.kubernetes.io/version": "0.1.0",
            "app.kubernetes.io/managed-by": "Helm",
            "helm.sh/chart": "k8sjob-0.1.0",
        }
        assert wanted.items() <= labels.items()


@each_file
def test_each_pod_may_do_nothing_that_it_can_do_without(path: Path) -> None:
    for name, spec in pod_specs(render_file(path).objects):
        assert more_than_restricted(spec) == [], name


@each_file
def test_no_container_is_the_first_to_go_where_memory_is_short(path: Path) -> None:
    """It asks for what it needs; no processor is limited, which would only make it slow."""
    for name, spec in pod_specs(render_file(path).objects):
        for container in spec["containers"]:
            resources = container["resources"]
            assert set(resources["requests"]) == {"cpu", "memory"}, name
            assert set(resources["limits"]) == {"memory"}, name


def test_what_pod_security_would_refuse_is_found() -> None:
    values = {**ONE_LEDGER, "securityContext": {"allowPrivilegeEscalation": True}}
    for _, spec in pod_specs(fix_chart.render(CHART, values).objects):
        assert more_than_restricted(spec) == ["allowPrivilegeEscalation"] * len(spec["containers"])


@each_file
def test_each_selector_finds_the_pods_that_it_means(path: Path) -> None:
    objects = render_file(path).objects
    pods = [one["spec"]["template"] for one in objects if one["kind"] == "Deployment"]
    for one in objects:
        if one["kind"] in {"Deployment", "Service"}:
            selector = one["spec"]["selector"]
            wanted = selector.get("matchLabels", selector)
            found = [pod for pod in pods if wanted.items() <= pod["metadata"]["labels"].items()]
            assert len(found) == 1, one["metadata"]["name"]
            assert "helm.sh/chart" not in wanted


def more_than_restricted(spec: Object) -> list[str]:
    """Return what a Pod may beyond Pod security `restricted` and a root that is read-only."""
    of_pod = spec["securityContext"]
    found = [] if of_pod["runAsNonRoot"] is True else ["runAsNonRoot"]
    if of_pod["seccompProfile"] != {"type": "RuntimeDefault"}:
        found.append("seccompProfile")
    found += [key for key in ("hostNetwork", "hostPID", "hostIPC") if key in spec]
    for container in spec["containers"] + spec.get("initContainers", []):
        context = container["securityContext"]
        wanted = {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        found += [key for key, value in wanted.items() if context.get(key) != value]
    found += [key for volume in spec["volumes"] for key in volume if key == "hostPath"]
    return found
