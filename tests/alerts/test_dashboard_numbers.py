"""The dashboard's numbers are the same whether one exporter reads the ledgers or two."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.serve.metrics import METRICS, PREFIX, STATES
from tests.alerts.rulebook import Case, run
from tests.alerts.test_dashboard import EXPRESSIONS, PANELS, asked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.fix_promtool import Promtool

JOBS = ("credit", "vacuum")
NUMBERS = {
    "Missing periods": 2 * 3,
    "Blocked": 2 * 3,
    "Running": 2 * 3,
    "Missing, perhaps": 2 * 3,
    "Ledgers that cannot be read": 1,
}


def series() -> Iterator[dict[str, str]]:
    """Yield what two Pods show of two jobs in one ledger, and of another that is away."""
    values = dict.fromkeys(METRICS, "1x30") | {
        "unfinished_periods": "3x30",
        "attempts_total": "0+1x30",
    }
    labels = {"ledger": ["default"], "namespace": ["ops"], "cronjob": JOBS, "state": STATES}
    for pod in "ab":
        for name, family in METRICS.items():
            found = [f'pod="{pod}"']
            for label in family.labels:
                each = labels.get(label, ["x"])
                found = [f'{one}, {label}="{value}"' for one in found for value in each]
            for one in found:
                yield {"series": f"{PREFIX}{name}{{{one}}}", "values": values[name]}
        yield {"series": f'k8sjob_up{{pod="{pod}", ledger="shop"}}', "values": "0x30"}


def answer(expr: str, *samples: dict[str, Any]) -> Case:
    question = {"expr": expr, "eval_time": "20m", "exp_samples": list(samples)}
    group = {"interval": "1m", "input_series": list(series()), "promql_expr_test": [question]}
    return Case("board", "1m", group)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_two_exporters_say_what_one_says(
    expression: str, promtool: Promtool, tmp_path: Path
) -> None:
    two = f"({asked(expression)})"
    one = re.sub(r"(k8sjob_\w+\{)", r'\1pod="a", ', two)
    differs = f"{two} != {one} or {two} unless {one} or {one} unless {two}"
    same = run(promtool, answer(differs), tmp_path)
    assert same.ok, same.text
    there = run(promtool, answer(f"count({two}) > bool 0", {"labels": "{}", "value": 1}), tmp_path)
    assert there.ok, there.text


@pytest.mark.parametrize("title", NUMBERS)
def test_a_number_counts_each_period_once(title: str, promtool: Promtool, tmp_path: Path) -> None:
    [panel] = [panel for panel in PANELS if panel["title"] == title]
    [expression] = [target["expr"] for target in panel["targets"]]
    told = run(
        promtool, answer(asked(expression), {"labels": "{}", "value": NUMBERS[title]}), tmp_path
    )
    assert told.ok, told.text
