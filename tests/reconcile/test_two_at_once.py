"""Two reconcilers at once, and one that is killed: nothing is written twice, nothing is lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.errors import Unavailable
from k8sjob.kube import words
from k8sjob.kube.client import Cluster
from k8sjob.kube.objects import CronJob
from tests.fix_stores import wait_until_blocked
from tests.kube import made
from tests.kube.apiserver import serving
from tests.reconcile.conftest import JOB, Desk, at, cronjob, periods
from tests.reconcile.paced import WAIT, Paced, Reconciler, after, at_once, meet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from pathlib import Path

    from k8sjob.reconcile.report import Report
    from tests.fix_stores import Connection, Database

DAY = "2026-09-13"

#: All that a pass may have changed.
STORED = """SELECT (SELECT json_agg(j ORDER BY j.job) FROM k8sjob.jobs j),
                   (SELECT json_agg(v ORDER BY v.job, v.n) FROM k8sjob.schedule_versions v),
                   (SELECT json_agg(p ORDER BY p.job, p.period) FROM k8sjob.periods p),
                   (SELECT json_agg(s ORDER BY s.scope) FROM k8sjob.scopes s)"""
RECONCILERS = """SELECT pid FROM pg_stat_activity
                  WHERE datname = current_database() AND application_name = 'k8sjob reconciler'"""


@pytest.fixture
def two(db: Database) -> Iterator[tuple[Reconciler, Reconciler]]:
    """Give two reconcilers of one ledger, which no pass has seen yet."""
    with ExitStack() as stack:
        made_two = [
            Reconciler(db, watcher=stack.enter_context(closing(Paced(db.dsn("operator")))))
            for _ in range(2)
        ]
        yield made_two[0], made_two[1]


def actions(*reports: Report) -> list[str]:
    return sorted(line.action for report in reports for line in report.lines)


def stored(desk: Desk) -> Any:
    with desk.db.connect("admin") as conn:
        return conn.execute(STORED).fetchone()


def versions(desk: Desk) -> int:
    return int(desk.value("SELECT count(*) FROM k8sjob.schedule_versions WHERE job = %s", JOB))


def mark(desk: Desk) -> datetime:
    found: datetime = desk.value("SELECT done_until FROM k8sjob.jobs WHERE job = %s", JOB)
    return found


# ------------------------------------------------------------------------------------------ lists


def test_the_same_list_is_taken_in_once(two: tuple[Reconciler, Reconciler]) -> None:
    one, other = two
    meet(one, other, "looked")
    reports = at_once(one.one_pass, other.one_pass)
    assert actions(*reports) == ["schedule", "stale"]
    assert all(report.ok for report in reports)
    assert versions(one) == 1
    assert one.value("SELECT last_complete_list_at FROM k8sjob.scopes") == one.clock


def test_the_same_list_of_two_scopes_begins_one_version(
    two: tuple[Reconciler, Reconciler],
) -> None:
    one, other = two
    other.scope = "billing"
    meet(one, other, "looked")
    reports = at_once(one.one_pass, other.one_pass)
    assert actions(*reports) == ["schedule"]
    assert all(report.ok for report in reports)
    assert versions(one) == 1
    assert one.value("SELECT count(*) FROM k8sjob.scopes") == 2


@pytest.mark.parametrize("listed", ["before the edit", "nothing"])
def test_a_list_that_began_earlier_and_comes_later_changes_nothing(
    two: tuple[Reconciler, Reconciler], listed: str
) -> None:
    slow, quick = two
    quick.pass_at("12:10")
    quick.clock = at(f"{DAY} 14:39")
    quick.edit(schedule="30 * * * *")
    slow.cronjobs = [cronjob()] if listed == "before the edit" else []
    left: list[Any] = []

    def overtakes() -> None:
        quick.pass_at("14:41")
        left.append(stored(quick))

    slow.watcher.looked = overtakes
    report = slow.pass_at("14:40")
    assert actions(report) == ["stale"]
    assert left == [stored(quick)]
    assert versions(quick) == 2
    assert quick.missing() == ["13:00", "14:00"]


def test_a_list_that_began_later_is_planned_anew_on_what_the_earlier_one_left(
    two: tuple[Reconciler, Reconciler],
) -> None:
    slow, quick = two
    slow.edit(schedule="30 * * * *")
    slow.watcher.looked = lambda: quick.pass_at("12:10")
    report = slow.pass_at("12:20")
    assert [(line.action, line.reason) for line in report.lines] == [
        ("schedule", "0 * * * * Etc/UTC → 30 * * * * Etc/UTC")
    ]
    assert versions(slow) == 2


# ------------------------------------------------------------------------------- what is due


def test_the_same_periods_stored_by_both_have_one_row_and_one_event_each(
    two: tuple[Reconciler, Reconciler],
) -> None:
    one, other = two
    one.pass_at("12:10")
    came = meet(one, other, "expects")
    reports = at_once(
        lambda: one.pass_at("16:40:00"), after(came, lambda: other.pass_at("16:40:10"))
    )
    assert one.missing() == ["13:00", "14:00", "15:00", "16:00"]
    assert actions(*reports).count("missing") == 4
    events = "SELECT count(*), count(DISTINCT period) FROM k8sjob.events WHERE kind = 'expected'"
    with one.db.connect("admin") as conn:
        assert conn.execute(events.encode()).fetchone() == (4, 4)
    assert mark(one) == at(f"{DAY} 16:00")


def test_the_same_catch_up_is_one_job_and_one_launch(
    two: tuple[Reconciler, Reconciler], tmp_path: Path
) -> None:
    one, other = two
    raw = made.cronjob(
        JOB, "0 * * * *", created="2026-09-01T00:00:00Z", annotations={words.CATCH_UP: "every"}
    )
    with serving() as api, ExitStack() as stack:
        config = api.kubeconfig(tmp_path)
        for each in two:
            each.cronjobs = [CronJob.parse(raw)]
            each.cluster = stack.enter_context(closing(Cluster.connect(kubeconfig=config)))
        one.pass_at("12:10")
        assert "left" in actions(one.pass_at("13:40", budget=0))
        came = meet(one, other, "notes")
        reports = at_once(
            lambda: one.pass_at("13:41:00"), after(came, lambda: other.pass_at("13:41:10"))
        )
        assert actions(*reports) == ["started", "started"]
        assert api.asked().count(("create", "jobs")) == 2
        (there,) = api.jobs()
    with one.db.connect("admin") as conn:
        found = conn.execute("SELECT period, try, k8s_name, uid FROM k8sjob.launches").fetchall()
    meta = there["metadata"]
    assert found == [(f"{DAY}T13:00:00Z", 1, meta["name"], meta["uid"])]


# ------------------------------------------------------------------------ a claim in flight


def claim_of(desk: Desk, time: str) -> Connection:
    """Return a connection with a claim that is not committed, of which no attempt tells."""
    conn = desk.db.connect()
    conn.execute("SELECT k8sjob.claim(%s, %s)", (JOB, *periods(DAY, [time])))
    return conn


@pytest.mark.parametrize("time", ["13:00", "14:00"])
def test_a_period_whose_claim_is_under_way_is_left_and_the_others_are_stored(
    desk: Desk, time: str
) -> None:
    desk.pass_at("12:10")
    before = mark(desk)
    claim_of(desk, time)
    report = desk.pass_at("15:40")
    told = [line.what for line in report.lines if line.action == "running"]
    assert told == [f"{JOB}:{DAY}T{time}:00Z"]
    assert report.ok
    assert desk.missing() == [each for each in ["13:00", "14:00", "15:00"] if each != time]
    assert mark(desk) == before


def test_once_it_has_committed_it_stays_done(desk: Desk) -> None:
    desk.pass_at("12:10")
    conn = claim_of(desk, "13:00")
    desk.pass_at("14:40")
    conn.commit()
    assert desk.pass_at("14:41").lines == []
    assert desk.rows() == {f"{DAY}T13:00:00Z": "done", f"{DAY}T14:00:00Z": "open"}
    assert mark(desk) == at(f"{DAY} 14:00")


def test_once_it_has_rolled_back_it_becomes_open(desk: Desk) -> None:
    desk.pass_at("12:10")
    conn = claim_of(desk, "13:00")
    desk.pass_at("14:40")
    conn.rollback()
    assert actions(desk.pass_at("14:41")) == ["missing"]
    assert desk.missing() == ["13:00", "14:00"]
    assert mark(desk) == at(f"{DAY} 14:00")


# ---------------------------------------------------------------------------------- killed


def kill_blocked_pass(desk: Desk, begin: Callable[[], Report]) -> None:
    """Let a pass come to where it writes its job's row, and end its connection there."""
    with desk.db.connect("admin") as holder, ThreadPoolExecutor(1) as threads:
        holder.execute("SELECT FROM k8sjob.jobs WHERE job = %s FOR UPDATE", (JOB,))
        dies = threads.submit(begin)
        try:
            (pid,) = holder.execute(RECONCILERS).fetchone() or (0,)
            wait_until_blocked(holder, pid)
        finally:
            terminate(desk)
        with pytest.raises(Unavailable):
            dies.result(WAIT)


def terminate(desk: Desk) -> None:
    with desk.db.connect("admin") as conn:
        conn.execute(f"SELECT pg_terminate_backend(pid, 30000) FROM ({RECONCILERS}) s".encode())


def test_one_that_is_killed_while_it_takes_a_list_in_loses_nothing(desk: Desk) -> None:
    desk.pass_at("12:10")
    before = stored(desk)
    desk.clock = at(f"{DAY} 13:10")
    desk.edit(schedule="20 * * * *")
    kill_blocked_pass(desk, lambda: desk.pass_at("14:51"))
    assert stored(desk) == before
    with closing(Paced(desk.db.dsn("operator"))) as anew:
        again = Reconciler(desk.db, watcher=anew, cronjobs=desk.cronjobs)
        report = again.pass_at("14:51")
        assert actions(report) == ["missing", "missing", "missing", "schedule"]
    assert desk.missing() == ["13:00", "13:20", "14:20"]
    assert versions(desk) == 2


def test_one_that_is_killed_before_it_stores_what_is_due_loses_nothing(
    two: tuple[Reconciler, Reconciler],
) -> None:
    dies, lives = two
    dies.pass_at("12:10")
    lives.watcher.close()  # only the one that is to die is there
    dies.watcher.expects = lambda: terminate(dies)
    with pytest.raises(Unavailable):
        dies.pass_at("14:40")
    assert dies.rows() == {}
    with closing(Paced(dies.db.dsn("operator"))) as anew:
        again = Reconciler(dies.db, watcher=anew)
        assert actions(again.pass_at("14:41")) == ["missing", "missing"]
    assert dies.missing() == ["13:00", "14:00"]
