"""A Pod that the kernel ends for want of memory: the attempt is lost, and its Job tries again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.e2e import manifests
from tests.e2e.cluster import until

if TYPE_CHECKING:
    from tests.e2e.cluster import Object
    from tests.e2e.scene import Scene

PERIOD = "2026-09-13"
LIMIT = {"limits": {"memory": "128Mi"}}


@dataclass
class Seen:
    """What became of it."""

    end: str
    balance: int
    attempts: list[Object]


def play(scene: Scene) -> Seen:
    """Let the first attempt take more memory than its Pod has."""
    scene.start_reconciler()
    args = ("run", "credit:greedy_once", "--job", f"{scene.namespace}/credit", "--period", PERIOD)
    container = manifests.runner(scene.images.entrypoint, args, resources=LIMIT)
    scene.apply(manifests.job(scene.namespace, "credit", manifests.job_spec(container)))
    end = scene.end_of("credit")
    until("the end of the lost attempt", lambda: all(a["ended_at"] for a in scene.attempts()))
    return Seen(end, scene.balance, scene.attempts())


def test_its_job_tries_again_and_completes(seen: Seen) -> None:
    assert seen.end == "Complete"
    assert seen.balance == 10


def test_the_attempt_is_lost_with_that_reason(seen: Seen) -> None:
    lost, applied = seen.attempts
    assert (lost["outcome"], applied["outcome"]) == ("lost", "applied")
    assert "OOMKilled" in lost["message"]
    assert lost["exit_code"] == 137
