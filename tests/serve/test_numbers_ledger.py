"""What is told of a ledger: attempts since ever, passes of the reconciler, the outbox."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.ledger.migrate import migrations
from k8sjob.states import Outcome
from k8sjob.version import __version__
from tests.fix_scraped import DAY, HOUR, JOB, MINUTE, text

if TYPE_CHECKING:
    from datetime import timedelta

    from tests.fix_scraped import Scraped, Seen


def test_an_empty_ledger_is_up(scraped: Scraped) -> None:
    seen = scraped.scrape()
    assert seen("up", None) == 1
    assert seen("schema_version", None) == migrations()[-1].version
    assert seen("scrape_duration_seconds", None) > 0
    assert seen.jobs() == set()
    assert seen.values["k8sjob_build_info", frozenset({("version", __version__)})] == 1


# --------------------------------------------------------------------------------- attempts


def counters(seen: Seen, job: str = JOB) -> dict[str, int]:
    """Return the attempts by each outcome that there is."""
    return {str(o): int(seen("attempts_total", job, outcome=str(o))) for o in Outcome}


def test_every_outcome_is_there_from_the_start(scraped: Scraped) -> None:
    scraped.hour_job()
    assert set(counters(scraped.scrape()).values()) == {0}


def test_each_outcome_is_counted_and_those_of_parts_are_the_jobs(scraped: Scraped) -> None:
    for number, outcome in enumerate(Outcome, 1):
        for again in range(number):
            job = JOB if again else f"{JOB}/part"
            scraped.attempt(text(scraped.fire(1)), str(outcome), job)
    assert counters(scraped.scrape()) == {str(o): n for n, o in enumerate(Outcome, 1)}


def test_pruning_takes_no_attempt_away(scraped: Scraped) -> None:
    for _ in range(3):
        scraped.attempt(text(scraped.fire(1)), "failed")
    scraped.attempt(text(scraped.fire(1)), "applied")
    before = counters(scraped.scrape())
    pruned = scraped.operate(
        "SELECT k8sjob.prune_attempts(%(job)s, clock_timestamp() + interval '1 day')", job=JOB
    )
    assert pruned == 4
    assert counters(scraped.scrape()) == before == {**before, "failed": 3, "applied": 1}


def test_a_job_that_comes_back_counts_on(scraped: Scraped) -> None:
    scraped.hour_job()
    scraped.attempt(text(scraped.fire(1)), "applied")
    before = counters(scraped.scrape())
    scraped.version(None, MINUTE)
    assert JOB not in scraped.scrape().jobs()
    scraped.track(grace_s=600)
    scraped.version(scraped.hourly, 0 * MINUTE)
    scraped.mark(0 * MINUTE)
    assert counters(scraped.scrape()) == before
    scraped.attempt(text(scraped.fire(0)), "applied")
    assert counters(scraped.scrape()) == {**before, "applied": 2}


# ----------------------------------------------------------------------------------- passes


def passed(scraped: Scraped, scope: str, *, ago: timedelta, ok: bool, failing: int = 0) -> None:
    """Let a pass of two seconds have begun so long ago."""
    number = scraped.operate("SELECT k8sjob.start_pass(%(scope)s)", scope=scope)
    scraped.operate(
        "SELECT k8sjob.end_pass(%(id)s, %(ok)s, %(failing)s, 'told')",
        id=number,
        ok=ok,
        failing=failing,
    )
    scraped.alter(
        "UPDATE k8sjob.passes SET started_at = %(at)s, ended_at = %(at)s + interval '2 seconds' "
        "WHERE id = %(id)s",
        id=number,
        at=scraped.now - ago,
    )


def passes(scraped: Scraped) -> dict[str, Any]:
    """Return what is told of each scope: when the last complete pass was, and what failed."""
    seen = scraped.scrape()
    scopes = [dict(labels)["scope"] for name, labels in seen.values if "failing_jobs" in name]
    return {
        scope: (
            seen.at("reconcile_last_success", None, scope=scope),
            seen("reconcile_failing_jobs", None, scope=scope),
        )
        for scope in scopes
    }


def test_a_reconciler_that_was_never_here_has_no_series(scraped: Scraped) -> None:
    assert passes(scraped) == {}


def test_the_last_complete_pass_of_each_scope_is_told(scraped: Scraped) -> None:
    passed(scraped, "billing", ago=2 * HOUR, ok=True)
    passed(scraped, "billing", ago=HOUR, ok=False)
    passed(scraped, "ops,shop", ago=30 * MINUTE, ok=True)
    passed(scraped, "ops,shop", ago=40 * MINUTE, ok=False)
    assert passes(scraped) == {
        "billing": (scraped.now - 2 * HOUR, 0),
        "ops,shop": (scraped.now - 30 * MINUTE, 0),
    }
    seen = scraped.scrape()
    assert seen("reconcile_duration_seconds", None, scope="billing") == 2


def test_a_pass_that_failed_for_some_jobs_is_complete(scraped: Scraped) -> None:
    """Or one wrong annotation would make the reconciler look dead."""
    passed(scraped, "*", ago=HOUR, ok=True)
    passed(scraped, "*", ago=MINUTE, ok=False, failing=2)
    assert passes(scraped) == {"*": (scraped.now - MINUTE, 2)}


def test_a_reconciler_that_never_finished_is_told(scraped: Scraped) -> None:
    scraped.operate("SELECT k8sjob.start_pass('*')")
    assert passes(scraped) == {"*": (None, 0)}
    passed(scraped, "*", ago=MINUTE, ok=False)
    assert passes(scraped) == {"*": (None, 0)}


@pytest.mark.parametrize(
    ("old", "new", "left"),
    [
        ("billing", "*", {"*"}),
        ("billing", "billing,shop", {"billing,shop"}),
        ("billing,shop", "billing", {"billing", "billing,shop"}),
        ("*", "billing", {"*", "billing"}),
    ],
)
def test_a_scope_that_another_has_taken_the_place_of_is_forgotten(
    scraped: Scraped, old: str, new: str, left: set[str]
) -> None:
    passed(scraped, old, ago=DAY, ok=True)
    passed(scraped, new, ago=20 * MINUTE, ok=True)
    assert set(passes(scraped)) == left
    passed(scraped, old, ago=25 * MINUTE, ok=True)  # both are in use
    assert set(passes(scraped)) == {old, new}


# ----------------------------------------------------------------------------------- outbox


def test_messages_that_wait_and_dead_ones_are_counted(scraped: Scraped) -> None:
    seen = scraped.scrape()
    assert seen("outbox_messages", None, state="pending") == 0
    assert seen("outbox_messages", None, state="dead") == 0
    assert seen.at("outbox_oldest_pending", None) is None
    scraped.alter(
        "INSERT INTO k8sjob.outbox (id, job, period, n, destination, body, state, created_at) "
        "SELECT gen_random_uuid(), 'billing/credit', '2026-09', n, 'a', '', "
        "(ARRAY['pending', 'pending', 'sent', 'dead'])[n], %(now)s - n * interval '1 hour' "
        "FROM generate_series(1, 4) n",
        now=scraped.now,
    )
    seen = scraped.scrape()
    assert seen("outbox_messages", None, state="pending") == 2
    assert seen("outbox_messages", None, state="dead") == 1
    assert seen.at("outbox_oldest_pending", None) == scraped.now - 2 * HOUR
