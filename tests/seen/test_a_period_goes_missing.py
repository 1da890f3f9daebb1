from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.seen.jobs import OWNER
from tests.seen.play import BUSY, DONE, UNWATCHED, WATCHED

if TYPE_CHECKING:
    from tests.seen.play import Seen

each = pytest.mark.parametrize("job", [WATCHED, UNWATCHED, BUSY])


@each
def test_the_alert_names_the_job_and_its_oldest_missing_period(job: str, seen: Seen) -> None:
    namespace, _, cronjob = job.partition("/")
    labels = {"namespace": namespace, "cronjob": cronjob, "ledger": "default"}
    labels |= {"severity": "warning", "owner": OWNER}
    notice, period = seen.firing[job], seen.jobs[job].period()
    assert labels.items() <= notice.labels.items()
    assert f" {job} " in notice.annotations["summary"]
    assert f"The oldest is the period of {period}." in notice.annotations["description"]
    assert f"kubectl k8sjob describe {job}:{period}\n" in notice.annotations["description"]


def test_the_team_that_owns_the_job_is_told(seen: Seen) -> None:
    assert {notice.path for notice in seen.notices} == {f"/{OWNER}"}


def test_it_comes_where_a_reconciler_stores_the_period_meanwhile(seen: Seen) -> None:
    assert seen.stored[WATCHED] == {seen.jobs[WATCHED].period(): "open"}


@pytest.mark.parametrize("job", [UNWATCHED, BUSY])
def test_it_comes_where_no_reconciler_has_stored_anything(job: str, seen: Seen) -> None:
    assert seen.stored[job] == {}


def test_nobody_is_told_of_a_job_whose_periods_are_done(seen: Seen) -> None:
    assert DONE in seen.jobs
    assert {notice.job for notice in seen.notices} == {WATCHED, UNWATCHED, BUSY}


def test_prometheus_has_no_trouble_with_the_rules_or_the_samples(seen: Seen) -> None:
    assert seen.troubles == {}
