"""A schedule that is edited raises no alarm for slots that it does not have any more."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from tests.e2e.scene import period, slot

if TYPE_CHECKING:
    from tests.e2e.cluster import Object
    from tests.e2e.scene import Scene

TWO_MINUTES = timedelta(minutes=2)


@dataclass
class Seen:
    """What was shown when all was over; ``wanted`` are the slots that had a Job."""

    wanted: list[str]
    states: dict[str, str]
    unfinished: list[str]
    versions: list[Object]


def play(scene: Scene) -> Seen:
    """Make an hourly schedule of a minute schedule: one of its slots falls away, the next stays."""
    scene.start_reconciler()
    scene.start_cronjob("credit", "run", "credit:credit")
    first = slot(job := scene.scheduled_and_tracked("credit"))
    assert scene.end_of(job["metadata"]["name"]) == "Complete"
    last = first + TWO_MINUTES
    scene.patch("cronjob/credit", f'{{"spec": {{"schedule": "{last.minute} * * * *"}}}}')
    job = scene.scheduled("credit", after=first, seconds=180)
    assert slot(job) == last
    assert scene.end_of(job["metadata"]["name"]) == "Complete"
    scene.wait_for_pass()
    return Seen(
        wanted=[f"{scene.namespace}/credit:{period(slot(job))}" for job in scene.jobs()],
        states=scene.states(),
        unfinished=scene.listed("missing", "due", "blocked"),
        versions=scene.rows("SELECT * FROM k8sjob.schedule_versions ORDER BY n"),
    )


def test_a_slot_that_was_edited_away_is_not_missing(seen: Seen) -> None:
    assert seen.unfinished == []


def test_the_slots_before_and_after_the_edit_are_done(seen: Seen) -> None:
    assert seen.states == dict.fromkeys(seen.wanted, "done")


def test_the_edit_is_a_version_that_begins_where_the_old_one_ends(seen: Seen) -> None:
    old, new = seen.versions
    assert (old["expr"], new["expr"].split()[1:]) == ("* * * * *", ["*"] * 4)
    assert (old["earliest_to"], old["valid_to"]) == (new["earliest_from"], new["valid_from"])
