"""Labels of the values come to all objects, and none takes the place of the chart's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.chart.control import everything, render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fix_chart import Object

pytestmark = pytest.mark.usefixtures("helm")
#: All that the chart itself writes, and what would make a reconciler look after its CronJobs.
OWN = {
    *(
        f"app.kubernetes.io/{name}"
        for name in ("name", "instance", "component", "part-of", "version", "managed-by")
    ),
    "helm.sh/chart",
    "k8sjob.io/enabled",
}
ALL_ON: Object = {
    "prune": {"enabled": True},
    "backfill": {"enabled": True},
    "serviceMonitor": {"enabled": True},
    "prometheusRule": {"enabled": True},
    "dashboard": {"enabled": True},
    "networkPolicy": {"enabled": True},
}


def labels(thing: object) -> Iterator[dict[str, str]]:
    """Yield the labels of an object, of its templates too."""
    if isinstance(thing, dict):
        for key, value in thing.items():
            if key == "metadata" and "labels" in value:
                yield value["labels"]
            else:
                yield from labels(value)


@pytest.mark.parametrize("where", ["commonLabels", "podLabels", "a part's podLabels"])
def test_the_charts_own_labels_stay_as_they_are(where: str) -> None:
    """`kubectl k8sjob`, Services and policies choose by them."""
    taken = dict.fromkeys(OWN, "true") | {"team": "platform"}
    values = dict(ALL_ON)
    if where == "a part's podLabels":
        parts = ("migrate", "reconciler", "prune", "exporter", "control")
        values |= {part: {**ALL_ON.get(part, {}), "podLabels": taken} for part in parts}
    else:
        values[where] = taken
    usual = [its for one in render(ALL_ON).objects for its in labels(one)]
    found = [its for one in render(values).objects for its in labels(one)]
    for before, after in zip(usual, found, strict=True):
        assert {name: text for name, text in after.items() if name != "team"} == before
    assert [its for its in found if its.get("team") == "platform"]


def test_no_cronjob_of_the_chart_is_looked_after() -> None:
    rendered = render({**ALL_ON, "commonLabels": {"k8sjob.io/enabled": "true"}})
    assert rendered.all("CronJob")
    assert "k8sjob.io/enabled" not in str(rendered.all("CronJob"))


def test_labels_of_all_objects_come_to_all_of_them() -> None:
    for one in everything().objects:
        assert [its["team"] for its in labels(one)] == ["platform"] * len(list(labels(one)))
