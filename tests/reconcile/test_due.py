"""Which periods are judged, what of them is stored, and how far the mark of their job goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from k8sjob.cycle import Cycle
from k8sjob.expect import Version
from k8sjob.key import JobName, Key
from k8sjob.period import Period
from k8sjob.reconcile import due
from k8sjob.reconcile.due import Judged, judged, plan_due
from tests.reconcile.conftest import SECOND, at

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime

    from k8sjob.expect import Expected
    from k8sjob.reconcile.due import DuePlan

JOB = JobName.parse("billing/credit")
NOON = at("2026-09-13 12:00")


def hourly(**changes: str) -> list[Version]:
    expr = changes.get("expr", "0 * * * *")
    return [Version(n=1, expr=expr, earliest_from=NOON, valid_from=NOON)]


def seen(
    horizon: str,
    kind: Cycle = Cycle.SCHEDULED,
    *,
    grace_s: float | None = None,
    expr: str = "0 * * * *",
) -> Judged:
    """Return what is judged at this time of 13 September, from noon on."""
    when = at(f"2026-09-13 {horizon}")
    return judged(hourly(expr=expr), kind, after=NOON, horizon=when, grace_s=grace_s)


def texts(found: Judged) -> list[str]:
    return [one.period.text for one in found.periods]


def key(clock: str) -> Key:
    return Key(JOB, Period(f"2026-09-13T{clock}:00Z"))


def planned(
    found: Judged, states: Mapping[Key, str] | None = None, running: Collection[Key] = ()
) -> DuePlan | None:
    def why(of: Key, one: Expected) -> tuple[str, str]:
        assert of.period == one.period
        return "no-job", "because"

    return plan_due(
        JOB, Cycle.SCHEDULED, found=found, states=states or {}, running=running, why=why
    )


def mark_of(plan: DuePlan | None) -> datetime | None:
    return plan.mark if plan else None


def stored(plan: DuePlan | None) -> list[str]:
    return [one.key.period.text[11:16] for one in plan.due] if plan else []


@pytest.mark.parametrize(("horizon", "count"), [("13:29:59", 0), ("13:30:00", 1)])
def test_a_period_is_judged_once_its_deadline_has_passed(horizon: str, count: int) -> None:
    assert len(seen(horizon).periods) == count


@pytest.mark.parametrize("kind", [Cycle.SCHEDULED, Cycle.DAY, Cycle.ONCE])
@pytest.mark.parametrize(("horizon", "count"), [("23:00:29", 0), ("23:00:30", 1)])
def test_so_near_to_the_list_that_clocks_could_be_to_blame_nothing_is_judged(
    kind: Cycle, horizon: str, count: int
) -> None:
    assert len(seen(horizon, kind, grace_s=1, expr="0 23 * * *").periods) == count


@pytest.mark.parametrize(("horizon", "count"), [("23:00:29", 0), ("23:00:30", 1)])
def test_a_day_is_not_judged_so_near_to_its_last_fire_either(horizon: str, count: int) -> None:
    assert len(seen(horizon, Cycle.DAY, grace_s=1, expr="0 13,23 * * *").periods) == count


def test_what_comes_after_one_that_is_not_due_yet_waits_for_it() -> None:
    """Its deadline may be earlier, after an edit: the mark could not pass the first one."""
    daily = Version(
        n=1,
        expr="0 13 * * *",
        earliest_from=NOON,
        valid_from=NOON,
        earliest_to=NOON + 3601 * SECOND,
        valid_to=NOON + 3601 * SECOND,
    )
    often = Version(n=2, expr="* * * * *", earliest_from=daily.valid_to or NOON, valid_from=NOON)
    when = at("2026-09-13 13:40")
    found = judged([daily, often], Cycle.SCHEDULED, after=NOON, horizon=when, grace_s=None)
    assert found == Judged([], at("2026-09-13 13:00"), more=False)


def test_no_more_are_judged_than_one_pass_can_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(due, "MOST", 2)
    found = seen("16:40")
    assert texts(found) == ["2026-09-13T13:00:00Z", "2026-09-13T14:00:00Z"]
    assert found.more
    assert found.then == at("2026-09-13 15:00")
    plan = planned(found)
    assert plan is not None
    assert plan.more
    assert plan.mark == at("2026-09-13 14:00")
    assert not seen("14:40").more


def test_all_that_is_absent_is_stored_in_order_and_the_mark_passes_it() -> None:
    plan = planned(seen("15:40"))
    assert stored(plan) == ["13:00", "14:00", "15:00"]
    assert mark_of(plan) == at("2026-09-13 15:00")


def test_where_nothing_is_due_there_is_no_plan() -> None:
    assert planned(seen("13:10")) is None


@pytest.mark.parametrize("state", ["done", "skipped"])
def test_what_is_settled_needs_no_row_and_the_mark_passes_it(state: str) -> None:
    plan = planned(seen("14:40"), {key("13:00"): state, key("14:00"): state})
    assert stored(plan) == []
    assert mark_of(plan) == at("2026-09-13 14:00")


@pytest.mark.parametrize("state", ["open", "blocked", "awaiting"])
def test_what_a_person_has_put_there_gets_its_deadline(state: str) -> None:
    plan = planned(seen("14:40"), {key("13:00"): state})
    assert stored(plan) == ["13:00", "14:00"]
    assert mark_of(plan) == at("2026-09-13 14:00")


def test_what_runs_is_not_stored_and_the_mark_stays_before_it() -> None:
    plan = planned(seen("16:40"), {}, {key("14:00")})
    assert stored(plan) == ["13:00", "15:00", "16:00"]
    assert mark_of(plan) == at("2026-09-13 13:00")


def test_where_the_first_one_runs_the_mark_stays_where_it_is() -> None:
    plan = planned(seen("14:40"), {}, {key("13:00")})
    assert stored(plan) == ["14:00"]
    assert mark_of(plan) is None


def test_what_has_a_row_holds_no_mark_even_while_it_runs() -> None:
    plan = planned(seen("14:40"), {key("13:00"): "open"}, {key("13:00")})
    assert mark_of(plan) == at("2026-09-13 14:00")
