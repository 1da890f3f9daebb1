"""Where the images come from, and by whose leave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.chart.control import pod_specs, render

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("helm")


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
