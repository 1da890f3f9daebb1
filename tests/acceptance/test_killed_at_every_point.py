"""Eight processes, each killed (SIGKILL) at a named point of its run; then an ordinary run.

The points are those of ``k8sjob/run/points.py``, and ``sent``: COMMIT was sent, its answer was not
read. Each process tells its parent on a socket that it is at the point, and stays there; the parent
kills it and sees signal 9 in its exit status.

After the retry each effect is there once: never zero times, never twice. Between the two it is
there or not as the point says, exactly. And each try that reached the ledger has its row; those of
the killed have no end, which is how a try that was killed is told from one that failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.acceptance.kills import DAY, LEFT, PERIODS, Scene
from tests.acceptance.processes import first_at

if TYPE_CHECKING:
    from tests.acceptance.processes import Child, Processes
    from tests.fix_stores import Store

BEFORE_COMMIT = ["claimed", "worked", "committing"]
POINTS = ["started", *BEFORE_COMMIT, "committed"]


@pytest.fixture
def scene(store: Store, processes: Processes) -> Scene:
    return Scene(store, processes)


@pytest.mark.parametrize("point", BEFORE_COMMIT)
def test_eight_on_one_key_one_killed_at_the_point_the_others_while_they_wait(
    scene: Scene, point: str
) -> None:
    children = scene.started([DAY] * 8)
    holder = first_at(children, point)
    scene.wait_until_they_wait(7)

    waiting = [child for child in children if child is not holder]
    for child in [*waiting, holder]:
        child.kill()

    expect_nothing(scene, children)
    expect_one_after_the_retry(scene, "applied")


@pytest.mark.parametrize("point", ["started", "committed"])
def test_eight_on_one_key_all_killed_at_the_point(scene: Scene, point: str) -> None:
    children = scene.started([DAY] * 8)
    for child in children:
        child.wait_for(point)
    for child in children:
        child.kill()

    scene.wait_until_the_server_knows()
    if point == "started":
        expect_nothing(scene, children)
        expect_one_after_the_retry(scene, "applied")
    else:
        # One has applied and seven were duplicates; none of them came to write its end.
        assert scene.effects() == {DAY: 10}
        assert scene.without_end() == {child.pid for child in children}
        expect_one_after_the_retry(scene, "duplicate")


def test_eight_on_one_key_each_killed_as_it_holds_the_claim(scene: Scene) -> None:
    children = scene.started([DAY] * 8)
    for turn in range(8):
        alive = [child for child in children if child.process.returncode is None]
        first_at(alive, BEFORE_COMMIT[turn % 3]).kill()  # and the next one gets the key

    expect_nothing(scene, children)
    expect_one_after_the_retry(scene, "applied")


@pytest.mark.parametrize("point", POINTS)
def test_eight_on_eight_keys_of_one_job_at_one_point(scene: Scene, point: str) -> None:
    children = scene.started(PERIODS)
    kill_all_at(scene, children, point)

    scene.wait_until_the_server_knows()
    left = LEFT[point]
    assert scene.effects() == (dict.fromkeys(PERIODS, left) if left else {})
    assert scene.done() == (dict.fromkeys(PERIODS, "done") if left else {})
    assert scene.without_end() == {child.pid for child in children}

    outcomes = scene.retry(PERIODS)
    assert outcomes == ["duplicate" if left else "applied"] * 8
    assert scene.effects() == dict.fromkeys(PERIODS, 10)
    assert scene.done() == dict.fromkeys(PERIODS, "done")
    assert len(scene.without_end()) == 8


def test_a_mixture_of_points_and_targets_on_eight_keys(scene: Scene) -> None:
    (scene.processes.folder / "credit.sql").write_text(CREDIT_SQL[scene.store.kind])
    function, coroutine = (f"tests.acceptance.child:credit_own{x}" for x in ("", "_async"))
    sent = "sent" if scene.store.kind == "postgres" else "committed"
    plan = [
        ("started", function),
        ("claimed", coroutine),
        ("claimed", "credit.sql"),
        ("worked", function),
        ("worked", "credit.sql"),
        ("committing", coroutine),
        (sent, "credit.sql"),
        ("committed", coroutine),
    ]
    points, targets = zip(*plan, strict=True)
    children = scene.started(PERIODS, targets)
    for child, point in zip(children, points, strict=True):
        child.wait_for(point)
        child.kill()

    scene.wait_until_the_server_knows()
    assert scene.effects() == {
        day: LEFT[at] for day, at in zip(PERIODS, points, strict=True) if LEFT[at]
    }
    retries = [scene.start(*each) for each in zip(PERIODS, targets, strict=True)]
    assert [retry.end().code for retry in retries] == [0] * 8
    assert scene.effects() == dict.fromkeys(PERIODS, 10)
    assert sorted(map(str, scene.attempts().values())) == (
        ["None"] * 8 + ["applied"] * 6 + ["duplicate"] * 2
    )


_CREDIT_SQL = """\
INSERT INTO accounts VALUES ({period}, 10)
ON CONFLICT (name) DO UPDATE SET balance = accounts.balance + 10;
"""
CREDIT_SQL = {
    "postgres": _CREDIT_SQL.format(period="k8sjob.current_period()"),
    "sqlite": _CREDIT_SQL.format(period="k8sjob_current_period()"),
}


def kill_all_at(scene: Scene, children: list[Child], point: str) -> None:
    """Kill all of them at the point: in turn where the store lets one at a time come to it."""
    if scene.store.kind == "sqlite" and point in BEFORE_COMMIT:
        waiting = set(children)
        while waiting:
            child = first_at(waiting, point)
            child.kill()
            waiting.remove(child)
        return
    for child in children:
        child.wait_for(point)
    for child in children:
        child.kill()


def expect_nothing(scene: Scene, children: list[Child]) -> None:
    """See that nothing is left of them but that they were started."""
    scene.wait_until_the_server_knows()
    assert (scene.effects(), scene.done()) == ({}, {})
    assert scene.without_end() == {child.pid for child in children}


def expect_one_after_the_retry(scene: Scene, outcome: str) -> None:
    """Run the key in the ordinary way, and see its effect once."""
    told = scene.start().end()
    assert told.code == 0, told
    assert told.out.startswith(f"billing/daily-credit:{DAY} {outcome}"), told
    assert scene.effects() == {DAY: 10}
    assert scene.done() == {DAY: "done"}
    assert len(scene.without_end()) == 8
    assert [o for o in scene.attempts().values() if o] == [outcome]
