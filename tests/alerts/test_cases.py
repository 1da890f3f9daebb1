"""Each alert comes when it should, and not when it should not: the files of cases, by promtool."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.alerts.rulebook import CASES, RULES, alert_names, cases, run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fix_promtool import Promtool


def test_prometheus_takes_the_rules_as_they_are(promtool: Promtool) -> None:
    answer = promtool.check(str(RULES))
    assert answer.ok, answer.text


def test_a_broken_rule_is_not_taken(promtool: Promtool, tmp_path: Path) -> None:
    broken = tmp_path / "alerts.yaml"
    broken.write_text(RULES.read_text("utf-8").replace("max by (", "max by ((", 1), "utf-8")
    assert not promtool.check(str(broken)).ok


def test_the_files_can_be_run_by_hand(promtool: Promtool) -> None:
    answer = promtool.test(str(CASES / "K8sjobBlocked.yaml"))
    assert answer.ok, answer.text


@pytest.mark.parametrize("name", cases())
def test_the_case_holds(name: str, promtool: Promtool, tmp_path: Path) -> None:
    answer = run(promtool, cases()[name], tmp_path)
    assert answer.ok, answer.text


@pytest.mark.parametrize("alert", alert_names())
def test_each_alert_has_cases_in_which_it_fires_and_is_silent(alert: str) -> None:
    kinds = {name.split()[1] for name in cases() if name.startswith(f"{alert} ")}
    assert kinds == {"fires:", "silent:"}
