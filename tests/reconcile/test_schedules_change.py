from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.reconcile.conftest import MINUTE, at, cronjob, periods, written

if TYPE_CHECKING:
    from tests.reconcile.conftest import Desk

HALF_PAST = "30 * * * *"


def test_after_an_edit_each_schedule_holds_for_its_own_time(desk: Desk) -> None:
    desk.pass_at("12:10")
    desk.clock = at("2026-09-13 14:45")
    desk.edit(schedule=HALF_PAST)
    desk.pass_at("14:50")
    desk.pass_at("17:40")
    assert desk.missing() == ["13:00", "14:00", "15:30", "16:30"]


def test_what_lies_between_two_lists_is_listed_as_uncertain(desk: Desk) -> None:
    desk.pass_at("12:10")
    desk.clock = at("2026-09-13 14:45")
    desk.edit(schedule=HALF_PAST, managed=())  # who wrote and when is not told
    desk.pass_at("15:10")
    desk.pass_at("17:10")
    rows = desk.rows()
    # Both schedules may have held from 12:10 on: 13:00, 14:00 and 15:00 of the old one, half past
    # of the new.
    assert {p[11:16]: s for p, s in rows.items()} == {
        **dict.fromkeys(("12:30", "13:00", "13:30", "14:00", "14:30", "15:00"), "open?"),
        **dict.fromkeys(("15:30", "16:30"), "open"),
    }


def test_an_edit_that_both_schedules_survive_makes_nothing_uncertain(desk: Desk) -> None:
    desk.pass_at("12:10")
    desk.clock = at("2026-09-13 13:30")
    desk.edit(schedule="0,30 * * * *", managed=())
    desk.pass_at("14:10")
    desk.pass_at("14:40")
    assert desk.rows()["2026-09-13T13:00:00Z"] == "open"
    assert desk.rows()["2026-09-13T12:30:00Z"] == "open?"


def test_the_only_write_since_the_last_list_is_known_to_the_second(desk: Desk) -> None:
    desk.pass_at("12:10")
    desk.clock = at("2026-09-13 14:45")
    desk.edit(schedule=HALF_PAST)
    desk.pass_at("15:10")
    desk.pass_at("15:50")
    assert set(desk.rows().values()) == {"open"}
    assert desk.missing() == ["13:00", "14:00"]  # 15:30 is in its grace


def test_two_writes_are_not_known_to_the_second_but_bounded(desk: Desk) -> None:
    desk.cronjobs = [cronjob(zone="Etc/UTC")]
    desk.pass_at("12:10")
    desk.clock = at("2026-09-13 14:45")
    desk.edit(schedule=HALF_PAST, generation=3)
    desk.pass_at("15:10")
    desk.pass_at("16:10")
    rows = desk.rows()
    assert rows["2026-09-13T13:30:00Z"] == "open?"
    assert rows["2026-09-13T15:30:00Z"] == "open"  # after the last write
    assert "2026-09-13T15:00:00Z" not in rows


def test_a_write_to_metadata_makes_the_only_write_to_spec_uncertain_again(desk: Desk) -> None:
    desk.pass_at("12:10")
    desk.clock = at("2026-09-13 14:45")
    desk.edit(schedule=HALF_PAST, annotations={"team": "payments"})
    desk.pass_at("15:10")
    assert desk.rows()["2026-09-13T13:30:00Z"] == "open?"


def test_an_image_that_is_changed_leaves_the_schedule_certain(desk: Desk) -> None:
    desk.pass_at("12:10")
    desk.clock = at("2026-09-13 13:45")
    desk.edit()
    report = desk.pass_at("14:40")
    assert desk.missing() == ["13:00", "14:00"]
    assert not [line for line in report.lines if line.action == "schedule"]


def test_suspended_and_resumed_between_two_lists_is_not_taken_for_missing(desk: Desk) -> None:
    desk.pass_at("12:10")
    desk.clock = at("2026-09-13 15:20")
    desk.edit(generation=3)  # off and on again
    desk.pass_at("15:50")
    assert {p[11:16]: s for p, s in desk.rows().items()} == {
        "13:00": "open?",
        "14:00": "open?",
        "15:00": "open?",
    }


def test_suspended_periods_are_not_expected(desk: Desk) -> None:
    desk.pass_at("12:10")
    desk.clock = at("2026-09-13 12:40")
    desk.edit(suspended=True)
    desk.pass_at("12:45")
    desk.pass_at("16:45")
    desk.clock = at("2026-09-13 16:50")
    desk.edit(suspended=False)
    desk.pass_at("16:55")
    desk.pass_at("17:40")
    assert desk.rows() == {"2026-09-13T17:00:00Z": "open"}


def test_what_kubernetes_starts_of_a_suspension_at_its_end_is_done(desk: Desk) -> None:
    desk.pass_at("12:10")
    desk.clock = at("2026-09-13 12:40")
    desk.edit(suspended=True)
    desk.pass_at("12:45")
    desk.claim(*periods("2026-09-13", ["16:00"]))
    desk.clock = at("2026-09-13 16:50")
    desk.edit(suspended=False)
    desk.pass_at("16:55")
    assert desk.rows() == {"2026-09-13T16:00:00Z": "done"}


def test_a_new_cronjob_is_expected_from_its_creation_on(desk: Desk) -> None:
    assert desk.cronjobs is not None
    first = desk.cronjobs.pop()
    desk.pass_at("12:10")
    made = at("2026-09-13 12:55")
    desk.cronjobs.append(replace(first, created=made, managed=(written(made),)))
    desk.pass_at("13:40")
    assert desk.rows() == {"2026-09-13T13:00:00Z": "open"}


def test_a_cronjob_made_within_a_slot_is_not_expected_to_do_that_slot(desk: Desk) -> None:
    assert desk.cronjobs is not None
    first = desk.cronjobs.pop()
    desk.pass_at("12:10")
    made = at("2026-09-13 13:00:10")
    desk.cronjobs.append(replace(first, created=made, managed=(written(made),)))
    desk.pass_at("13:40")
    assert desk.rows() == {}


def test_a_cronjob_that_is_enabled_is_uncertain_until_the_label_was_written(desk: Desk) -> None:
    assert desk.cronjobs is not None
    first = desk.cronjobs.pop()
    desk.pass_at("12:10")
    label = written(at("2026-09-13 13:30"), "enabled-label")
    desk.cronjobs.append(replace(first, managed=(*first.managed, label)))
    desk.pass_at("14:40")
    assert desk.rows() == {"2026-09-13T13:00:00Z": "open?", "2026-09-13T14:00:00Z": "open"}


def test_a_deleted_cronjob_ends_its_schedule_and_what_it_owes_stays(desk: Desk) -> None:
    desk.pass_at("12:10")
    desk.pass_at("13:40")
    assert desk.cronjobs is not None
    desk.cronjobs.clear()
    desk.pass_at("14:10")
    desk.pass_at("18:10")
    assert desk.rows() == {"2026-09-13T13:00:00Z": "open", "2026-09-13T14:00:00Z": "open?"}
    assert desk.value("SELECT gone_at FROM k8sjob.jobs") == at("2026-09-13 14:10")


def test_a_recreated_cronjob_keeps_its_history_and_has_no_gap(desk: Desk) -> None:
    desk.pass_at("12:10")
    made = at("2026-09-13 14:20")
    desk.cronjobs = [cronjob(uid="uid-2", created=made)]
    desk.pass_at("14:30")
    desk.pass_at("15:40")
    assert {p[11:16]: s for p, s in desk.rows().items()} == {
        "13:00": "open?",
        "14:00": "open?",
        "15:00": "open",
    }


def test_a_renamed_cronjob_goes_on_under_its_job(desk: Desk) -> None:
    desk.pass_at("12:10")
    desk.claim(*periods("2026-09-13", ["13:00"]))
    renamed = {"name": "credit-v2", "uid": "uid-2", "created": at("2026-09-13 13:20")}
    desk.cronjobs = [cronjob(**renamed, annotations={"k8sjob.io/job": "credit"})]
    desk.pass_at("13:30")
    desk.pass_at("14:40")
    assert desk.rows() == {"2026-09-13T13:00:00Z": "done", "2026-09-13T14:00:00Z": "open"}
    assert desk.value("SELECT count(*) FROM k8sjob.jobs") == 1
    assert desk.value("SELECT cronjob FROM k8sjob.jobs") == "credit-v2"


def test_two_cronjobs_of_one_job_are_broken_and_nothing_is_lost_by_it(desk: Desk) -> None:
    desk.pass_at("12:10")
    other = cronjob(name="credit-v2", uid="uid-2", annotations={"k8sjob.io/job": "credit"})
    bad = cronjob(name="bad", uid="uid-3", schedule="@every 5m")
    good = cronjob(name="good", uid="uid-4")
    desk.cronjobs = [cronjob(), other, bad, good]
    report = desk.pass_at("13:40")
    assert {line.what for line in report.lines if line.is_broken} == {
        "billing/bad",
        "billing/credit",
    }
    assert not report.ok
    desk.cronjobs = [cronjob(), good]
    assert desk.pass_at("14:40").ok
    assert desk.missing() == ["13:00", "14:00"]


def test_a_changed_zone_moves_the_instants_and_not_the_days(desk: Desk) -> None:
    daily = {"schedule": "0 2 * * *", "annotations": {"k8sjob.io/cycle": "day"}}
    desk.cronjobs = [cronjob(zone="Europe/Rome", **daily)]
    desk.pass_at("2026-09-11 12:00")
    desk.claim("2026-09-12")
    desk.clock = at("2026-09-12 12:00")
    desk.edit(zone="America/New_York")
    desk.pass_at("2026-09-12 12:05")
    desk.pass_at("2026-09-15 12:05")
    assert desk.rows() == {
        "2026-09-12": "done",
        "2026-09-13": "open",
        "2026-09-14": "open",
        "2026-09-15": "open",
    }


def test_another_kind_of_period_is_refused_for_a_job_that_has_one(desk: Desk) -> None:
    desk.pass_at("12:10")
    assert desk.cronjobs is not None
    desk.cronjobs[0] = cronjob(annotations={"k8sjob.io/cycle": "day"})
    report = desk.pass_at("13:40")
    assert [line.action for line in report.lines if line.is_broken] == ["broken"]
    assert "new name" in report.lines[0].reason


def test_clocks_half_a_minute_apart_hide_nothing_and_invent_nothing(desk: Desk) -> None:
    """The ledger's clock goes 30 s ahead of the cluster's, and lists lie near to the slots."""
    desk.edit(schedule="* * * * *", generation=1, managed=(written(at("2026-01-01 00:00")),))
    desk.pass_at("12:00:20")
    skew = MINUTE / 2
    # By the cluster's clock: edited at 12:09:55, to minutes 10 and 11 only; the list before shows
    # the old schedule at 12:09:50, which the ledger calls 12:10:20.
    desk.claim(*periods("2026-09-13", [f"12:0{n}" for n in range(10)]))
    desk.clock = at("2026-09-13 12:09:50") + skew
    desk.one_pass()
    desk.clock = at("2026-09-13 12:09:55")
    desk.edit(schedule="10,11 * * * *", managed=())
    desk.clock = at("2026-09-13 12:10:50") + skew
    desk.one_pass()
    desk.pass_at("12:50")
    rows = {p[11:16]: s for p, s in desk.rows().items() if s != "done"}
    assert rows["12:10"] in {"open", "open?"}  # meant by both: not hidden
    assert rows["12:11"] in {"open", "open?"}
    assert all(state == "open?" for time, state in rows.items() if time not in {"12:10", "12:11"})
