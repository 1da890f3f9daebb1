"""Which Job stands for which period: its name decides, since texts come from templates too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.cycle import Cycle
from k8sjob.key import JobName, Key
from k8sjob.kube import words
from k8sjob.kube.names import backfill_name, slot_name
from k8sjob.kube.stands_for import period_of
from k8sjob.period import Period
from k8sjob.reconcile.seen import take_census
from tests.reconcile.conftest import JOB, MINUTE, SECOND, cronjob
from tests.reconcile.things import (
    DAY,
    NOON,
    OLDER,
    PERIOD,
    STAMP,
    backfill,
    by_hand,
    failed_job,
    slot_job,
    traces_of,
)

if TYPE_CHECKING:
    from k8sjob.kube.objects import Job


def period(job: Job, cycle: Cycle = Cycle.SCHEDULED, **of_cron: Any) -> str | None:
    """Return the text of the period that a Job of the CronJob stands for."""
    [named] = take_census([cronjob(**of_cron)]).named.values()
    zone = named.cron.zone or "Etc/UTC"
    found = period_of(job, named.cron, name=named.job, cycle=cycle, zone=zone)
    return None if found is None else str(found)


# --------------------------------------------------------------------------------------- slots


@pytest.mark.parametrize(
    "stamp",
    [
        "2026-09-13T12:00:00Z",
        "2026-09-13T14:00:00+02:00",
        "2026-09-13T08:00:00-04:00",
        None,
        "",
        "noon",
        "2026-09-13T12:00:00",
        OLDER,
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
    ],
)
def test_a_slots_job_stands_for_its_slot_whatever_the_annotation_says(stamp: str | None) -> None:
    annotations = {} if stamp is None else {STAMP: stamp}
    assert period(slot_job(NOON, annotations=annotations)) == str(PERIOD)


def test_seconds_of_an_interval_come_from_the_annotation_if_the_name_agrees() -> None:
    fire = NOON + 25 * SECOND
    stamp = {STAMP: "2026-09-13T14:00:25+02:00"}
    assert period(slot_job(fire, annotations=stamp)) == "2026-09-13T12:00:25Z"
    assert period(slot_job(fire + MINUTE, annotations=stamp)) == "2026-09-13T12:01:00Z"


@pytest.mark.parametrize("name", ["by-hand", "credit-manual-x1", "credit-retry", "credit"])
def test_a_job_made_by_hand_stands_for_nothing_even_with_a_stale_annotation(name: str) -> None:
    assert period(by_hand(name, **{STAMP: OLDER})) is None
    assert period(by_hand(name, **{words.PERIOD: OLDER})) is None


@pytest.mark.parametrize(
    "name",
    [
        f"credit-{int(NOON.timestamp())}",
        f"credit-{int(NOON.timestamp()) // 60}0",
        f"{slot_name('credit', NOON)}-x2v",
        slot_name("credit-two", NOON),
        slot_name("my-credit", NOON),
        "credit-09818080",
    ],
    ids=["ten digits", "nine digits", "a Pod's", "a longer name", "a longer head", "a zero first"],
)
def test_a_name_of_another_form_is_no_slot(name: str) -> None:
    assert period(slot_job(NOON, name=name)) is None


def test_a_job_of_ten_digits_is_the_cronjobs_and_of_no_period() -> None:
    old = slot_job(NOON, name=f"credit-{int(NOON.timestamp())}")
    found = traces_of(old)
    assert (found.jobs, found.by_period) == ([old], {})


@pytest.mark.parametrize("left", [OLDER, "2026-09-01", "soon", "", "{{ period }}"])
def test_a_period_left_in_the_template_does_not_take_a_slot_away(left: str) -> None:
    job = slot_job(NOON, annotations={STAMP: str(PERIOD), words.PERIOD: left})
    assert period(job) == str(PERIOD)


@pytest.mark.parametrize(
    "job",
    [
        slot_job(NOON, cronjob=None),
        slot_job(NOON, cronjob="other"),
        slot_job(NOON, namespace="other"),
    ],
    ids=["no owner", "another CronJob", "another namespace"],
)
def test_a_job_of_somebody_else_is_none_of_the_cronjobs(job: Job) -> None:
    found = traces_of(job)
    assert (found.jobs, found.by_period, found.is_busy) == ([], {}, False)


def test_a_name_says_nothing_where_the_cronjob_is_not_the_controller() -> None:
    claimed = slot_job(NOON, cronjob=None, backfill_of="credit")
    assert period(claimed) is None


# ----------------------------------------------------------------------------------- backfills


@pytest.mark.parametrize("text", [str(PERIOD), "2026-09-13", "2026-W37", "2026-09", "once"])
@pytest.mark.parametrize(("generation", "try_"), [(0, 1), (3, 12)])
def test_a_backfill_stands_for_the_period_in_its_name(
    text: str, generation: int, try_: int
) -> None:
    job = backfill(Period(text), generation, try_)
    assert traces_of(job, cycle=Period(text).cycle).by_period == {Period(text): [job]}


@pytest.mark.parametrize("other", [OLDER, "2026-09-13", "garbage", ""])
def test_an_annotation_that_the_backfills_name_does_not_bear_out_is_not_believed(
    other: str,
) -> None:
    assert period(backfill(PERIOD, annotations={words.PERIOD: other})) is None


def test_the_name_of_a_backfill_without_the_annotation_stands_for_nothing() -> None:
    assert period(backfill(PERIOD, annotations={})) is None


def test_a_backfill_of_another_cronjob_is_not_this_ones() -> None:
    assert traces_of(backfill(PERIOD, backfill_of="other")).jobs == []


def test_a_slot_and_its_backfills_stand_for_one_period() -> None:
    jobs = [failed_job(NOON), backfill(PERIOD), backfill(PERIOD, 0, 2)]
    assert traces_of(*jobs).by_period == {PERIOD: jobs}


def test_a_long_name_is_cut_and_its_backfill_is_known_all_the_same() -> None:
    long = "c" * 52
    key = Key(JobName("billing", long), PERIOD)
    job = backfill(PERIOD, name=backfill_name(long, key, 0, 1), backfill_of=long)
    assert period(job, name=long) == str(PERIOD)


def test_a_cronjob_that_is_called_otherwise_than_its_job_has_backfills_of_the_job() -> None:
    names: dict[str, Any] = {"name": "credit-v2", "annotations": {words.JOB: JOB}}
    named = Key.parse(f"{JOB}:{PERIOD}")
    job = backfill(PERIOD, name=backfill_name("credit-v2", named, 0, 1), backfill_of="credit-v2")
    assert period(job, **names) == str(PERIOD)
    assert period(backfill(PERIOD), **names) is None


# -------------------------------------------------------------------------------- natural cycles


@pytest.mark.parametrize(
    ("cycle", "zone", "text"),
    [
        ("day", None, "2026-09-13"),
        ("day", "Pacific/Auckland", "2026-09-14"),
        ("week", None, "2026-W37"),
        ("week", "Pacific/Auckland", "2026-W38"),
        ("month", "Pacific/Auckland", "2026-09"),
        ("once", None, "once"),
    ],
)
def test_a_slots_job_stands_for_the_natural_period_of_the_cronjobs_zone(
    cycle: str, zone: str | None, text: str
) -> None:
    assert period(slot_job(NOON), Cycle(cycle), zone=zone) == text


def test_all_slots_of_a_day_stand_for_it() -> None:
    jobs = [failed_job(NOON - 60 * MINUTE), slot_job(NOON)]
    found = traces_of(*jobs, cycle=Cycle.DAY)
    assert found.by_period == {DAY: jobs}
    assert found.is_live(DAY)


def test_in_a_zone_that_nobody_knows_a_job_stands_for_no_day_and_is_seen() -> None:
    found = traces_of(slot_job(NOON), cycle=Cycle.DAY, cron=cronjob(zone="Mars/Olympus"))
    assert (found.by_period, len(found.jobs)) == ({}, 1)
