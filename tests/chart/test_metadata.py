"""What each chart says of itself, for Helm and for Artifact Hub."""

from __future__ import annotations

from typing import Any

import pytest
from ruamel.yaml import YAML

import k8sjob
from tests.chart.control import ONE_LEDGER, pod_specs
from tests.chart.jobs import IMAGE, SIDECAR
from tests.fix_chart import CHARTS, charts, render, values_of

pytestmark = pytest.mark.usefixtures("helm")
every_chart = pytest.mark.parametrize("chart", charts())

#: Values with which a chart uses all of k8sjob's images that it can.
VALUES: dict[str, dict[str, Any]] = {
    "k8sjob": ONE_LEDGER,
    "k8sjob-jobs": {"image": IMAGE, "jobs": {"credit": SIDECAR}},
}
#: Those of https://artifacthub.io/docs/topics/annotations/helm.
CATEGORIES = {
    "ai-machine-learning", "database", "integration-delivery", "monitoring-logging", "networking",
    "security", "skip-prediction", "storage", "streaming-messaging",
}  # fmt: skip
KINDS = {"added", "changed", "deprecated", "removed", "fixed", "security"}


def _meta(chart: str) -> dict[str, Any]:
    return values_of(CHARTS / chart / "Chart.yaml")


def _told(chart: str, name: str) -> str:
    text: str = _meta(chart)["annotations"][f"artifacthub.io/{name}"]
    return text


def _listed(chart: str, name: str) -> list[dict[str, str]]:
    """Return the list that an annotation of Artifact Hub holds as text."""
    found: list[dict[str, str]] = YAML(typ="safe", pure=True).load(_told(chart, name))
    return found


@every_chart
def test_the_chart_is_of_this_version(chart: str) -> None:
    assert _meta(chart)["appVersion"] == k8sjob.__version__


@every_chart
def test_it_is_for_clusters_with_native_sidecars(chart: str) -> None:
    assert _meta(chart)["kubeVersion"] == ">=1.29.0-0"


@every_chart
def test_artifact_hub_is_told_what_it_asks_for(chart: str) -> None:
    assert _told(chart, "license") == "Apache-2.0"
    assert _told(chart, "category") in CATEGORIES
    assert {_told(chart, name) for name in ("prerelease", "operator")} <= {"true", "false"}
    changes = _listed(chart, "changes")
    assert {one["kind"] for one in changes} <= KINDS
    assert all(one["description"] for one in changes)
    links = [one["url"] for one in _listed(chart, "links")]
    meta = _meta(chart)
    assert all(url.startswith("https://") for url in [*links, *meta["sources"], meta["icon"]])


@every_chart
def test_it_is_told_of_all_images(chart: str) -> None:
    rendered = render(chart, VALUES[chart])
    users = f"{IMAGE['registry']}/{IMAGE['repository']}:{IMAGE['tag']}"
    used = {
        container["image"]
        for _, spec in pod_specs(rendered.objects)
        for container in [*spec.get("initContainers", []), *spec["containers"]]
    }
    listed = _listed(chart, "images")
    assert used - {users} == {one["image"] for one in listed}
    assert all(one["image"].startswith(f"{one['name']}:") for one in listed)


@every_chart
def test_annotations_are_texts(chart: str) -> None:
    """Artifact Hub and Helm take nothing else."""
    assert all(isinstance(text, str) for text in _meta(chart)["annotations"].values())


@every_chart
def test_files_for_the_tests_are_no_part_of_the_package(chart: str) -> None:
    assert "ci/" in (CHARTS / chart / ".helmignore").read_text("utf-8").splitlines()
