"""A Job of catch-up is noted, made, and noted as made: what comes in between loses nothing."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.errors import Unavailable
from k8sjob.kube import words
from k8sjob.kube.client import Cluster
from k8sjob.kube.objects import CronJob
from tests.kube import made
from tests.kube.apiserver import ApiServer, serving
from tests.reconcile.conftest import JOB
from tests.reconcile.paced import Paced, Reconciler

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.fix_stores import Database

NAME = "credit-bf-20260913t1300-0-1"


@pytest.fixture
def api() -> Iterator[ApiServer]:
    with serving() as server:
        yield server


@pytest.fixture
def desk(db: Database, api: ApiServer, tmp_path: Path) -> Iterator[Reconciler]:
    """Give a reconciler whose job catches up, one Job in a week; 13:00 was missed."""
    policy = {words.CATCH_UP: "every", words.CATCH_UP_MAX_COUNT: "1"}
    raw = made.cronjob(JOB, "0 * * * *", annotations=policy)
    config = api.kubeconfig(tmp_path)
    with (
        closing(Paced(db.dsn("operator"))) as watcher,
        closing(Cluster.connect(kubeconfig=config, pause=lambda _: None)) as cluster,
    ):
        one = Reconciler(db, cronjobs=[CronJob.parse(raw)], watcher=watcher, cluster=cluster)
        one.pass_at("12:10")
        yield one


def launches(desk: Reconciler) -> list[Any]:
    with desk.db.connect("admin") as conn:
        return conn.execute("SELECT k8s_name, uid IS NOT NULL FROM k8sjob.launches").fetchall()


def test_a_job_that_was_noted_and_not_made_is_made_by_the_next_pass(
    desk: Reconciler, api: ApiServer
) -> None:
    api.rules = {("list", "jobs")}  # creating Jobs is forbidden
    assert not desk.pass_at("13:40").ok
    assert launches(desk) == [(NAME, False)]
    api.rules = None
    assert desk.pass_at("13:41").ok
    assert api.job_names() == [NAME]
    assert launches(desk) == [(NAME, True)]


def test_a_job_whose_making_was_not_noted_is_not_made_twice(
    desk: Reconciler, api: ApiServer
) -> None:
    api.fail("create", "jobs", 0, times=5, late=True)  # made, and the answer is lost
    with pytest.raises(Unavailable):
        desk.pass_at("13:40")
    api.faults.clear()
    assert api.job_names() == [NAME]
    desk.pass_at("13:41")
    assert api.job_names() == [NAME]
    assert launches(desk) == [(NAME, True)]


def test_a_job_that_was_made_is_not_made_again_once_it_is_gone(
    desk: Reconciler, api: ApiServer
) -> None:
    desk.pass_at("13:40")
    api.remove("jobs", "billing", NAME)
    desk.pass_at("13:41")
    assert api.job_names() == []


def test_a_job_of_somebody_else_that_has_the_name_is_not_taken_for_it(
    desk: Reconciler, api: ApiServer
) -> None:
    api.add(made.job(f"billing/{NAME}"))
    report = desk.pass_at("13:40")
    (broken,) = [line.reason for line in report.lines if line.is_broken]
    assert f"a Job called billing/{NAME} is there already" in broken
    assert launches(desk) == [(NAME, False)]
