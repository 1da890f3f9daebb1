"""Two Jobs for one period, at the same time: one effect."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tests.e2e.scene import period, slot

if TYPE_CHECKING:
    from tests.e2e.cluster import Object, Told
    from tests.e2e.scene import Scene

PERIOD = "2026-09-13"


@dataclass
class Seen:
    """What became of two equal Jobs, and of a backfill beside a scheduled one."""

    ends: list[str]
    twins: list[Object]
    backfill: Told
    others: list[Object]
    jobs: set[str]
    balance: int


def play(scene: Scene) -> Seen:
    """Start two Jobs of a day, then backfill a minute whose own Job is at it."""
    day = f"{scene.namespace}/day"
    for name in ("one", "two"):
        scene.start_job(name, "run", "credit:slow", "--job", day, "--period", PERIOD)
    ends = [scene.end_of(name) for name in ("one", "two")]
    scene.start_cronjob("minute", "run", "credit:slow")
    scheduled = scene.scheduled("minute", datetime.now(UTC))
    scene.patch("cronjob/minute", '{"spec": {"suspend": true}}')
    scene.wait_for_work()
    at = period(slot(scheduled))
    with scene.from_here() as k8sjob:  # as a person at a desk, by the kubeconfig
        backfill = k8sjob("backfill", f"{scene.namespace}/minute", "--from", at, "--to", at)
    ends.append(scene.end_of(scheduled["metadata"]["name"]))
    attempts = scene.attempts()
    return Seen(
        ends=ends,
        twins=[a for a in attempts if a["job"] == day],
        backfill=backfill,
        others=[a for a in attempts if a["period"] == period(slot(scheduled))],
        jobs={job["metadata"]["uid"] for job in scene.jobs()},
        balance=scene.balance,
    )


def test_one_of_two_jobs_applies_and_the_other_finds_it_done(seen: Seen) -> None:
    assert seen.ends[:2] == ["Complete", "Complete"]
    assert sorted(attempt["outcome"] for attempt in seen.twins) == ["applied", "duplicate"]


def test_a_backfill_beside_the_scheduled_job_has_no_effect_of_its_own(seen: Seen) -> None:
    assert seen.backfill.code == 0, seen.backfill
    assert seen.ends[2] == "Complete"
    assert [a["outcome"] for a in seen.others].count("applied") == 1


def test_there_is_one_effect_a_period(seen: Seen) -> None:
    assert seen.balance == 20
