"""Each silent case is silent because of a guard: without it the case fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.alerts import guards_of_jobs, guards_of_missing, guards_of_watchers
from tests.alerts.guards import without
from tests.alerts.rulebook import RULES, cases, run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fix_promtool import Promtool

TABLES = [guards_of_missing.GUARDS, guards_of_jobs.GUARDS, guards_of_watchers.GUARDS]
GUARDS = {guard.name: guard for table in TABLES for guard in table}


@pytest.mark.parametrize("name", GUARDS)
def test_without_the_guard_its_cases_fail(name: str, promtool: Promtool, tmp_path: Path) -> None:
    guard = GUARDS[name]
    text = without(RULES.read_text("utf-8"), guard)
    rules = tmp_path / "unguarded.yaml"
    rules.write_text(text, "utf-8")
    assert promtool.check(str(rules)).ok, "it has to fail in what it says, not in its grammar"

    for case in guard.breaks:
        answer = run(promtool, cases()[case], tmp_path, text)
        assert not answer.ok, f"{case} does not notice"


def test_each_silent_case_has_a_guard() -> None:
    silent = {name for name in cases() if " silent: " in name}
    assert silent == {
        case for guard in GUARDS.values() for case in guard.breaks if " silent: " in case
    }


def test_each_guard_has_a_name_of_its_own() -> None:
    assert len(GUARDS) == sum(map(len, TABLES))
