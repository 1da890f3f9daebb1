"""docs/install.md says of the chart k8sjob what it makes, and its lines can be pasted."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.chart.control import FOLDER, render
from tests.fix_chart import read

pytestmark = pytest.mark.usefixtures("helm")

PAGE = (Path(__file__).parents[2] / "docs" / "install.md").read_text("utf-8")
PLAIN = " ".join(PAGE.split())
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def values_of_the_page() -> dict[str, Any]:
    """Return the values of its first install."""
    (found,) = (read(one)[0] for one in BLOCKS if one.startswith("# k8sjob.yaml"))
    return found


@pytest.mark.parametrize("more", ["serviceMonitor", "image"])
def test_its_values_are_taken(more: str) -> None:
    (block,) = (read(one)[0] for one in BLOCKS if more in read(one)[0] and "jobs" not in one)
    assert render({**values_of_the_page(), **block}).objects


def test_the_tests_that_argo_cd_does_not_run_are_made_by_hand() -> None:
    files = re.findall(r"templates/tests/[\w-]+\.yaml", PAGE)
    assert sorted(files) == sorted(
        str(one.relative_to(FOLDER)) for one in (FOLDER / "templates" / "tests").iterdir()
    )
    found = re.findall(r"-l app\.kubernetes\.io/component=(\w+)", PAGE)
    pods = render({**values_of_the_page(), "backfill": {"enabled": True}}).all("Pod")
    assert {one["metadata"]["labels"]["app.kubernetes.io/component"] for one in pods} == set(found)
    assert len(pods) == len(files)


def test_a_sync_can_go_on_without_the_hook() -> None:
    assert "the way out is the value `migrate.enabled: false`" in PLAIN
    assert render({"migrate": {"enabled": False}}).all("Job") == []


def test_what_flux_would_wait_for_is_off_by_default() -> None:
    assert "Leave `exporter.readyWithLedger` false" in PLAIN
    pod = render().one("Deployment", "k8sjob-exporter")["spec"]["template"]["spec"]
    assert pod["containers"][0]["readinessProbe"]["httpGet"]["path"] == "/healthz"


def test_a_mirror_stands_instead_of_the_registry() -> None:
    image = {"registry": "registry.example", "repository": "k8sjob-control"}
    mirror = {"imageRegistry": "mirror.example"}
    assert "global: {imageRegistry: mirror.example}" in PLAIN
    right = str(render({"global": mirror, "image": image}).objects)
    assert "mirror.example/k8sjob-control" in right
    whole = {"repository": "registry.example/k8sjob-control"}
    wrong = str(render({"global": mirror, "image": whole}).objects)
    assert "mirror.example/registry.example/k8sjob-control" in wrong
    assert "`mirror.example/registry.example/k8sjob-control`" in PLAIN
