"""What is told of each job beside its periods."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from tests.fix_scraped import DAY, HOUR, JOB, MINUTE, text

if TYPE_CHECKING:
    from tests.fix_scraped import Scraped


def test_the_info_is_what_the_cronjob_says_of_itself(scraped: Scraped) -> None:
    scraped.track(catch_up="every", owner="payments", severity="page", zone="Europe/Rome")
    scraped.version("5 4 * * *", zone="Europe/Rome")
    assert scraped.scrape().info() == {
        "schedule": "5 4 * * *",
        "time_zone": "Europe/Rome",
        "cycle": "scheduled",
        "catch_up": "every",
        "owner": "payments",
        "severity": "page",
        "kube_cronjob": "credit",
    }


def test_a_job_that_is_not_called_as_its_cronjob_tells_both_names(scraped: Scraped) -> None:
    scraped.track(cronjob="credit-v2")
    assert scraped.scrape().info()["kube_cronjob"] == "credit-v2"


def test_a_job_that_nobody_tracks_has_all_its_series(scraped: Scraped) -> None:
    scraped.attempt("2026-09", "failed", "ops/plain")
    seen = scraped.scrape()
    assert seen.info("ops/plain") == {
        "schedule": "",
        "time_zone": "",
        "cycle": "month",
        "catch_up": "flag",
        "owner": "",
        "severity": "",
        "kube_cronjob": "",
    }
    scraped.hour_job()
    names = {name for name, labels in scraped.scrape().values if ("cronjob", "credit") in labels}
    assert names == {name for name, labels in seen.values if ("cronjob", "plain") in labels}
    for metric in ("tracked_since", "done_until", "next_period", "last_success", "blocked_since"):
        assert seen.at(metric, "ops/plain") is None


def test_marks_are_instants(scraped: Scraped) -> None:
    scraped.track()
    scraped.version(scraped.hourly, 3 * DAY, earliest=4 * DAY)
    scraped.mark(2 * HOUR)
    seen = scraped.scrape()
    assert seen.at("tracked_since") == scraped.now - 4 * DAY
    assert seen.at("done_until") == scraped.now - 2 * HOUR
    assert seen.at("next_period") == scraped.fire(-1)
    assert seen("job_suspended") == 0
    assert seen("max_duration_seconds") == 0


def test_limits_are_those_of_the_annotations(scraped: Scraped) -> None:
    scraped.hour_job(max_duration_s=1800)
    assert scraped.scrape()("max_duration_seconds") == 1800


def test_the_last_done_period_is_the_newest_and_not_the_latest_to_be_done(scraped: Scraped) -> None:
    scraped.hour_job()
    assert scraped.scrape().at("last_done_period") is None
    scraped.claim(text(scraped.fire(1)))
    scraped.claim(text(scraped.fire(4)))
    scraped.decide("skip", text(scraped.fire(0)))
    assert scraped.scrape().at("last_done_period") == scraped.fire(1)


def test_the_last_done_day_is_told_by_its_local_start(scraped: Scraped) -> None:
    scraped.track(kind="day")
    scraped.version("0 4 * * *", zone="Europe/Rome")
    scraped.claim("2026-07-13")
    done = scraped.scrape().at("last_done_period")
    assert done == datetime.fromisoformat("2026-07-12T22:00:00Z")


def test_attempts_tell_of_success_failure_and_how_long_it_took(scraped: Scraped) -> None:
    scraped.hour_job()
    seen = scraped.scrape()
    assert seen.at("last_success") is None
    assert seen("last_duration_seconds") == seen("last_start_delay_seconds") == 0
    failed = scraped.attempt(text(scraped.fire(1)), "failed")
    scraped.attempt(text(scraped.fire(1)), "lost")
    scraped.attempt(text(scraped.fire(1)), "duplicate")  # it has not worked at anything
    scraped.alter(
        "UPDATE k8sjob.attempts SET started_at = %(start)s, ended_at = %(end)s WHERE id = %(id)s",
        id=failed,
        start=scraped.fire(1) + timedelta(seconds=7),
        end=scraped.fire(1) + timedelta(seconds=49.5),
    )
    seen = scraped.scrape()
    assert seen("consecutive_failures") == 2
    assert seen("last_duration_seconds") == 42.5
    assert seen("last_start_delay_seconds") == 7
    scraped.attempt(text(scraped.fire(1)), "applied")
    seen = scraped.scrape()
    assert seen("consecutive_failures") == 0
    success = seen.at("last_success")
    assert success is not None
    assert success >= scraped.now


def test_the_oldest_run_is_told(scraped: Scraped) -> None:
    scraped.hour_job()
    first = scraped.start(text(scraped.fire(1)))
    seen = scraped.scrape()
    since = seen.at("running_since")
    assert since is not None
    assert since >= scraped.now
    second = scraped.start(text(scraped.fire(0)), f"{JOB}/part")
    assert scraped.scrape().at("running_since") == since
    scraped.end(first, "applied")
    later = scraped.scrape().at("running_since")
    assert later is not None
    assert later > since
    scraped.end(second, "failed")
    assert scraped.scrape().at("running_since") is None


def test_a_job_that_was_created_and_has_started_nothing_is_told(scraped: Scraped) -> None:
    scraped.hour_job()
    note = "SELECT k8sjob.note_unstarted(%(job)s, %(at)s)"
    scraped.operate(note, job=JOB, at=scraped.now - HOUR)
    assert scraped.scrape().at("created_unstarted_since") == scraped.now - HOUR
    scraped.operate(note, job=JOB, at=None)
    assert scraped.scrape().at("created_unstarted_since") is None


# ------------------------------------------------------------------------------------ holds

HOLD = "SELECT k8sjob.set_hold(%(space)s, %(job)s, 'maintenance', 'ann', %(until)s)"


@pytest.fixture
def several(scraped: Scraped) -> Scraped:
    """Track two jobs of one namespace, and one of another."""
    for job in (JOB, "billing/debit", "ops/vacuum"):
        scraped.hour_job(job)
    return scraped


def held(scraped: Scraped) -> set[str]:
    """Return the jobs that something stops."""
    seen = scraped.scrape()
    return {job for job in seen.jobs() if seen.at("blocked_since", job)}


@pytest.mark.parametrize(
    ("space", "job", "stopped"),
    [
        ("billing", JOB, {JOB}),
        ("billing", None, {JOB, "billing/debit"}),
        (None, None, {JOB, "billing/debit", "ops/vacuum"}),
    ],
    ids=["of a job", "of a namespace", "of all"],
)
@pytest.mark.parametrize("until", [None, "infinity", "2999-01-01"])
def test_a_hold_stops_what_it_covers(
    several: Scraped, space: str | None, job: str | None, stopped: set[str], until: str | None
) -> None:
    hold = several.operate(HOLD, space=space, job=job, until=until)
    assert held(several) == stopped
    several.operate("SELECT k8sjob.lift_hold(%(id)s, 'over', 'ann')", id=hold)
    assert held(several) == set()


def test_a_hold_whose_time_is_up_or_has_not_come_stops_nothing(several: Scraped) -> None:
    several.operate(HOLD, space="billing", job=JOB, until=several.now)
    several.operate(HOLD, space=None, job=None, until=None)
    several.alter(
        "UPDATE k8sjob.holds SET from_at = %(at)s WHERE namespace IS NULL", at=several.now + HOUR
    )
    assert held(several) == set()


def test_the_first_thing_that_stops_a_job_counts(several: Scraped) -> None:
    several.operate(HOLD, space="billing", job=None, until=None)
    several.operate(HOLD, space="billing", job=JOB, until=None)
    several.alter(
        "UPDATE k8sjob.holds SET from_at = %(at)s WHERE job = %(job)s",
        at=several.now - 3 * HOUR,
        job=JOB,
    )
    assert several.scrape().at("blocked_since") == several.now - 3 * HOUR
    several.run("SELECT k8sjob.block('billing/credit', %(p)s, 'no paper')", p=text(several.fire(2)))
    several.alter("UPDATE k8sjob.periods SET changed_at = %(at)s", at=several.now - 5 * HOUR)
    assert several.scrape().at("blocked_since") == several.now - 5 * HOUR
    debit = several.scrape().at("blocked_since", "billing/debit")
    assert debit is not None
    assert debit >= several.now - MINUTE
