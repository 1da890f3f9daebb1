from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.reconcile.conftest import JOB, at, cronjob, periods
from tests.reconcile.things import attempt, failed_job, pod_of, slot_job

if TYPE_CHECKING:
    from tests.reconcile.conftest import Desk

DAY = "2026-09-13"


def policy(desk: Desk, word: str, **more: str) -> None:
    """Give the CronJob a catch-up policy, and let a first pass see it."""
    names = {f"k8sjob.io/{name.replace('_', '-')}": text for name, text in more.items()}
    desk.cronjobs = [cronjob(annotations={"k8sjob.io/catch-up": word, **names})]
    desk.pass_at("12:10")


def started(desk: Desk) -> list[str]:
    return [str(one.key.period)[11:16] for one in desk.launched]


def test_nothing_is_started_by_default(desk: Desk) -> None:
    policy(desk, "flag")
    desk.pass_at("16:40")
    assert desk.launched == []
    assert desk.missing() == ["13:00", "14:00", "15:00", "16:00"]


def test_each_gets_its_job_the_oldest_first(desk: Desk) -> None:
    policy(desk, "every")
    desk.pass_at("15:40")
    assert started(desk) == ["13:00", "14:00", "15:00"]


def test_skip_writes_down_why(desk: Desk) -> None:
    policy(desk, "skip")
    desk.pass_at("14:40")
    assert set(desk.rows().values()) == {"skipped"}
    reason = desk.value("SELECT reason FROM k8sjob.periods LIMIT 1")
    assert reason.startswith("catch-up policy skip, missing since 2026-09-13 13:30:00Z: no Job")


def test_only_the_latest_is_started_and_it_names_what_it_supersedes(desk: Desk) -> None:
    policy(desk, "latest")
    desk.pass_at("16:40")
    (launch,) = desk.launched
    assert started(desk) == ["16:00"]
    assert launch.supersedes == f"{DAY}T13:00:00Z..{DAY}T15:00:00Z"
    assert set(desk.rows().values()) == {"open"}  # nothing is superseded before its claim


def test_no_more_are_started_than_the_job_allows(desk: Desk) -> None:
    policy(desk, "every", catch_up_max_count="2")
    desk.pass_at("16:40")
    assert started(desk) == ["13:00", "14:00"]


def test_no_more_are_started_than_a_pass_allows(desk: Desk) -> None:
    policy(desk, "every")
    report = desk.pass_at("16:40", budget=1)
    assert started(desk) == ["13:00"]
    assert [line.action for line in report.lines].count("left") == 3


def test_what_is_too_old_is_left_to_people(desk: Desk) -> None:
    policy(desk, "every", catch_up_max_age="2h")
    desk.pass_at("16:40")
    assert started(desk) == ["15:00", "16:00"]


def test_a_cronjob_that_forbids_two_at_once_gets_one_at_a_time(desk: Desk) -> None:
    policy(desk, "every")
    desk.cronjobs = [cronjob(concurrency="Forbid", annotations={"k8sjob.io/catch-up": "every"})]
    desk.jobs = [slot_job(at("2026-09-13 16:00"))]
    assert desk.pass_at("16:20").lines[-1].action == "waits"
    desk.jobs = []
    desk.pass_at("16:25")
    assert started(desk) == ["13:00"]


@pytest.mark.parametrize("live", ["job", "terminating", "deleting", "pod", "attempt"])
def test_nothing_is_done_to_a_period_that_something_is_still_at(desk: Desk, live: str) -> None:
    policy(desk, "skip")
    slot = at("2026-09-13 13:00")
    desk.clock = at("2026-09-13 14:00")
    job = {
        "job": slot_job(slot),
        "terminating": failed_job(slot, terminating=1),
        "deleting": failed_job(slot, deleting=True),
    }.get(live)
    desk.jobs = [job] if job else []
    if live == "pod":  # its Job was deleted, and it is in its grace
        desk.pods = [pod_of(slot_job(slot), deleting=True)]
    if live == "attempt":
        pod = pod_of(failed_job(slot))
        desk.jobs, desk.pods = [failed_job(slot)], [pod]
        attempt(desk, f"{DAY}T13:00:00Z", pod)
    desk.pass_at("14:10")
    assert desk.rows() in ({}, {f"{DAY}T13:00:00Z": "open"})
    desk.jobs, desk.pods = [], []
    desk.pass_at("14:20")
    assert desk.rows() == {f"{DAY}T13:00:00Z": "skipped"}


def test_what_is_uncertain_is_neither_started_nor_skipped(desk: Desk) -> None:
    policy(desk, "skip")
    desk.clock = at("2026-09-13 12:45")
    desk.edit(schedule="30 * * * *", managed=())
    desk.pass_at("14:10")
    assert desk.rows()[f"{DAY}T13:00:00Z"] == "open?"


def test_what_a_person_has_opened_again_is_that_persons(desk: Desk) -> None:
    policy(desk, "skip")
    desk.claim(f"{DAY}T13:00:00Z")
    with desk.db.connect("operator") as conn:
        conn.execute(
            "SELECT k8sjob.reopen(%s, %s, 'wrong', 'me')", ("billing/credit", f"{DAY}T13:00:00Z")
        )
    desk.pass_at("13:40")
    assert desk.rows() == {f"{DAY}T13:00:00Z": "open"}


def test_nothing_is_started_while_the_job_is_held(desk: Desk) -> None:
    policy(desk, "every")
    with desk.db.connect("operator") as conn:
        conn.execute("SELECT k8sjob.set_hold(NULL, 'billing/credit', 'maintenance', 'me')")
    report = desk.pass_at("13:40")
    assert desk.launched == []
    assert "held" in report.lines[-1].reason


def test_nothing_is_started_while_the_cronjob_is_suspended(desk: Desk) -> None:
    policy(desk, "every")
    desk.clock = at("2026-09-13 13:20")
    desk.edit(suspended=True)
    report = desk.pass_at("13:40")
    assert desk.missing() == ["13:00"]
    assert desk.launched == []
    assert "suspended" in report.lines[-1].reason


def test_the_counted_launches_of_before_bound_those_of_now(desk: Desk) -> None:
    policy(desk, "every", catch_up_max_count="2")
    for number, period in enumerate(periods(DAY, ["08:00", "09:00"])):
        with desk.db.connect("operator") as conn:
            conn.execute(
                "SELECT k8sjob.note_launch('billing/credit', %s, 0, 1, %s, 'catch-up', %s)",
                (period, f"credit-bf-{number}", f"uid-{number}"),
            )
    report = desk.pass_at("14:40")
    assert desk.launched == []
    assert "as many as may be" in report.lines[-1].reason


def test_while_the_newest_is_under_way_no_older_one_is_started_in_its_place(desk: Desk) -> None:
    policy(desk, "latest")
    slot = at("2026-09-13 15:00")
    desk.jobs = [slot_job(slot)]
    desk.pass_at("15:40")
    assert desk.missing() == ["13:00", "14:00", "15:00"]
    assert started(desk) == []
    desk.jobs = [failed_job(slot)]
    desk.pass_at("15:45")
    assert started(desk) == ["15:00"]


def test_what_was_found_missing_then_done_and_opened_again_is_a_persons_too(desk: Desk) -> None:
    policy(desk, "every")
    period = f"{DAY}T13:00:00Z"
    desk.pass_at("13:40")
    desk.claim(period)
    with desk.db.connect("operator") as conn:
        conn.execute("SELECT k8sjob.reopen(%s, %s, 'wrong', 'me')", ("billing/credit", period))
    desk.pass_at("13:45")
    assert desk.rows() == {period: "open"}
    assert started(desk) == ["13:00"]


def test_what_a_job_without_an_attempt_stands_for_is_not_superseded(desk: Desk) -> None:
    """The ledger cannot see that Job, so the range begins after it."""
    policy(desk, "latest")
    desk.jobs = [slot_job(at("2026-09-13 14:00"), ready=0)]
    desk.pass_at("17:40")
    (launch,) = desk.launched
    assert launch.supersedes == f"{DAY}T15:00:00Z..{DAY}T16:00:00Z"


def test_a_job_whose_period_has_no_row_cuts_the_range_too(desk: Desk) -> None:
    """A claim held its key when the row was to be made, and may be rolled back before the next."""
    policy(desk, "latest")
    desk.jobs = [slot_job(at("2026-09-13 14:00"))]
    with desk.db.connect() as rival:
        rival.execute("SELECT k8sjob.claim(%s, %s)", (JOB, f"{DAY}T14:00:00Z"))
        desk.pass_at("16:40")
        rival.rollback()
    assert f"{DAY}T14:00:00Z" not in desk.rows()
    (launch,) = desk.launched
    assert launch.supersedes == f"{DAY}T15:00:00Z..{DAY}T15:00:00Z"


def test_the_newest_supersedes_nothing_where_a_job_stands_for_the_one_before(desk: Desk) -> None:
    policy(desk, "latest")
    desk.jobs = [slot_job(at("2026-09-13 15:00"), ready=0)]
    desk.pass_at("16:40")
    (launch,) = desk.launched
    assert (started(desk), launch.supersedes) == (["16:00"], None)


def test_what_an_attempt_is_at_does_not_cut_the_range_since_the_claim_sees_it(desk: Desk) -> None:
    policy(desk, "latest")
    attempt(desk, f"{DAY}T14:00:00Z", mode="command")
    desk.pass_at("16:40")
    (launch,) = desk.launched
    assert launch.supersedes == f"{DAY}T13:00:00Z..{DAY}T15:00:00Z"
