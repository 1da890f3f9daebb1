"""The rules as Prometheus has them, and the cases that promtool runs, one at a time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML

if TYPE_CHECKING:
    from tests.fix_promtool import Answer, Promtool

ROOT = Path(__file__).parents[2]
RULES = ROOT / "charts" / "k8sjob" / "files" / "alerts.yaml"
CASES = Path(__file__).parent / "cases"
RUNBOOKS = ROOT / "docs" / "runbooks"


@dataclass(frozen=True, slots=True)
class Case:
    """One named group of a file of tests."""

    file: str
    interval: str
    group: dict[str, Any]

    @property
    def name(self) -> str:
        """What it says about which alert: ``K8sjobBlocked silent: nothing is blocked``."""
        return f"{self.file} {self.group['name']}"


def load(path: Path) -> Any:
    """Return what a file of YAML holds."""
    return YAML(typ="safe", pure=True).load(path.read_text("utf-8"))


@cache
def rules() -> list[dict[str, Any]]:
    """Return all rules, in order."""
    return [rule for group in load(RULES)["groups"] for rule in group["rules"]]


def alerts() -> list[dict[str, Any]]:
    """Return the rules that are alerts; one that has two severities is there twice."""
    return [rule for rule in rules() if "alert" in rule]


def alert_names() -> list[str]:
    """Return the names of the alerts, in order."""
    return list(dict.fromkeys(rule["alert"] for rule in alerts()))


@cache
def cases() -> dict[str, Case]:
    """Return all cases by their names."""
    found: dict[str, Case] = {}
    for path in sorted(CASES.glob("*.yaml")):
        content = load(path)
        for group in content["tests"]:
            case = Case(path.stem, content["evaluation_interval"], group)
            assert case.name not in found, f"two cases are called {case.name}"
            found[case.name] = case
    return found


def run(promtool: Promtool, case: Case, folder: Path, rules_text: str | None = None) -> Answer:
    """Run one case, against the rules or against ``rules_text``. JSON is YAML too."""
    rules = folder / "alerts.yaml"
    rules.write_text(rules_text or RULES.read_text("utf-8"), "utf-8")
    test = folder / "test.yaml"
    content = {
        "rule_files": [str(rules)],
        "evaluation_interval": case.interval,
        "tests": [case.group],
    }
    test.write_text(json.dumps(content), "utf-8")
    return promtool.test(str(test))
