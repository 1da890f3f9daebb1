from __future__ import annotations

import re
from typing import Any

import pytest

from tests.chart.jobs import CHART, FOLDER, IMAGE, cronjob, pod
from tests.fix_chart import CHARTS, read, render, values_of

README = (FOLDER / "README.md").read_text("utf-8")
BLOCKS = [read(text)[0] for text in re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)]
VALUES = [block for block in BLOCKS if "jobs" in block]


@pytest.mark.usefixtures("helm")
@pytest.mark.parametrize("values", VALUES, ids=[", ".join(one["jobs"]) for one in VALUES])
def test_the_values_that_the_readme_shows_are_taken(values: dict[str, Any]) -> None:
    found = render(CHART, {"image": IMAGE} | values, name="billing", namespace="shop")
    assert [one["metadata"]["name"] for one in found.all("CronJob")] == sorted(values["jobs"])


def test_the_dependency_that_the_readme_shows_is_this_chart() -> None:
    (block,) = [block for block in BLOCKS if "dependencies" in block]
    (dependency,) = block["dependencies"]
    meta = values_of(FOLDER / "Chart.yaml")
    assert (dependency["name"], dependency["version"]) == (meta["name"], meta["version"])


@pytest.mark.usefixtures("helm")
def test_the_defaults_that_the_readme_explains_are_the_charts() -> None:
    values = values_of(FOLDER / "values.yaml")["defaults"]
    rows = re.findall(r"^\| `(\w+): (\S+?)`[,|` ]", README, re.MULTILINE)
    told = {name: said for name, said in rows if name in values}
    assert len(told) == 6
    assert told == {name: str(values[name]).replace("False", "false") for name in told}

    job = {"schedule": "0 2 * * *", "timeZone": "Etc/UTC", "target": "credit:credit"}
    assert "| 45 seconds to stop | 25 " in README
    assert pod(job)["terminationGracePeriodSeconds"] == 45
    assert pod(job)["restartPolicy"] == "Never"
    assert cronjob(job)["spec"]["jobTemplate"]["spec"]["podReplacementPolicy"] == "Failed"


def test_each_file_that_the_readme_names_is_there() -> None:
    for path in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (FOLDER / path).exists(), path


def test_both_charts_are_of_one_version() -> None:
    here, other = (values_of(CHARTS / name / "Chart.yaml") for name in (CHART, "k8sjob"))
    for key in ("version", "appVersion", "kubeVersion", "home", "sources"):
        assert here[key] == other[key], key


@pytest.mark.usefixtures("helm")
def test_the_job_in_a_mesh_that_the_page_on_images_shows_is_taken() -> None:
    page = (CHARTS.parent / "docs" / "images.md").read_text("utf-8")
    (text,) = re.findall(r"```yaml\n# jobs\.NAME [^\n]*\n(.*?)```", page, re.DOTALL)
    (job,) = read(text)
    words = pod({"schedule": "0 2 * * *", "timeZone": "Etc/UTC", **job})["containers"][0]["command"]
    # The proxy ends as the command does, inside what k8sjob waits for.
    assert words[:5] == ["k8sjob", "run", "--", "sh", "-c"]
    assert words[5].splitlines()[-2:] == [
        "curl -fsS -X POST http://localhost:15020/quitquitquit",
        "exit $code",
    ]
