"""The dashboard asks for what the exporter shows, and Prometheus can read its questions."""

from __future__ import annotations

import json
import re
from itertools import combinations
from typing import TYPE_CHECKING, Any

from k8sjob.serve.metrics import METRICS, STATES
from tests.alerts.rulebook import ROOT
from tests.alerts.selectors import faults

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fix_promtool import Promtool

PATH = ROOT / "charts" / "k8sjob" / "files" / "dashboard.json"
BOARD: dict[str, Any] = json.loads(PATH.read_text("utf-8"))
PANELS = [panel for panel in BOARD["panels"] if panel["type"] != "row"]
EXPRESSIONS = [target["expr"] for panel in PANELS for target in panel["targets"]]
#: Grafana's own, and a value for each of the board's.
BUILT_IN = {"__rate_interval": "5m"}


def variables() -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in BOARD["templating"]["list"]}


def asked(expression: str) -> str:
    """Return what Prometheus gets of an expression."""
    values = BUILT_IN | dict.fromkeys(variables(), ".*")
    return re.sub(r"\$(\w+)", lambda found: values[found[1]], expression)


def test_prometheus_reads_each_expression(promtool: Promtool, tmp_path: Path) -> None:
    rules = [{"record": f"r:{n}", "expr": asked(e)} for n, e in enumerate(EXPRESSIONS)]
    path = tmp_path / "rules.yaml"
    path.write_text(json.dumps({"groups": [{"name": "board", "rules": rules}]}), "utf-8")
    answer = promtool.check(str(path))
    assert answer.ok, answer.text


def test_each_metric_and_label_is_one_that_the_exporter_shows() -> None:
    queries = [v["definition"] for v in variables().values() if v["type"] == "query"]
    assert [fault for text in [*EXPRESSIONS, *queries] for fault in faults(text)] == []


def test_what_was_asked_for_is_on_it() -> None:
    assert list(variables()) == ["datasource", "ledger", "namespace", "cronjob"]
    kinds = {panel["type"] for panel in PANELS}
    assert {"state-timeline", "table", "timeseries", "stat"} <= kinds
    for name in (
        "oldest_unfinished_period_timestamp_seconds",
        "oldest_unfinished_deadline_timestamp_seconds",
        "last_duration_seconds",
        "attempts_total",
        "reconcile_last_success_timestamp_seconds",
    ):
        assert name in METRICS
        assert any(f"k8sjob_{name}{{" in expression for expression in EXPRESSIONS), name


def test_the_timeline_has_a_word_for_each_state() -> None:
    [timeline] = [panel for panel in PANELS if panel["type"] == "state-timeline"]
    [expression] = [target["expr"] for target in timeline["targets"]]
    numbers = dict(
        re.findall(r'(\d) \* \(k8sjob_unfinished_periods\{[^}]*state="(\w+)"', expression)
    )
    [mapping] = timeline["fieldConfig"]["defaults"]["mappings"]
    assert set(numbers.values()) == set(STATES)
    assert set(mapping["options"]) == {"0", *numbers}


def test_each_panel_says_what_it_shows_and_in_which_unit() -> None:
    for panel in PANELS:
        assert panel["title"], panel["id"]
        assert panel["description"].endswith("."), panel["title"]
        assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]


def test_each_panel_asks_the_source_that_was_chosen() -> None:
    for panel in PANELS:
        for asks in [panel, *panel["targets"]]:
            assert asks["datasource"] == {"type": "prometheus", "uid": "${datasource}"}


def test_panels_have_numbers_of_their_own_and_do_not_overlap() -> None:
    numbers = [panel["id"] for panel in BOARD["panels"]]
    assert len(set(numbers)) == len(numbers)
    for one, other in combinations((panel["gridPos"] for panel in BOARD["panels"]), 2):
        apart_in_x = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        apart_in_y = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        assert apart_in_x or apart_in_y, (one, other)
    assert all(p["gridPos"]["x"] + p["gridPos"]["w"] <= 24 for p in BOARD["panels"])


def test_its_address_stays_the_same() -> None:
    assert BOARD["uid"] == "k8sjob"
    assert "id" not in BOARD, "Grafana gives it"
