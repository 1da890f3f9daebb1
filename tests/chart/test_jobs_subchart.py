"""The chart as a dependency, fetched and rendered by Helm, with values of its parent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.chart.jobs import FOLDER, IMAGE, RUN, containers, pod_of
from tests.fix_chart import ChartError, Rendered, lint, render, validate

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("helm")


@pytest.fixture
def parent(tmp_path: Path) -> Path:
    """Make a chart that depends on k8sjob-jobs, and fetch that."""
    from helm_python import dependency_update

    folder = tmp_path / "app"
    folder.mkdir()
    meta: dict[str, Any] = {"apiVersion": "v2", "name": "app", "version": "1.0.0"}
    meta["icon"] = "https://app.example/icon.svg"
    where = {"name": FOLDER.name, "version": "0.1.0", "repository": f"file://{FOLDER}"}
    meta["dependencies"] = [where | {"condition": "k8sjob-jobs.enabled"}]
    (folder / "Chart.yaml").write_text(json.dumps(meta))
    values = {"image": IMAGE, "jobs": {"daily-credit": RUN, "mirror": RUN}}
    (folder / "values.yaml").write_text(json.dumps({"k8sjob-jobs": values}))
    dependency_update(folder)
    return folder


def _rendered(parent: Path, own: dict[str, Any] | None = None, **top: Any) -> Rendered:
    return render(parent, {"k8sjob-jobs": own or {}, **top}, name="billing", namespace="shop")


def test_its_jobs_are_those_of_the_parents_values(parent: Path) -> None:
    found = _rendered(parent)
    names = [one["metadata"]["name"] for one in found.all("CronJob")]
    assert names == ["daily-credit", "mirror"]
    assert validate(found.objects) == []


def test_a_release_lays_its_values_over_the_parents(parent: Path) -> None:
    jobs = {"daily-credit": {"suspend": True}, "mirror": {"enabled": False}}
    (cron,) = _rendered(parent, {"jobs": jobs}).all("CronJob")
    assert (cron["spec"]["suspend"], cron["spec"]["schedule"]) == (True, "0 2 * * *")


def test_a_job_of_the_parents_goes_away_with_null(parent: Path) -> None:
    (cron,) = _rendered(parent, {"jobs": {"mirror": None}}).all("CronJob")
    assert cron["metadata"]["name"] == "daily-credit"


@pytest.mark.parametrize("name", ["ttlSecondsAfterFinished", "catchUpMaxCount"])
def test_null_takes_a_default_away_here_too(parent: Path, name: str) -> None:
    own = {"jobs": {"daily-credit": {name: None}, "mirror": None}, "defaults": {name: 7}}
    (cron,) = _rendered(parent, own).all("CronJob")
    assert "7" not in json.dumps(cron["metadata"].get("annotations", {}))
    assert "ttlSecondsAfterFinished" not in cron["spec"]["jobTemplate"]["spec"] or (
        name != "ttlSecondsAfterFinished"
    )


def test_what_all_charts_of_a_release_share_counts(parent: Path) -> None:
    shared = {"imageRegistry": "mirror.example", "imagePullSecrets": ["mirror"], "team": "shop"}
    own = {"imagePullSecrets": [{"name": "own"}, "mirror"]}
    found = _rendered(parent, own, **{"global": shared})

    spec = pod_of(found.all("CronJob")[0])
    assert containers(spec)["main"]["image"] == "mirror.example/billing:1.4"
    assert spec["imagePullSecrets"] == [{"name": "mirror"}, {"name": "own"}]
    (doctor,) = found.one("Pod")["spec"]["containers"]
    assert doctor["image"] == "mirror.example/k8sjob:0.1.0"


@pytest.mark.parametrize(("enabled", "jobs"), [(True, 2), (False, 0)])
def test_a_condition_of_the_parent_turns_it_on_and_off(
    parent: Path, *, enabled: bool, jobs: int
) -> None:
    assert len(_rendered(parent, {"enabled": enabled}).all("CronJob")) == jobs


def test_what_is_wrong_is_refused_there_too(parent: Path) -> None:
    with pytest.raises(ChartError, match="graec"):
        _rendered(parent, {"jobs": {"mirror": {"graec": "1h"}}})
    with pytest.raises(ChartError, match=r"jobs\.mirror: timeZone is not set"):
        _rendered(parent, {"jobs": {"mirror": {"timeZone": ""}}})


def test_a_package_holds_what_a_release_needs_and_no_more(tmp_path: Path) -> None:
    import tarfile

    from helm_python import package

    with tarfile.open(package(FOLDER, destination=tmp_path)) as archive:
        names = {name.removeprefix("k8sjob-jobs/") for name in archive.getnames()}
    assert {"Chart.yaml", "values.yaml", "values.schema.json", "README.md"} <= names
    assert [name for name in names if name.startswith("ci/")] == []


def test_a_parent_has_nothing_to_hear_from_lint(parent: Path) -> None:
    (parent / "templates").mkdir()
    assert lint(parent) == []
