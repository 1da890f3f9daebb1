"""A job of ten parts goes on where a killed process has left it; two processes share the parts."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from tests.acceptance.child import NAMES
from tests.acceptance.kills import DAY, JOB, Scene

if TYPE_CHECKING:
    from tests.acceptance.processes import Processes
    from tests.fix_stores import Store

TARGETS = ["tests.acceptance.child:ten_parts", "tests.acceptance.child:ten_parts_async"]


@pytest.fixture
def scene(store: Store, processes: Processes) -> Scene:
    return Scene(store, processes)


def once(names: list[str]) -> dict[str, int]:
    """Return the effects of these parts, each done once."""
    return dict.fromkeys(names, 10)


def doers(scene: Scene) -> dict[str, UUID]:
    """Return which attempt has done each part, and the job itself."""
    rows = scene.store.query(
        f"SELECT job, attempt FROM {scene.store.table('periods')} WHERE state = 'done'"
    )
    return {job.removeprefix(f"{JOB}/"): UUID(str(attempt)) for job, attempt in rows}


def attempts(scene: Scene) -> dict[int, UUID]:
    """Return the attempt of each process."""
    rows = scene.store.query(f"SELECT pid, id FROM {scene.store.table('attempts')}")
    return {pid: UUID(str(attempt)) for pid, attempt in rows}


@pytest.mark.parametrize("target", TARGETS)
def test_killed_after_the_fourth_part_it_goes_on_with_the_fifth(scene: Scene, target: str) -> None:
    first = scene.hold(target=target)
    first.wait_for("after part-04")
    first.kill()
    scene.wait_until_the_server_knows()
    assert scene.effects() == once(NAMES[:4])

    second = scene.start(target=target)
    assert second.end().code == 0
    assert scene.effects() == once(NAMES)
    by = attempts(scene)
    assert doers(scene) == (
        dict.fromkeys(NAMES[:4], by[first.pid]) | dict.fromkeys([*NAMES[4:], JOB], by[second.pid])
    )
    assert scene.attempts() == {first.pid: None, second.pid: "applied"}


@pytest.mark.parametrize("target", TARGETS)
def test_killed_in_the_fifth_part_it_does_that_one_again(scene: Scene, target: str) -> None:
    first = scene.hold(target=target)
    first.wait_for("in part-05")
    first.kill()
    scene.wait_until_the_server_knows()
    assert scene.effects() == once(NAMES[:4])

    second = scene.start(target=target)
    assert second.end().code == 0
    assert scene.effects() == once(NAMES)
    assert doers(scene)["part-05"] == attempts(scene)[second.pid]


def test_killed_after_the_last_part_only_the_jobs_row_is_missing(scene: Scene) -> None:
    first = scene.hold(target=TARGETS[0])
    first.wait_for("committing")  # the row of the job, after all parts
    first.kill()
    scene.wait_until_the_server_knows()
    assert scene.effects() == once(NAMES)
    assert set(doers(scene)) == set(NAMES)

    assert scene.start(target=TARGETS[0]).end().code == 0
    assert scene.effects() == once(NAMES)
    assert set(doers(scene)) == {*NAMES, JOB}


def test_killed_again_and_again_it_comes_to_its_end(scene: Scene) -> None:
    for number, name in enumerate(NAMES, start=1):
        child = scene.hold(target=TARGETS[number % 2])
        child.wait_for(f"after {name}")
        child.kill()
        scene.wait_until_the_server_knows()
        assert scene.effects() == once(NAMES[:number])
    assert scene.start(target=TARGETS[0]).end().code == 0
    assert scene.effects() == once(NAMES)
    assert len(scene.without_end()) == 10


@pytest.mark.parametrize("target", TARGETS)
def test_two_at_once_share_the_parts_and_do_each_once(scene: Scene, target: str) -> None:
    one, other = (scene.hold(target=target) for _ in range(2))
    one.wait_for("after part-01")
    other.wait_for("after part-02")  # it finds the first one done, and does the second
    one.wait_for("after part-03")
    other.wait_for("after part-04")
    for child in (one, other):
        child.release()

    assert sorted(child.end().code for child in (one, other)) == [0, 0]
    assert scene.effects() == once(NAMES)
    by, at = attempts(scene), doers(scene)
    assert [at[name] for name in NAMES[:4]] == [by[one.pid], by[other.pid]] * 2
    assert sorted(map(str, scene.attempts().values())) == ["applied", "duplicate"]


def test_two_at_once_in_the_same_part_the_second_waits_and_then_goes_on(scene: Scene) -> None:
    one = scene.hold(target=TARGETS[0])
    one.wait_for("in part-01")
    other = scene.start(target=TARGETS[0])
    scene.wait_until_they_wait(1)
    assert scene.effects() == {}
    one.release()

    assert [child.end().code for child in (one, other)] == [0, 0]
    assert scene.effects() == once(NAMES)
    assert doers(scene)["part-01"] == attempts(scene)[one.pid]
    assert scene.done() == {DAY: "done"}
