"""Work done in an image that knows nothing of k8sjob, between ``resolve`` and ``sidecar``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tests.e2e import foreign, manifests
from tests.e2e.cluster import until
from tests.e2e.scene import period, slot

if TYPE_CHECKING:
    from tests.e2e.cluster import Object
    from tests.e2e.scene import Scene

DAY = "2026-09-13"


@dataclass
class Seen:
    """A scheduled Job, and one whose first Pod was deleted in mid-run."""

    ends: list[str]
    period: str
    scheduled: list[Object]
    deleted: list[Object]
    balance: int


def play(scene: Scene) -> Seen:
    """Let a scheduled Job do its work; delete the Pod of another while it is at it."""
    _stop_in_mid_run(scene)
    scene.apply(manifests.cronjob(scene.namespace, "minute", foreign.spec(scene.images)))
    job = scene.scheduled("minute", datetime.now(UTC))
    scene.patch("cronjob/minute", '{"spec": {"suspend": true}}')
    ends = [scene.end_of(name) for name in (job["metadata"]["name"], "day")]
    until("the end of each attempt", lambda: all(a["ended_at"] for a in scene.attempts()))
    attempts, at = scene.attempts(), period(slot(job))
    return Seen(
        ends=ends,
        period=at,
        scheduled=[a for a in attempts if a["period"] == at],
        deleted=[a for a in attempts if a["period"] == DAY],
        balance=scene.balance,
    )


def _stop_in_mid_run(scene: Scene) -> None:
    which = ("--job", f"{scene.namespace}/day", "--period", DAY)
    spec = foreign.spec(scene.images, which, stuck=True)
    scene.apply(manifests.job(scene.namespace, "day", spec))
    scene.wait_for_work()
    (pod,) = scene.pods("day")
    scene.delete("pod", pod["metadata"]["name"])


def test_its_attempt_is_written_from_start_to_end(seen: Seen) -> None:
    (attempt,) = seen.scheduled
    assert seen.ends[0] == "Complete"
    assert (attempt["outcome"], attempt["exit_code"]) == ("applied", 0)
    assert attempt["source"] == "scheduled-timestamp"


def test_a_deleted_pod_leaves_an_attempt_that_failed_and_the_next_applies(seen: Seen) -> None:
    stopped, applied = seen.deleted
    assert seen.ends[1] == "Complete"
    assert (stopped["outcome"], stopped["exit_code"]) == ("failed", 143)
    assert (applied["outcome"], applied["exit_code"]) == ("applied", 0)


def test_there_is_one_effect_a_period(seen: Seen) -> None:
    assert seen.balance == 20
