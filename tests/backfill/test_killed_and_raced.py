"""Whoever is killed, and whoever does the same at the same time: it comes to one Job a period."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from k8sjob.backfill import points
from k8sjob.backfill.apply import Carrying, Step, Terms
from k8sjob.backfill.asked import Asked
from k8sjob.backfill.basis import basis_of
from k8sjob.backfill.gather import Place, find_cronjob, survey
from k8sjob.backfill.launch import Launcher
from k8sjob.key import JobName
from k8sjob.kube.client import Cluster
from k8sjob.ledger import settings
from k8sjob.ledger.launches import open_launches
from k8sjob.ledger.read import open_reader
from tests.backfill.conftest import JOB, World, day, name

if TYPE_CHECKING:
    from collections.abc import Callable

_KILLED = """
import os, signal, sys
from k8sjob.backfill import points
from k8sjob.cli.main import main
def at(point):
    if point == os.environ["KILL_AT"]:
        os.kill(os.getpid(), signal.SIGKILL)
points.hook = at
main(sys.argv[1:])
"""


def killed(world: World, point: str, *args: str) -> None:
    """Run the command in a process of its own that is killed at a point."""
    env = os.environ | {"K8SJOB_DSN": world.db.dsn("operator"), "KILL_AT": point}
    command = ["backfill", JOB, "--kubeconfig", world.kubeconfig, *args]
    ended = subprocess.run(
        [sys.executable, "-c", _KILLED, *command],
        env=env,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()


def test_killed_between_note_and_create_it_comes_to_the_same_job(world: World) -> None:
    flags = ("--from", day(1), "--to", day(1))
    killed(world, "noted", *flags)
    assert world.api.jobs() == []
    assert [row[2:5] for row in world.launches()] == [(1, name(1), False)]
    told = world.call(*flags)
    assert (told.code, world.api.job_names()) == (0, [name(1)])
    assert [row[2:5] for row in world.launches()] == [(1, name(1), True)]


def test_killed_right_after_the_create_it_comes_to_the_same_job(world: World) -> None:
    flags = ("--from", day(1), "--to", day(1))
    killed(world, "created", *flags)
    assert [row[2:5] for row in world.launches()] == [(1, name(1), False)]
    told = world.call(*flags)
    assert (told.lines[0][1], world.api.job_names()) == ("wait", [name(1)])


def test_killed_right_after_the_create_a_job_that_failed_has_a_next_number(world: World) -> None:
    flags = ("--from", day(1), "--to", day(1))
    killed(world, "created", *flags)
    world.finish(well=False)
    world.call(*flags)
    assert world.api.job_names() == [name(1), name(1, 2)]


@pytest.fixture
def rival(world: World) -> Callable[[ExitStack], Carrying]:
    """Plan all of the last three days for somebody, and leave it to them to begin."""

    def make(stack: ExitStack) -> Carrying:
        address = settings.parse(world.db.dsn("operator"), "test")
        asked = Asked(job=JobName.parse(JOB), start=day(3), end=day(1))
        place = Place(
            stack.enter_context(closing(open_reader(address))),
            stack.enter_context(closing(Cluster.connect(kubeconfig=world.kubeconfig))),
            stack.enter_context(closing(open_launches(address))),
        )
        cronjob = find_cronjob(place, asked.job)
        found = survey(place, asked, basis_of(place.reader.known(asked.job), cronjob))
        assert place.cluster is not None
        terms = Terms(by="somebody", parallelism=9)
        return Carrying(place, Launcher(place.cluster, place.launches), asked, found, terms)

    return make


def test_two_at_once_make_one_job_a_period(
    world: World,
    rival: Callable[[ExitStack], Carrying],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both = threading.Barrier(2, timeout=60)
    # Nobody creates before the other one, too, has looked and noted.
    monkeypatch.setattr(points, "hook", lambda point: both.wait() if point == "noted" else None)
    steps: list[list[Step]] = []
    with ExitStack() as stack:
        planned = [rival(stack), rival(stack)]
        threads = [
            threading.Thread(target=lambda one=one: steps.append(list(one.steps())))
            for one in planned
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert world.api.job_names() == [name(3), name(2), name(1)]
    assert [row[2:5] for row in world.launches()] == [(1, name(n), True) for n in (3, 2, 1)]
    first, second = ([step.what for step in one] for one in steps)
    assert len(first) == len(second) == 3
    assert all({a, b} == {"created", "exists"} for a, b in zip(first, second, strict=True))
