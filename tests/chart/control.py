"""What the tests of the chart k8sjob share: values, and where Pods are in what was rendered."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from tests import fix_chart

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.fix_chart import Object, Rendered

CHART = "k8sjob"
FOLDER = fix_chart.CHARTS / CHART
#: The files of values with which the chart is tried as a whole.
CI = sorted((FOLDER / "ci").iterdir())
#: The least that has to be said.
ONE_LEDGER: Object = {"ledgers": {"default": {"existingSecret": "k8sjob-ledger"}}}


def render(values: Mapping[str, Any] | None = None, **more: Any) -> Rendered:
    """Render the chart with one ledger and ``values``, which win."""
    return fix_chart.render(CHART, {**ONE_LEDGER, **(values or {})}, **more)


@cache
def render_file(path: Path, name: str = "k8sjob") -> Rendered:
    """Render the chart with a file of values, once: nobody changes what comes of it."""
    return fix_chart.render(CHART, fix_chart.values_of(path), name=name)


def everything() -> Rendered:
    """Render the chart with all switches on."""
    return render_file(FOLDER / "ci" / "everything-values.yaml")


def pod_specs(objects: list[Object]) -> Iterator[tuple[str, Object]]:
    """Yield all Pods' specs, each with the name of the object that it is of."""
    for one in objects:
        spec = one.get("spec", {})
        if one["kind"] == "CronJob":
            spec = spec["jobTemplate"]["spec"]
        if one["kind"] in {"CronJob", "Job", "Deployment"}:
            yield one["metadata"]["name"], spec["template"]["spec"]
        if one["kind"] == "Pod":
            yield one["metadata"]["name"], spec


def pod(rendered: Rendered, name: str) -> Object:
    """Return the spec of the Pods of the object ``name``."""
    return dict(pod_specs(rendered.objects))[name]


def dsns(spec: Object) -> dict[str, tuple[str, str]]:
    """Return which Secret and key each ledger's DSN is from, by the ledger's name."""
    volume = next(one for one in spec["volumes"] if one["name"] == "ledgers")
    found: dict[str, tuple[str, str]] = {}
    for source in volume["projected"]["sources"]:
        for item in source["secret"]["items"]:
            found[item["path"]] = source["secret"]["name"], item["key"]
    return found


def names(rendered: Rendered) -> set[str]:
    """Return what there is, as ``Kind name``."""
    return {f"{one['kind']} {one['metadata']['name']}" for one in rendered.objects}
