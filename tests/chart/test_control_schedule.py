"""A reconciler that passes more seldom than its alerts expect is warned of."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from k8sjob.schedule import parse
from tests.alerts.rulebook import RULES, load
from tests.chart.control import render

pytestmark = pytest.mark.usefixtures("helm")
FIRST, SECOND = "K8sjobReconcilerStale fires 15 minutes", "K8sjobReconcilerStaleCritical fires 6 ho"


def warned(schedule: str, **rule: Any) -> tuple[bool, bool, str]:
    """Return whether each level is warned of, and all that is said."""
    notes = render({"reconciler": {"schedule": schedule}, "prometheusRule": rule}).notes
    return FIRST in notes, SECOND in notes, notes


OFTEN = [
    "*/5 * * * *",
    "* * * * *",
    "*/10 * * * *",
    "2-59/10 * * * *",
    "*/7 0-23 * ? *",
    "*/5 * 1-31 1-12 0-6",
]
SELDOM = [
    "*/11 * * * *",
    "*/30 * * * *",
    "0,10,20,30,50 * * * *",
    "0-45/5 * * * *",
    "@hourly",
    "7/20 * * * *",
]
RARE = [
    "@daily",
    "@midnight",
    "@weekly",
    "@yearly",
    "0 */8 * * *",
    "*/5 8-17 * * *",
    "*/5 * * * mon-fri",
    "*/5 * 1 * *",
]


@pytest.mark.parametrize("schedule", OFTEN)
def test_passes_that_are_close_are_well(schedule: str) -> None:
    assert warned(schedule)[:2] == (False, False)


@pytest.mark.parametrize("schedule", SELDOM)
def test_passes_that_are_further_apart_are_warned_of(schedule: str) -> None:
    first, second, notes = warned(schedule)
    assert (first, second) == (True, False)
    gap = longest(schedule)
    assert f"the next may be {gap} minutes later" in notes
    assert f"prometheusRule.overrides.K8sjobReconcilerStale.for={gap}m" in notes


@pytest.mark.parametrize("schedule", RARE)
def test_of_those_that_are_hours_apart_both_levels_would_tell(schedule: str) -> None:
    assert warned(schedule)[:2] == (True, True)


def longest(schedule: str) -> int:
    """Return the minutes between two fires of a week, at most."""
    start = datetime(2026, 9, 1, tzinfo=UTC)
    fires = list(parse(schedule, "UTC").between(start, start + timedelta(days=7)))
    gaps = [later - first for first, later in pairwise(fires)]
    return int(max(gaps) / timedelta(minutes=1))


def test_what_was_done_about_it_is_not_said_again() -> None:
    longer = {"K8sjobReconcilerStale": {"for": "60m"}}
    assert warned("@hourly", overrides=longer)[:2] == (False, False)
    assert warned("@daily", overrides=longer)[:2] == (False, True)
    assert warned("@daily", disabled={"K8sjobReconcilerStaleCritical": True})[:2] == (True, False)
    assert warned("@daily", disabled={"K8sjobReconcilerStale": True})[:2] == (False, False)


def test_no_pass_at_all_is_another_matter() -> None:
    notes = render({"reconciler": {"enabled": False, "schedule": "@daily"}}).notes
    assert FIRST not in notes


def test_the_alerts_are_as_patient_as_is_said() -> None:
    text = RULES.read_text("utf-8")
    assert "k8sjob:reconciled_last_timestamp_seconds < time() - 21600" in text
    rules = [rule for group in load(RULES)["groups"] for rule in group["rules"]]
    (recorded,) = [
        rule["expr"]
        for rule in rules
        if rule.get("record", "").endswith("ed_last_timestamp_seconds")
    ]
    assert "900" in recorded
