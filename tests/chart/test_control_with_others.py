"""The chart as a part of somebody else's, and what its README promises."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests import fix_chart
from tests.chart.control import FOLDER, ONE_LEDGER, render

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("helm")
README = (FOLDER / "README.md").read_text("utf-8")


@pytest.fixture
def parent(tmp_path: Path) -> Path:
    """Make a chart that depends on this one, with the condition that such charts have."""
    folder = tmp_path / "shop"
    shutil.copytree(FOLDER, folder / "charts" / "k8sjob")
    about = {
        "apiVersion": "v2",
        "name": "shop",
        "version": "1.0.0",
        "dependencies": [
            {"name": "k8sjob", "version": ">=0", "condition": "k8sjob.enabled", "repository": ""}
        ],
    }
    (folder / "Chart.yaml").write_text(json.dumps(about), "utf-8")
    return folder


def test_it_can_be_a_part_of_another_chart(parent: Path) -> None:
    """What that chart keeps under `global` for others is none of our business."""
    values = {
        "global": {"imageRegistry": "mirror.example", "database": {"host": "db"}},
        "k8sjob": {"enabled": True, **ONE_LEDGER},
    }
    rendered = fix_chart.render(parent, values, name="shop")
    cron = rendered.one("CronJob", "shop-k8sjob-reconciler")
    spec = cron["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert spec["containers"][0]["image"] == "mirror.example/k8sjob-control:0.1.0"


def test_a_misspelt_value_is_refused_there_too(parent: Path) -> None:
    with pytest.raises(fix_chart.ChartError, match="'ledger' not allowed"):
        fix_chart.render(parent, {"k8sjob": {"ledger": {}, **ONE_LEDGER}})


@pytest.mark.parametrize("block", re.findall(r"```yaml\n(.*?)```", README, re.DOTALL))
def test_the_values_of_the_readme_are_taken(block: str) -> None:
    (values,) = fix_chart.read(block)
    assert render(values).objects
    assert fix_chart.lint("k8sjob", {**ONE_LEDGER, **values}) == []


def test_the_readmes_install_uses_the_secret_that_it_makes() -> None:
    (name,) = re.findall(r"create secret generic ([\w-]+)", README)
    block = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)[0]
    (values,) = fix_chart.read(block)
    assert values["ledgers"]["default"]["existingSecret"] == name
    keys = re.findall(r"--from-file=(\w+)", README)
    job = render(values).one("Job")
    used = [
        item["key"]
        for volume in job["spec"]["template"]["spec"]["volumes"]
        for source in volume["projected"]["sources"]
        for item in source["secret"]["items"]
    ]
    assert used == ["owner"]
    assert keys == ["owner", "operator", "reader"]


def test_an_install_is_three_commands() -> None:
    install = README.partition("## Install")[2]
    block = re.findall(r"```console\n(.*?)```", install, re.DOTALL)[0]
    commands = [line.removeprefix("$ ").split()[:2] for line in block.splitlines()]
    assert commands == [["kubectl", "create"], ["kubectl", "-n"], ["helm", "install"]]


def test_no_password_stands_on_a_command_line() -> None:
    for text in (README, render().notes, _refusal()):
        assert not re.search(r"--from-literal|--set[^\n]*(dsn|password)", text, re.IGNORECASE)


def _refusal() -> str:
    values: dict[str, Any] = {}
    with pytest.raises(fix_chart.ChartError) as refused:
        fix_chart.render("k8sjob", values)
    return str(refused.value)
