"""Weekends, months and clock changes: alerts know no calendar, since the deadlines have it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.alerts.rulebook import RULES, Case, run
from tests.alerts.world import JOB, World

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fix_promtool import Promtool

#: Each with a period that is missed in the other test.
CALENDARS = {
    "a weekend": (
        World("0 2 * * 1-5", "Europe/Rome", "2026-09-10", 5),
        "2026-09-11T00:00:00Z",
    ),
    "a month": (
        World("0 6 1 * *", "Europe/Rome", "2026-08-25", 40, timedelta(hours=1)),
        "2026-09-01T04:00:00Z",
    ),
    "a night that has no such time": (
        World("30 2 * * *", "America/New_York", "2026-03-06", 5),
        "2026-03-07T07:30:00Z",
    ),
    "a night that has such a time twice": (
        World("30 1 * * *", "America/New_York", "2026-10-30", 5),
        "2026-11-01T06:30:00Z",  # the second of the two
    ),
    "a day of 25 hours": (
        World("30 3 * * *", "Europe/Berlin", "2026-10-23", 5),
        "2026-10-25T02:30:00Z",
    ),
}

#: What people write who have no deadlines: it is late by the age of the last success, a day and ten
#: minutes; or each day ten minutes after the same time of UTC's clock.
BY_AGE = "(k8sjob_last_success_timestamp_seconds + 87000)"
BY_CLOCK = "(86400 * floor((k8sjob_last_success_timestamp_seconds - {at}) / 86400) + {at} + 87000)"
#: A night that has the time twice makes no day longer: only the clock is misled.
NAIVE = dict.fromkeys(CALENDARS, BY_AGE) | {"a night that has such a time twice": BY_CLOCK}


def asked(expr: str, at: int, *samples: tuple[str, int]) -> dict[str, Any]:
    found = [{"labels": labels, "value": value} for labels, value in samples]
    return {"expr": expr, "eval_time": f"{at}s", "exp_samples": found}


def case(world: World, *questions: dict[str, Any]) -> Case:
    return Case("world", f"{int(world.step.total_seconds())}s", world.group(list(questions)))


def never_fires(world: World) -> Case:
    last = world.moved(world.end)
    return case(world, asked(f'count_over_time(ALERTS{{alertstate="firing"}}[{last}s])', last))


@pytest.mark.parametrize("name", CALENDARS)
def test_a_job_that_keeps_its_schedule_alerts_nobody(
    name: str, promtool: Promtool, tmp_path: Path
) -> None:
    world, _ = CALENDARS[name]
    answer = run(promtool, never_fires(world), tmp_path)
    assert answer.ok, answer.text


@pytest.mark.parametrize("name", CALENDARS)
def test_a_rule_that_has_no_deadlines_would(name: str, promtool: Promtool, tmp_path: Path) -> None:
    world, _ = CALENDARS[name]
    deadline = 'k8sjob_oldest_unfinished_deadline_timestamp_seconds{state="missing"}'
    known = NAIVE[name].format(at=world.moved(world.periods[0].first_fire))
    naive = RULES.read_text("utf-8").replace(deadline, known).replace(f"{known} > 0", known)
    answer = run(promtool, never_fires(world), tmp_path, naive)
    assert not answer.ok
    assert 'got: {alertname="K8sjobPeriodMissing", alertstate="firing"' in answer.text


@pytest.mark.parametrize("name", CALENDARS)
def test_the_one_period_that_is_missed_is_named_until_the_end(
    name: str, promtool: Promtool, tmp_path: Path
) -> None:
    world, missed = CALENDARS[name]
    world = replace(world, missed=frozenset({missed}))
    [lost] = [one for one in world.periods if str(one.period) == missed]
    instant = world.moved(datetime.fromisoformat(missed).astimezone(UTC))
    step = int(world.step.total_seconds())
    first = -(-world.moved(lost.deadline) // step) * step  # the first look after it
    if first == world.moved(lost.deadline):
        first += step  # at the deadline itself there is time left
    last = world.moved(world.end)
    firing = (
        'count(ALERTS{alertname="K8sjobPeriodMissing", alertstate="firing", severity="warning"})'
    )
    value = f"k8sjob:overdue_period_timestamp_seconds{{{JOB}}}"

    answer = run(
        promtool,
        case(
            world,
            asked(f'count_over_time(ALERTS{{alertstate="firing"}}[{first}s])', first),
            asked(firing, first + step, ("{}", 1)),
            asked("k8sjob:overdue_period_timestamp_seconds", first + step, (value, instant)),
            asked(firing, last, ("{}", 1)),
            asked("k8sjob:overdue_period_timestamp_seconds", last, (value, instant)),
        ),
        tmp_path,
    )

    assert answer.ok, answer.text
