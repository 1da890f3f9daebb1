"""Two reconcilers whose scopes overlap: each has its own last list, and the jobs are the same."""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import pytest

from tests.reconcile.conftest import at, cronjob, written
from tests.reconcile.paced import Paced, Reconciler

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from tests.fix_stores import Database

DAY = "2026-09-13"
HALF_PAST = "30 * * * *"


@pytest.fixture
def two(db: Database) -> Iterator[tuple[Reconciler, Reconciler]]:
    """Give a reconciler of all namespaces and one of the job's own; both have seen the job."""
    with ExitStack() as stack:
        both = [
            Reconciler(db, watcher=stack.enter_context(closing(Paced(db.dsn("operator")))))
            for _ in range(2)
        ]
        for each, scope in zip(both, ("*", "billing"), strict=True):
            each.scope = scope
            each.pass_at("12:10" if scope == "*" else "12:11")
        yield both[0], both[1]


def versions(desk: Reconciler) -> list[tuple[str, datetime]]:
    query = "SELECT expr, earliest_from FROM k8sjob.schedule_versions ORDER BY job, n"
    with desk.db.connect("admin") as conn:
        return conn.execute(query).fetchall()


def test_a_version_begun_by_the_other_meanwhile_is_planned_on(
    two: tuple[Reconciler, Reconciler],
) -> None:
    wide, narrow = two
    first, second = at(f"{DAY} 14:45"), at(f"{DAY} 14:48")
    narrow.cronjobs = [cronjob(schedule=HALF_PAST, generation=2, managed=(written(first),))]
    wide.cronjobs = [cronjob(schedule="5 * * * *", generation=3, managed=(written(second),))]
    wide.watcher.looked = lambda: narrow.pass_at("14:46")
    report = wide.pass_at("14:50")
    assert report.ok
    assert [(line.action, line.reason) for line in report.lines if line.action == "schedule"] == [
        ("schedule", "30 * * * * Etc/UTC → 5 * * * * Etc/UTC")
    ]
    assert [(expr, since) for expr, since in versions(wide)[1:]] == [
        (HALF_PAST, first),
        ("5 * * * *", second),
    ]


def test_a_job_of_which_the_other_has_a_later_list_is_left_to_it(
    two: tuple[Reconciler, Reconciler],
) -> None:
    wide, narrow = two
    other = cronjob(namespace="other", uid="uid-9", created=at(f"{DAY} 13:20"), managed=())
    wide.cronjobs = [cronjob(), other]
    edit = at(f"{DAY} 14:45")
    narrow.cronjobs = [cronjob(schedule=HALF_PAST, generation=2, managed=(written(edit),))]
    wide.watcher.looked = lambda: narrow.pass_at("14:46")
    report = wide.pass_at("14:44")
    assert report.ok
    told = [line.what for line in report.lines if line.action == "schedule"]
    assert told == ["other/credit"]
    assert [expr for expr, _ in versions(wide)] == ["0 * * * *", HALF_PAST, "0 * * * *"]
    wide.cronjobs = []  # and it is not called gone by an older list either
    wide.pass_at("14:45")
    assert wide.value("SELECT count(*) FROM k8sjob.jobs WHERE gone_at IS NULL") == 1


def test_the_first_list_of_another_scope_knows_what_was_seen_last(
    two: tuple[Reconciler, Reconciler],
) -> None:
    """An edit is no older than the last list that wrote the job down, in whichever scope."""
    _, narrow = two
    narrow.cronjobs = [cronjob(schedule=HALF_PAST, generation=2, managed=())]
    narrow.pass_at("13:10")
    narrow.scope = "billing,shop"
    narrow.cronjobs = [cronjob(schedule="5 * * * *", generation=3, managed=())]
    narrow.pass_at("14:10")
    assert versions(narrow)[2] == ("5 * * * *", at(f"{DAY} 13:09:30"))
