"""Three minutes for which a minute schedule is suspended are not missing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from tests.e2e.scene import period, slot, wait_until

if TYPE_CHECKING:
    from tests.e2e.scene import Scene

MINUTE = timedelta(minutes=1)


@dataclass
class Seen:
    """What was shown when all was over."""

    before: list[str]
    suspended: list[str]
    jobs: list[str]
    states: dict[str, str]
    unfinished: list[str]
    listed: list[str]


def play(scene: Scene) -> Seen:
    """Suspend after the first slot, resume between two slots, and let the reconciler look on."""
    scene.start_reconciler()
    # A resumed CronJob starts the latest slot that it slept through, unless that is too long ago.
    scene.start_cronjob("credit", "run", "credit:credit", startingDeadlineSeconds=10)
    first = slot(job := scene.scheduled("credit", after=scene.wait_for_pass()))
    assert scene.end_of(job["metadata"]["name"]) == "Complete"
    scene.patch("cronjob/credit", '{"spec": {"suspend": true}}')
    assert datetime.now(first.tzinfo) < first + MINUTE, "too slow: the next slot came in between"
    slept = [first + n * MINUTE for n in (1, 2, 3)]
    wait_until(slept[-1] + timedelta(seconds=15))
    scene.patch("cronjob/credit", '{"spec": {"suspend": false}}')
    # Half a minute after a slot nobody's clock can be to blame any more, and it is judged.
    wait_until(slept[-1] + timedelta(seconds=41))
    scene.wait_for_pass()
    jobs = [f"{scene.namespace}/credit:{period(slot(job))}" for job in scene.jobs()]
    return Seen(
        jobs=jobs,
        before=[job for job in jobs if job <= f"{scene.namespace}/credit:{period(first)}"],
        suspended=[f"{scene.namespace}/credit:{period(at)}" for at in slept],
        states=scene.states(),
        unfinished=scene.listed("missing", "due", "blocked"),
        listed=scene.listed("suspended"),
    )


def test_nothing_ran_while_it_was_suspended(seen: Seen) -> None:
    assert seen.jobs == seen.before


def test_suspended_minutes_are_not_missing(seen: Seen) -> None:
    assert seen.unfinished == []
    assert seen.states == dict.fromkeys(seen.before, "done")


def test_suspended_minutes_are_listed_as_such(seen: Seen) -> None:
    assert seen.listed == seen.suspended
