"""What was done to a CronJob between two lists: named cases that a simulated life has found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.reconcile.conftest import SECOND, at, cronjob, written

if TYPE_CHECKING:
    from datetime import datetime

    from tests.reconcile.conftest import Desk

DAY = "2026-09-13"
HALF_PAST = "30 * * * *"


def times(desk: Desk) -> dict[str, str]:
    """Return states by the times of day."""
    return {period[11:16]: state for period, state in desk.rows().items()}


def noon(clock: str) -> datetime:
    return at(f"{DAY} {clock}")


def test_an_edit_seconds_after_the_list_that_showed_the_last_one_hides_nothing(desk: Desk) -> None:
    desk.cronjobs = [cronjob(schedule="45 * * * *")]
    desk.pass_at("12:10")
    desk.clock = noon("12:59:20")
    desk.edit(schedule=HALF_PAST, managed=())
    desk.pass_at("12:59:40")
    desk.clock = noon("12:59:50")  # the list may have been made half a minute later than it says
    desk.edit(schedule="0,15 * * * *", managed=())
    desk.pass_at("13:01")
    desk.pass_at("13:40")
    assert times(desk)["13:00"] == "open?"
    assert times(desk)["13:15"] == "open"


def test_a_suspension_between_two_edits_is_no_edit_that_both_schedules_survive(desk: Desk) -> None:
    desk.pass_at("12:10")
    desk.clock = noon("14:45")
    desk.edit(schedule="0,30 * * * *", generation=3)  # suspended, and resumed with the new one
    desk.pass_at("15:10")
    desk.pass_at("15:40")
    assert times(desk)["13:00"] == "open?"
    assert times(desk)["14:00"] == "open?"


def test_a_suspension_seen_between_two_edits_counts_too(desk: Desk) -> None:
    desk.pass_at("12:10")
    desk.clock = noon("12:59:40")
    desk.edit(suspended=True, managed=())
    desk.pass_at("12:59:50")
    desk.clock = noon("13:00:10")
    desk.edit(suspended=False, schedule="0,30 * * * *", managed=())
    desk.pass_at("13:00:20")
    desk.pass_at("14:10")
    assert times(desk)["13:00"] == "open?"


def test_a_zone_that_was_taken_away_leaves_no_trace(desk: Desk) -> None:
    """Who takes a field away moves no time: that of the image's change tells nothing."""
    desk.cronjobs = [cronjob(zone="Asia/Kolkata")]  # half past, in UTC
    desk.pass_at("12:10")
    image = written(noon("12:20"))
    desk.clock = noon("14:45")
    desk.edit(zone=None, generation=3, managed=(image,))
    desk.pass_at("15:10")
    desk.pass_at("16:40")
    assert times(desk) == {
        **dict.fromkeys(("12:30", "13:00", "13:30", "14:00", "14:30", "15:00"), "open?"),
        "16:00": "open",
    }


def test_a_zone_that_came_and_went_leaves_no_trace_either(desk: Desk) -> None:
    desk.pass_at("12:10")
    desk.clock = noon("14:45")
    desk.edit(generation=3, managed=cronjob().managed)
    desk.pass_at("15:40")
    assert set(times(desk).values()) == {"open?"}


def test_two_new_images_leave_a_schedule_with_a_zone_certain(desk: Desk) -> None:
    desk.cronjobs = [cronjob(zone="Etc/UTC")]
    desk.pass_at("12:10")
    desk.clock = noon("14:45")
    desk.edit(generation=3, managed=cronjob().managed)
    desk.pass_at("15:40")
    assert times(desk) == dict.fromkeys(("13:00", "14:00", "15:00"), "open")


def test_a_schedule_that_was_edited_after_it_was_enabled_is_not_as_old_as_the_label(
    desk: Desk,
) -> None:
    assert desk.cronjobs is not None
    first = replace(desk.cronjobs.pop(), zone="Etc/UTC")
    desk.pass_at("12:10")
    label, edit = written(noon("12:30"), "enabled-label"), written(noon("14:20"))
    desk.cronjobs.append(replace(first, schedule=HALF_PAST, generation=2, managed=(edit, label)))
    desk.pass_at("14:45")
    desk.pass_at("15:10")
    assert times(desk) == {**dict.fromkeys(("12:30", "13:30"), "open?"), "14:30": "open"}


def test_a_new_cronjob_that_was_enabled_later_is_as_old_as_its_label(desk: Desk) -> None:
    desk.cronjobs = []
    desk.pass_at("12:10")
    made, label = noon("12:20"), written(noon("13:30"), "enabled-label")
    desk.cronjobs = [cronjob(created=made, managed=(written(made, "schedule"), label))]
    desk.pass_at("14:45")
    assert times(desk) == {"13:00": "open?", "14:00": "open"}


def test_a_job_whose_other_ledger_was_named_before_is_not_as_old_as_its_label(desk: Desk) -> None:
    """Its claims until then are in the other ledger, and what was taken away has no time."""
    assert desk.cronjobs is not None
    first = desk.cronjobs.pop()
    desk.pass_at("12:10")
    image = written(noon("13:20"), "schedule")
    label = written(first.created, "enabled-label")
    desk.cronjobs.append(replace(first, zone="Etc/UTC", generation=2, managed=(image, label)))
    desk.pass_at("14:45")
    desk.pass_at("15:40")
    assert times(desk) == {"13:00": "open?", "14:00": "open?", "15:00": "open"}


def test_a_ledger_that_was_named_just_now_is_as_old_as_its_annotation(desk: Desk) -> None:
    assert desk.cronjobs is not None
    first = desk.cronjobs.pop()
    desk.pass_at("12:10")
    named = written(noon("13:30"), "annotations")
    desk.cronjobs.append(replace(first, managed=(*first.managed, named)))
    desk.pass_at("14:45")
    assert times(desk) == {"13:00": "open?", "14:00": "open"}


def test_what_came_just_before_the_first_list_of_all_is_not_certain(desk: Desk) -> None:
    """The ledger's clock is behind: by the cluster's the list was made at 13:00:15."""
    desk.cronjobs = [cronjob(generation=2, managed=(written(noon("13:00:10")),))]
    desk.pass_at("12:59:50")
    desk.pass_at("14:40")
    assert times(desk) == {"13:00": "open?", "14:00": "open"}


def test_a_list_may_have_been_made_after_the_slots_that_come_just_after_it(desk: Desk) -> None:
    """By the cluster's clock, half a minute ahead, the edit came at 13:00:10, and then the list."""
    desk.cronjobs = [cronjob(schedule=HALF_PAST)]
    desk.pass_at("12:10")
    desk.edit(schedule="0 * * * *", managed=())
    desk.pass_at("12:59:50")
    desk.pass_at("14:40")
    assert times(desk)["13:00"] == "open?"
    assert times(desk)["14:00"] == "open"


def test_two_clocks_that_go_back_and_forth_end_no_version_before_it_began(desk: Desk) -> None:
    desk.pass_at("12:10")
    desk.clock = noon("12:20")
    desk.edit(schedule=HALF_PAST, managed=())
    desk.pass_at("12:20:30")
    desk.clock = noon("12:20:05")  # the first clock was half a minute ahead
    desk.edit(schedule="0 * * * *")
    assert desk.pass_at("12:20:31").ok
    desk.clock = noon("12:20:40")
    assert desk.cronjobs is not None
    desk.cronjobs.clear()
    assert desk.pass_at("12:20:32").ok
    desk.pass_at("15:40")
    assert times(desk) == {}


def test_a_recreated_cronjob_may_have_had_yet_another_schedule(desk: Desk) -> None:
    desk.pass_at("12:10")
    made, edit = noon("12:50"), written(noon("14:30"))
    desk.cronjobs = [
        cronjob(uid="uid-2", created=made, schedule="0,30 * * * *", generation=2, managed=(edit,))
    ]
    desk.pass_at("15:10")
    desk.pass_at("15:50")
    # From the creation on it was suspended, say, and resumed at 14:30.
    assert times(desk)["13:00"] == "open?"
    assert times(desk)["14:00"] == "open?"
    assert times(desk)["15:30"] == "open"


def test_a_renamed_cronjob_may_have_gone_on_beside_its_successor(desk: Desk) -> None:
    desk.pass_at("12:10")
    made = noon("12:50")
    renamed = {"name": "credit-v2", "uid": "uid-2", "created": made, "managed": (written(made),)}
    named = {"k8sjob.io/job": "credit"}
    desk.cronjobs = [cronjob(schedule=HALF_PAST, annotations=named, **renamed)]
    desk.pass_at("15:10")
    desk.pass_at("15:50")
    assert times(desk) == {
        **dict.fromkeys(("13:00", "14:00", "15:00"), "open?"),
        **dict.fromkeys(("13:30", "14:30"), "open"),
    }


def test_one_that_is_being_deleted_is_not_expected_any_more(desk: Desk) -> None:
    """It stands until its Jobs are gone, and the controller starts nothing for it."""
    desk.pass_at("12:10")
    assert desk.cronjobs is not None
    desk.cronjobs[0] = replace(desk.cronjobs[0], deleting=True)
    desk.pass_at("12:20")
    desk.pass_at("15:40")
    assert times(desk) == {}
    assert desk.value("SELECT gone_at FROM k8sjob.jobs") == noon("12:20")


def test_a_day_that_goes_on_in_another_zone_is_not_missing_before_its_end(desk: Desk) -> None:
    """It begins in Rome, and after the change of zone New York still has the day before."""
    desk.cronjobs = [cronjob(zone="Europe/Rome", annotations={"k8sjob.io/cycle": "day"})]
    desk.pass_at("12:10")
    desk.claim("2026-09-13")
    desk.clock = at("2026-09-13 23:10")
    desk.edit(zone="America/New_York")
    desk.pass_at("2026-09-14 03:40")  # the 14th has had two fires in Rome, an hour or two ago
    assert desk.rows() == {"2026-09-13": "done"}
    desk.pass_at("2026-09-15 03:20")
    assert desk.rows() == {"2026-09-13": "done"}
    desk.pass_at("2026-09-15 03:40")
    assert desk.rows() == {"2026-09-13": "done", "2026-09-14": "open"}


def test_the_mark_stays_before_the_first_fire_of_a_day_that_is_not_over(desk: Desk) -> None:
    desk.cronjobs = [cronjob(zone="Europe/Rome", annotations={"k8sjob.io/cycle": "day"})]
    desk.pass_at("12:10")
    desk.clock = at("2026-09-13 23:10")
    desk.edit(zone="America/New_York")
    desk.pass_at("2026-09-14 03:40")
    assert desk.rows() == {"2026-09-13": "open"}  # until midnight of New York
    first_of_the_14th = at("2026-09-13 22:00")
    assert desk.value("SELECT done_until FROM k8sjob.jobs") == first_of_the_14th - SECOND


def test_what_is_done_once_becomes_certain_with_its_first_certain_fire(desk: Desk) -> None:
    assert desk.cronjobs is not None
    once = {"k8sjob.io/cycle": "once"}
    first = cronjob(annotations=once)
    desk.cronjobs.clear()
    desk.pass_at("12:10")
    desk.cronjobs.append(replace(first, managed=()))
    desk.pass_at("13:40")
    assert desk.rows() == {"once": "open?"}
    desk.pass_at("14:20")
    assert desk.rows() == {"once": "open?"}
    desk.pass_at("14:40")
    assert desk.rows() == {"once": "open"}
    assert desk.value("SELECT deadline_at FROM k8sjob.periods") == noon("14:30")
    assert desk.value("SELECT reason_code FROM k8sjob.periods") == "no-job"
