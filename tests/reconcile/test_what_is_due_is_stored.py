from __future__ import annotations

from typing import TYPE_CHECKING

from tests.reconcile.conftest import MINUTE, at, cronjob, periods
from tests.reconcile.things import slot_job

if TYPE_CHECKING:
    from tests.reconcile.conftest import Desk


def test_the_first_list_begins_the_tracking_and_expects_nothing_before(desk: Desk) -> None:
    report = desk.pass_at("12:00:20")
    assert report.ok, report
    assert desk.rows() == {}
    assert desk.value("SELECT tracked_since FROM k8sjob.jobs") == at("2026-09-13 12:00:20")


def test_a_period_that_nobody_did_is_stored_as_open_once_its_grace_is_over(desk: Desk) -> None:
    desk.pass_at("12:10")
    desk.pass_at("13:29")
    assert desk.rows() == {}  # half of the hour is its grace
    report = desk.pass_at("13:31")
    assert desk.missing() == ["13:00"]
    assert [line.action for line in report.lines] == ["missing"]
    assert desk.pass_at("13:36").lines == []


def test_a_period_that_was_done_is_not_missing(desk: Desk) -> None:
    desk.pass_at("12:10")
    desk.claim(*periods("2026-09-13", ["13:00"]))
    desk.pass_at("14:31")
    assert desk.rows() == {"2026-09-13T13:00:00Z": "done", "2026-09-13T14:00:00Z": "open"}


def test_a_reconciler_that_was_away_for_a_day_lists_all_of_it_in_one_pass(desk: Desk) -> None:
    desk.edit(schedule="* * * * *", generation=1, managed=())
    desk.pass_at("12:10")
    report = desk.pass_at("2026-09-14 12:12")
    assert report.ok
    assert len(desk.missing()) == 1441


def test_a_dry_run_tells_the_same_and_writes_nothing(desk: Desk) -> None:
    desk.pass_at("12:10")
    told = desk.pass_at("14:31", dry_run=True)
    assert desk.rows() == {}
    assert desk.value("SELECT last_complete_list_at FROM k8sjob.scopes") == at("2026-09-13 12:10")
    assert desk.pass_at("14:31").lines == told.lines


def test_what_came_while_the_list_was_made_is_not_judged_by_it(desk: Desk) -> None:
    """It may have been suspended before, and after the part of the list that shows it."""
    desk.cronjobs = [cronjob(annotations={"k8sjob.io/grace": "5s"})]
    desk.pass_at("12:10")
    desk.take = 10 * MINUTE
    desk.pass_at("12:58")
    assert desk.rows() == {}
    desk.clock = at("2026-09-13 12:59")
    desk.edit(suspended=True)
    desk.pass_at("13:20")
    assert desk.rows() == {}


def test_a_job_that_forbids_the_next_one_though_its_work_is_done_is_told(desk: Desk) -> None:
    """Its Pod hangs, or the controller never took note of its end."""
    desk.cronjobs = [cronjob(concurrency="Forbid")]
    desk.pass_at("12:10")
    desk.jobs = [slot_job(at("2026-09-13 13:00"))]
    desk.claim("2026-09-13T13:00:00Z")
    with desk.db.connect("admin") as conn:
        conn.execute("UPDATE k8sjob.periods SET done_at = '2026-09-13 13:05:00Z'")
    desk.pass_at("14:40")
    assert desk.missing() == ["14:00"]
    reason = desk.value("SELECT reason FROM k8sjob.periods WHERE state = 'open'")
    assert reason.endswith("runs still, though the ledger has its work as done at 13:05:00Z")
