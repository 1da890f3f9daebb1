"""What the ledger says of a job, and what its CronJob says where the ledger does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from k8sjob.backfill.basis import basis_of, check_cronjob
from k8sjob.errors import ConfigError, InvalidKey, K8sjobError
from k8sjob.ledger.known import Known
from k8sjob.period import Cycle
from tests.backfill.given import JOB, NOW, TRACKED, asked, cron, plan, told, version
from tests.kube.made import template

UNTRACKED = Known(job=JOB, now=NOW)


def test_a_tracked_job_goes_by_what_the_reconciler_saw() -> None:
    known = Known(
        job=JOB,
        now=NOW,
        cycle=Cycle.DAY,
        zone="Europe/Rome",
        versions=[version("0 2 * * *", "Europe/Rome")],
        done_until=TRACKED,
        grace_s=60.0,
        floor="2026-09-02",
    )
    read = basis_of(known, cron("0 5 * * *", zone="Asia/Tokyo", generation=7))
    assert (read.cycle, read.zone, read.tracked) == (Cycle.DAY, "Europe/Rome", True)
    assert (read.versions, read.done_until) == (known.versions, TRACKED)
    assert (read.grace_s, read.floor, read.edited) == (60.0, "2026-09-02", False)


def test_an_untracked_job_goes_by_its_cronjob_since_its_creation() -> None:
    read = basis_of(UNTRACKED, cron("0 5 * * *", zone="Asia/Tokyo", created="2026-09-10T21:00:00Z"))
    assert (read.cycle, read.zone, read.tracked) == (Cycle.SCHEDULED, "Asia/Tokyo", False)
    assert told(plan(asked("2026-09-10", "2026-09-13"), read)) == [
        ("up to 2026-09-10 21:00:00Z", "refuse"),
        ("2026-09-11T20:00:00Z", "create"),
        ("2026-09-12T20:00:00Z", "create"),
    ]


def test_a_cronjob_without_a_zone_is_read_in_utc() -> None:
    read = basis_of(UNTRACKED, cron())
    assert (read.zone, read.place) == ("Etc/UTC", "Etc/UTC")


def test_an_untracked_cronjob_that_was_edited_says_so() -> None:
    assert basis_of(UNTRACKED, cron(generation=2)).edited
    assert not basis_of(UNTRACKED, cron(generation=1)).edited


@pytest.mark.parametrize(
    "given",
    [
        {"annotations": {"k8sjob.io/cycle": "week"}},
        {"env": [{"name": "K8SJOB_CYCLE", "value": "week"}]},
    ],
)
def test_the_cycle_of_an_untracked_job_is_what_its_cronjob_says(given: dict[str, Any]) -> None:
    assert basis_of(UNTRACKED, cron(**with_env(given))).cycle is Cycle.WEEK


def with_env(given: dict[str, Any]) -> dict[str, Any]:
    """Put ``env`` into the template's container."""
    env = given.pop("env", None)
    if env is None:
        return given
    made = template()
    made["spec"]["template"]["spec"]["containers"][0]["env"] = env
    return given | {"template": made}


def test_the_ledgers_cycle_wins() -> None:
    known = replace(UNTRACKED, cycle=Cycle.MONTH)
    assert basis_of(known, cron(annotations={"k8sjob.io/cycle": "week"})).cycle is Cycle.MONTH


@pytest.mark.parametrize(
    "given",
    [
        {"annotations": {"k8sjob.io/cycle": "fortnight"}},
        {"env": [{"name": "K8SJOB_CYCLE", "value": "fortnight"}]},
    ],
)
def test_a_cycle_that_does_not_parse_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises((ConfigError, InvalidKey), match="fortnight"):
        basis_of(UNTRACKED, cron(**with_env(given)))


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"annotations": {"k8sjob.io/job": "billing/credit"}},
        {"annotations": {"k8sjob.io/job": "credit"}},
        {"env": [{"name": "K8SJOB_JOB", "value": "billing/credit"}]},
        {"env": [{"name": "OTHER", "value": "x"}, {"name": "K8SJOB_JOB", "valueFrom": {}}]},
    ],
)
def test_the_template_of_the_job_is_taken(given: dict[str, Any]) -> None:
    check_cronjob(JOB, cron(**with_env(given)))


@pytest.mark.parametrize(
    "given",
    [
        {"annotations": {"k8sjob.io/job": "billing/other"}},
        {"annotations": {"k8sjob.io/job": "other"}},
        {"env": [{"name": "K8SJOB_JOB", "value": "other"}]},
    ],
)
def test_the_template_of_another_job_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(K8sjobError, match=r"says that it is the job billing/other, not billing/cr"):
        check_cronjob(JOB, cron(**with_env(given)))
