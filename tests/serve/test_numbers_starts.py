"""How late the last run was started, and for which slot of the schedule."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.fix_scraped import DAY, HOUR, JOB, MINUTE, text

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from tests.fix_scraped import Scraped


def begun(
    scraped: Scraped, attempt: UUID, at: datetime, source: str, job_name: str | None = None
) -> None:
    """Let an attempt have begun at an instant, with its period from a source."""
    scraped.alter(
        "UPDATE k8sjob.attempts SET started_at = %(at)s, ended_at = %(at)s + interval '9 seconds', "
        "source = %(source)s, job_name = %(name)s WHERE id = %(id)s",
        id=attempt,
        at=at,
        source=source,
        name=job_name,
    )


def late(scraped: Scraped, job: str = JOB) -> tuple[timedelta, datetime | None]:
    """Return the delay and the slot."""
    seen = scraped.scrape()
    return timedelta(seconds=seen("last_start_delay_seconds", job)), seen.at("last_start_slot", job)


@pytest.mark.parametrize(
    "source",
    [
        *("scheduled-timestamp", "downward-api", "job-name"),
        *("remembered (job-name)", "context (scheduled-timestamp)"),
    ],
)
def test_a_slot_that_was_started_late_is_told(scraped: Scraped, source: str) -> None:
    scraped.hour_job()
    made = scraped.attempt(text(scraped.fire(1)), "applied")
    begun(scraped, made, scraped.fire(1) + 25 * MINUTE, source)
    assert late(scraped) == (25 * MINUTE, scraped.fire(1))


@pytest.mark.parametrize(
    "source",
    [
        *("backfill-annotation", "remembered (backfill-annotation)", "manual oldest-missing"),
        *("--period", "--period, off schedule: it was a job-name", "a (job-name)"),
    ],
)
def test_what_no_schedule_has_started_has_no_slot(scraped: Scraped, source: str) -> None:
    """Of an old period that is done again the delay is long, and nobody is late."""
    scraped.hour_job()
    made = scraped.attempt(text(scraped.fire(48)), "applied")
    begun(scraped, made, scraped.fire(0), source)
    assert late(scraped) == (48 * HOUR, None)


def test_a_second_try_is_as_late_as_the_first_was(scraped: Scraped) -> None:
    scraped.hour_job()
    period = text(scraped.fire(3))
    for outcome, minutes in (("lost", 1), ("failed", 40), ("applied", 90)):
        made = scraped.attempt(period, outcome)
        begun(scraped, made, scraped.fire(3) + minutes * MINUTE, "job-name")
    assert late(scraped) == (MINUTE, scraped.fire(3))


def test_a_day_counts_from_its_slot(scraped: Scraped) -> None:
    scraped.track(kind="day")
    scraped.version("0 4 * * *", zone="Europe/Rome")
    slot = scraped.now - 2 * DAY
    made = scraped.attempt(f"{slot:%Y-%m-%d}", "applied")
    begun(scraped, made, slot + 20 * MINUTE, "job-name", f"credit-{int(slot.timestamp()) // 60}")
    assert late(scraped) == (20 * MINUTE, slot)


def test_a_day_that_a_later_slot_did_counts_from_that_slot(scraped: Scraped) -> None:
    scraped.track(kind="day")
    scraped.version("0 4,5 * * *", zone="Europe/Rome")
    slot = scraped.now - 2 * DAY
    tries = ((slot, 5, "failed"), (slot + HOUR, 25, "failed"), (slot + HOUR, 45, "applied"))
    for one, minutes, outcome in tries:
        made = scraped.attempt(f"{slot:%Y-%m-%d}", outcome)
        name = f"credit-{int(one.timestamp()) // 60}"
        begun(scraped, made, one + minutes * MINUTE, "job-name", name)
    assert late(scraped) == (25 * MINUTE, slot + HOUR)


@pytest.mark.parametrize("name", [None, "credit-by-hand", "credit-bf-20260911-0-1"])
def test_a_day_whose_job_has_no_slots_name_has_none(scraped: Scraped, name: str | None) -> None:
    scraped.track(kind="day")
    made = scraped.attempt("2026-09-11", "applied")
    begun(scraped, made, scraped.now - HOUR, "scheduled-timestamp", name)
    assert late(scraped) == (timedelta(0), None)


def test_nothing_has_started_yet(scraped: Scraped) -> None:
    scraped.hour_job()
    assert late(scraped) == (timedelta(0), None)
