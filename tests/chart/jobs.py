"""What the tests of the chart k8sjob-jobs have in common: small values, and what came of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.fix_chart import CHARTS, ChartError, Rendered, render

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.fix_chart import Object

CHART = "k8sjob-jobs"
FOLDER = CHARTS / CHART
#: One file of values for each way in which people use the chart.
CI = sorted((FOLDER / "ci").glob("*-values.yaml"))
every_ci = pytest.mark.parametrize("file", CI, ids=[file.name for file in CI])

IMAGE = {"registry": "registry.example", "repository": "billing", "tag": "1.4"}
#: The least that a job of either mode needs.
RUN: dict[str, Any] = {
    "schedule": "0 2 * * *",
    "timeZone": "Etc/UTC",
    "target": "credit:credit",
}
SIDECAR: dict[str, Any] = {
    "schedule": "0 2 * * *",
    "timeZone": "Etc/UTC",
    "mode": "sidecar",
    "command": ["./credit"],
}


def rendered(*jobs: Mapping[str, Any], chart: str | Path = CHART, **top: Any) -> Rendered:
    """Return the release ``billing`` in ``shop`` with ``jobs`` called credit, credit-1, ….

    ``top`` are values beside the jobs.
    """
    names = [f"credit-{n}" if n else "credit" for n in range(len(jobs))]
    values = {"image": IMAGE, **top, "jobs": dict(zip(names, jobs, strict=True))}
    return render(chart, values, name="billing", namespace="shop")


def cronjob(job: Mapping[str, Any], **top: Any) -> Object:
    """Return the CronJob that one job comes to."""
    return rendered(job, **top).one("CronJob")


def pod_of(cron: Object) -> Object:
    """Return the spec of a CronJob's Pods."""
    spec: Object = cron["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    return spec


def pod(job: Mapping[str, Any], **top: Any) -> Object:
    """Return the spec of the Pods that one job comes to."""
    return pod_of(cronjob(job, **top))


def containers(spec: Object) -> dict[str, Object]:
    """Return all containers of a Pod's spec, by their names."""
    return {one["name"]: one for one in [*spec.get("initContainers", []), *spec["containers"]]}


def variables(container: Object) -> dict[str, Any]:
    """Return a container's variables: their texts, or where they come from."""
    return {one["name"]: one.get("value", one.get("valueFrom")) for one in container["env"]}


def mounts(container: Object) -> dict[str, str]:
    """Return where a container mounts what."""
    return {one["name"]: one["mountPath"] for one in container.get("volumeMounts", [])}


def refusal(*jobs: Mapping[str, Any], **top: Any) -> str:
    """Return what is said of values that are refused."""
    with pytest.raises(ChartError) as refused:
        rendered(*jobs, **top)
    return str(refused.value)
