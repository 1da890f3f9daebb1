from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from k8sjob.cycle import Cycle
from k8sjob.key import JobName
from k8sjob.ledger.known import Resolution
from k8sjob.period import Period
from k8sjob.run.lateness import lateness
from tests.resolve.world import AT, AWAY, POD, SLOT, UID, World, find, job, ledger, scheduled

LATE = AT + timedelta(hours=23, minutes=20)
TWO_HOURS = {"max_lateness_s": 7200}


def at(now: Any, **facts: Any) -> dict[str, Any]:
    return ledger(now=now, **{"limits": TWO_HOURS, **facts})


def test_a_slot_that_comes_too_late_is_told_so() -> None:
    assert find(World(job=scheduled(), known_of=at(LATE))).late == "late by 23 h > 2 h"


@pytest.mark.parametrize("hours", [0, 1, 2])
def test_up_to_the_limit_it_is_not_late(hours: int) -> None:
    now = AT + timedelta(hours=hours)

    assert find(World(job=scheduled(), known_of=at(now))).late is None


def test_without_a_limit_nothing_is_late() -> None:
    assert find(World(job=scheduled(), known_of=at(LATE, limits={}))).late is None


def test_the_variable_wins_over_the_annotation() -> None:
    world = World(job=scheduled(), known_of=at(LATE))

    assert find(world, POD | {"K8SJOB_MAX_LATENESS": "1d"}).late is None
    world = World(job=scheduled(), known_of=at(AT + timedelta(hours=1)))
    assert find(world, POD | {"K8SJOB_MAX_LATENESS": "10m"}).late == "late by 60 min > 10 min"


def test_it_holds_for_the_downward_api_and_the_jobs_name() -> None:
    world = World(job=AWAY, known_of=at(LATE))

    assert find(world, POD | {"K8SJOB_SCHEDULED_TIMESTAMP": SLOT}).source == "downward-api"
    assert find(World(job=AWAY, known_of=at(LATE))).late
    assert find(World(job=AWAY, known_of=at(LATE))).source == "job-name"


@pytest.mark.parametrize("source", ["scheduled-timestamp", "downward-api", "job-name"])
def test_a_retry_hours_later_is_late_by_the_source_that_is_remembered(source: str) -> None:
    kept = Resolution(JobName.parse("billing/daily-credit"), Period.parse(SLOT), source)

    assert find(World(known_of=at(LATE), kept={UID: kept})).late == "late by 23 h > 2 h"


@pytest.mark.parametrize("source", ["backfill-annotation", "manual oldest-missing"])
def test_what_somebody_wanted_is_never_late(source: str) -> None:
    kept = Resolution(JobName.parse("billing/daily-credit"), Period.parse(SLOT), source)

    assert find(World(known_of=at(LATE), kept={UID: kept})).late is None


def test_what_is_passed_is_never_late() -> None:
    assert find(World(known_of=at(LATE)), period=SLOT).late is None


def test_a_manual_run_of_an_old_period_is_never_late() -> None:
    limits = {"manual_runs": "oldest-missing", **TWO_HOURS}
    world = World(job=job("by-hand"), known_of=at(LATE, limits=limits))
    world.missing_of = [Period.parse(SLOT)]

    assert find(world, POD | {"K8SJOB_JOB_NAME": "by-hand"}).late is None


def test_a_day_is_late_from_its_end_on() -> None:
    facts = {"cycle": Cycle.DAY, "zone": "Europe/Rome"}
    # 13 September ends at 22:00Z in Rome.
    evening = AT + timedelta(hours=23, minutes=59)

    assert find(World(job=scheduled(), known_of=at(evening, **facts))).late is None
    later = at(evening + timedelta(minutes=2), **facts)
    assert find(World(job=scheduled(), known_of=later)).late == "late by 121 min > 2 h"


def test_once_is_never_late() -> None:
    facts = at(LATE, cycle=Cycle.ONCE)

    assert find(World(job=scheduled(), known_of=facts)).late is None


def test_without_a_ledger_nobody_can_tell() -> None:
    assert find(World(job=scheduled()), POD | {"K8SJOB_MAX_LATENESS": "1s"}).late is None


@pytest.mark.parametrize(
    ("late_s", "longest_s", "words"),
    [
        (3 * 86400, 86400, "late by 3 d > 24 h"),
        (25 * 3600, 86400, "late by 25 h > 24 h"),
        (86401, 86400, "late by 86401 s > 24 h"),
        (7201.5, 7200, "late by 7201 s > 2 h"),
        (5400, 60, "late by 90 min > 60 s"),
        (1.5, 1, "late by 1.5 s > 1.0 s"),
    ],
)
def test_the_words_are_short_and_never_say_that_equal_is_more(
    late_s: float, longest_s: float, words: str
) -> None:
    now = AT + timedelta(seconds=late_s)

    assert lateness(Period.at(AT), None, None, now, longest_s) == words
