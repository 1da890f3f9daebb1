"""Postgres restarted in mid-run: the attempt fails as one that may be tried again, and is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.e2e.cluster import until

if TYPE_CHECKING:
    from tests.e2e.cluster import Object
    from tests.e2e.scene import Scene

PERIOD = "2026-09-13"


@dataclass
class Seen:
    """What became of it."""

    end: str
    codes: list[int]
    balance: int
    attempts: list[Object]
    states: dict[str, str]


def play(scene: Scene) -> Seen:
    """Restart the server of this scene while a transaction is open."""
    scene = scene.with_own_postgres()
    scene.start_reconciler()
    job = f"{scene.namespace}/credit"
    scene.start_job("credit", "run", "credit:stuck_once", "--job", job, "--period", PERIOD)
    scene.wait_for_work()
    scene.postgres.restart()
    end = scene.end_of("credit")
    until("the end of each attempt", lambda: all(a["ended_at"] for a in scene.attempts()))
    codes = [_exit_code(pod) for pod in scene.pods("credit")]
    return Seen(end, codes, scene.balance, scene.attempts(), scene.states())


def _exit_code(pod: Object) -> int:
    (status,) = pod["status"]["containerStatuses"]
    code: int = status["state"]["terminated"]["exitCode"]
    return code


def test_its_job_tries_again_and_completes(seen: Seen) -> None:
    assert seen.end == "Complete"
    assert set(seen.states.values()) == {"done"}


def test_there_is_one_effect(seen: Seen) -> None:
    assert seen.balance == 10


def test_the_first_try_ends_as_one_that_may_be_repeated(seen: Seen) -> None:
    assert seen.codes[0] in {69, 75}, seen.attempts
    assert seen.codes[-1] == 0


def test_each_attempt_has_an_end(seen: Seen) -> None:
    assert [attempt["outcome"] for attempt in seen.attempts][-1] == "applied"
    assert seen.attempts[0]["outcome"] in {"failed", "lost"}
