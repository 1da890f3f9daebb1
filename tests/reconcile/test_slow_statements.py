"""A statement of one job that the server gives up ends nothing for the others."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from k8sjob.errors import Unavailable
from k8sjob.ledger.settings import parse
from k8sjob.ledger.watch import open_watcher
from tests.reconcile.conftest import Desk, cronjob

if TYPE_CHECKING:
    from k8sjob.reconcile.catch_up import Launch
    from k8sjob.reconcile.seen import Named

SLOW = "billing/a-slow"
#: It returns once that connection is gone.
END = """SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
          WHERE datname = current_database() AND application_name = 'k8sjob reconciler'"""


def test_a_job_whose_statement_takes_too_long_is_broken_and_the_others_go_on(desk: Desk) -> None:
    desk.cronjobs = [cronjob(name="a-slow"), cronjob()]
    desk.pass_at("12:10")
    dsn = desk.db.dsn("operator", options="-c statement_timeout=5000")
    with closing(open_watcher(parse(dsn, "test"))) as watcher, desk.db.connect("admin") as holder:
        desk.watcher = watcher
        holder.execute("SELECT FROM k8sjob.jobs WHERE job = %s FOR UPDATE", (SLOW,))
        report = desk.pass_at("13:40")
    (broken,) = [line for line in report.lines if line.is_broken]
    assert broken.what == SLOW
    assert "statement timeout" in broken.reason
    assert desk.missing() == ["13:00"]
    assert desk.missing(SLOW) == []


class Cut(Desk):
    """A desk at which the first Job that is made costs the connection to the ledger."""

    def _launch(self, named: Named, launch: Launch) -> str:
        name = super()._launch(named, launch)
        assert self.value(END)
        return name


def test_a_connection_that_is_lost_ends_the_pass(desk: Desk) -> None:
    cut = Cut(desk.db, desk.watcher)
    policies = {"a-slow": "every", "credit": "skip"}
    cut.cronjobs = [
        cronjob(name=name, annotations={"k8sjob.io/catch-up": policy})
        for name, policy in policies.items()
    ]
    cut.pass_at("12:10")
    with pytest.raises(Unavailable):
        cut.pass_at("13:40")
    assert cut.missing() == ["13:00"]
