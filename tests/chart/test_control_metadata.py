"""What the chart says of itself, for Helm and for Artifact Hub."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from ruamel.yaml import YAML

import k8sjob
from tests.chart.control import FOLDER, pod_specs, render
from tests.fix_chart import values_of

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("helm")
CHART: dict[str, Any] = values_of(FOLDER / "Chart.yaml")
NOTES = CHART["annotations"]
#: Those of https://artifacthub.io/docs/topics/annotations/helm.
CATEGORIES = {
    "ai-machine-learning", "database", "integration-delivery", "monitoring-logging", "networking",
    "security", "skip-prediction", "storage", "streaming-messaging",
}  # fmt: skip
KINDS = {"added", "changed", "deprecated", "removed", "fixed", "security"}


def listed(name: str) -> list[dict[str, str]]:
    """Return the list that an annotation of Artifact Hub holds as text."""
    found: list[dict[str, str]] = YAML(typ="safe", pure=True).load(NOTES[f"artifacthub.io/{name}"])
    return found


def test_the_chart_is_of_this_version() -> None:
    assert CHART["appVersion"] == k8sjob.__version__


def test_it_is_for_clusters_with_native_sidecars() -> None:
    assert CHART["kubeVersion"] == ">=1.29.0-0"


def test_artifact_hub_is_told_what_it_asks_for() -> None:
    assert NOTES["artifacthub.io/license"] == "Apache-2.0"
    assert NOTES["artifacthub.io/category"] in CATEGORIES
    assert {one["kind"] for one in listed("changes")} <= KINDS
    assert all(one["url"].startswith("https://") for one in listed("links"))


def test_it_is_told_of_all_images() -> None:
    used = {
        container["image"]
        for _, spec in pod_specs(render().objects)
        for container in spec["containers"]
    }
    assert used == {one["image"] for one in listed("images")}


def test_annotations_are_texts() -> None:
    """Artifact Hub and Helm take nothing else."""
    assert all(isinstance(text, str) for text in NOTES.values())


@pytest.mark.parametrize(
    ("values", "image"),
    [
        ({}, "k8sjob-control:0.1.0"),
        ({"image": {"registry": "r.example"}}, "r.example/k8sjob-control:0.1.0"),
        ({"image": {"tag": "edge"}}, "k8sjob-control:edge"),
        (
            {"image": {"tag": "edge", "digest": "sha256:" + "a" * 64}},
            "k8sjob-control@sha256:" + "a" * 64,
        ),
        (
            {"image": {"registry": "r.example"}, "global": {"imageRegistry": "m.example:5000/x"}},
            "m.example:5000/x/k8sjob-control:0.1.0",
        ),
    ],
    ids=str,
)
def test_the_image_is_what_the_values_say(values: dict[str, Any], image: str) -> None:
    for _, spec in pod_specs(render(values).objects):
        assert {container["image"] for container in spec["containers"]} == {image}


@pytest.mark.parametrize("form", [str, lambda name: {"name": name}], ids=["names", "Kubernetes'"])
def test_credentials_for_the_registry_are_those_of_both_places(form: Callable[[str], Any]) -> None:
    """Charts beside this one share the global values, and most have Kubernetes' own form there."""
    own, common = [form("own"), "both"], ["all", form("both")]
    values = {"imagePullSecrets": own, "global": {"imagePullSecrets": common}}
    for _, spec in pod_specs(render(values).objects):
        assert spec["imagePullSecrets"] == [{"name": "all"}, {"name": "both"}, {"name": "own"}]


def test_files_for_the_tests_are_no_part_of_the_package() -> None:
    assert "ci/" in (FOLDER / ".helmignore").read_text("utf-8").splitlines()
