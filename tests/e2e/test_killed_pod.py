"""A Pod that ends in mid-run, deleted or killed: its Job starts another, the work is done once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.e2e import manifests
from tests.e2e.cluster import until

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.cluster import Object
    from tests.e2e.scene import Scene

PERIOD = "2026-09-13"
KILL_ALL = "import os, signal; os.kill(-1, signal.SIGKILL)"


@dataclass
class Seen:
    """What became of both Jobs."""

    deleted: list[Object]
    killed: list[Object]
    ends: list[str]
    states: dict[str, str]
    balance: int


def play(scene: Scene) -> Seen:
    """End the first Pod of each Job while its transaction is open."""
    scene.start_reconciler()
    jobs = {"deleted": _delete, "killed": _kill}
    ends = [_end_in_mid_run(scene, name, how) for name, how in jobs.items()]
    until("the end of each attempt", lambda: all(a["ended_at"] for a in scene.attempts()))
    each = {
        name: [a for a in scene.attempts() if a["job"] == f"{scene.namespace}/{name}"]
        for name in jobs
    }
    return Seen(**each, ends=ends, states=scene.states(), balance=scene.balance)


def _end_in_mid_run(scene: Scene, name: str, how: Callable[[Scene, str], object]) -> str:
    scene.postgres.execute(scene.database, "SELECT setval('app.tries', 1, false)")
    job = f"{scene.namespace}/{name}"
    args = ("run", "credit:stuck_once", "--job", job, "--period", PERIOD)
    spec = manifests.job_spec(
        manifests.runner(scene.images.entrypoint, args), shareProcessNamespace=True
    )
    scene.apply(manifests.job(scene.namespace, name, spec))
    scene.wait_for_work()
    (pod,) = scene.pods(name)
    how(scene, pod["metadata"]["name"])
    return scene.end_of(name)


def _delete(scene: Scene, pod: str) -> None:
    scene.delete("pod", pod)


def _kill(scene: Scene, pod: str) -> None:
    # The first process of a namespace cannot be killed from inside; here that is the sandbox's.
    # The killer is spared, unless its container's end overtakes it.
    assert scene.kubectl("exec", pod, "--", "python", "-c", KILL_ALL).code in {0, 137}


def test_its_job_starts_another_that_completes(seen: Seen) -> None:
    assert seen.ends == ["Complete", "Complete"]


def test_two_attempts_have_one_effect(seen: Seen) -> None:
    assert (len(seen.deleted), len(seen.killed)) == (2, 2)
    assert set(seen.states.values()) == {"done"}
    assert seen.balance == 20


def test_an_attempt_that_was_asked_to_stop_says_so_itself(seen: Seen) -> None:
    stopped, applied = seen.deleted
    assert (stopped["outcome"], applied["outcome"]) == ("failed", "applied")
    assert stopped["exit_code"] == 143


def test_an_attempt_that_was_killed_is_lost_with_what_its_pod_says(seen: Seen) -> None:
    lost, applied = seen.killed
    assert (lost["outcome"], applied["outcome"]) == ("lost", "applied")
    assert "exit code 137" in lost["message"]
