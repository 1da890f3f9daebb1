"""What each job owes, by state, from rows that the ledger's functions have made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from k8sjob.serve.metrics import STATES
from tests.fix_scraped import DAY, HOUR, MINUTE, text

if TYPE_CHECKING:
    from tests.fix_scraped import Scraped


@pytest.fixture(autouse=True)
def hourly(scraped: Scraped) -> None:
    """Track an hourly job that owes nothing: the reconciler has looked at all that has fired."""
    scraped.hour_job()


def test_a_job_that_owes_nothing_has_every_state_at_zero(scraped: Scraped) -> None:
    seen = scraped.scrape()
    for state in STATES:
        assert seen("unfinished_periods", state=state) == 0
        assert seen.oldest(state) == (None, None)


def test_what_the_reconciler_has_stored_is_missing_from_its_deadline_on(scraped: Scraped) -> None:
    for number in (2, 1, 0):
        scraped.expect(scraped.fire(number), scraped.fire(number) + 10 * MINUTE)
    seen = scraped.scrape()
    assert seen.states() == {"missing": 3}
    assert seen.oldest("missing") == (scraped.fire(2), scraped.fire(2) + 10 * MINUTE)


def test_what_was_uncertain_is_told_apart_from_what_is_missing(scraped: Scraped) -> None:
    scraped.expect(scraped.fire(2), scraped.fire(2) + 10 * MINUTE, uncertain=True)
    scraped.expect(scraped.fire(1), scraped.fire(1) + 10 * MINUTE)
    seen = scraped.scrape()
    assert seen.states() == {"missing": 1, "uncertain": 1}
    assert seen.oldest("uncertain") == (scraped.fire(2), scraped.fire(2) + 10 * MINUTE)
    assert seen.oldest("missing") == (scraped.fire(1), scraped.fire(1) + 10 * MINUTE)


def test_a_row_before_its_deadline_is_due(scraped: Scraped) -> None:
    scraped.expect(scraped.fire(), scraped.now + HOUR)
    seen = scraped.scrape()
    assert seen.states() == {"due": 1}
    assert seen.oldest("due") == (scraped.fire(), scraped.now + HOUR)


def test_a_missing_period_that_is_tried_again_runs_and_keeps_its_deadline(scraped: Scraped) -> None:
    scraped.expect(scraped.fire(1), scraped.fire(1) + 10 * MINUTE)
    attempt = scraped.start(text(scraped.fire(1)))
    seen = scraped.scrape()
    assert seen.states() == {"running": 1}
    assert seen.oldest("running") == (scraped.fire(1), scraped.fire(1) + 10 * MINUTE)
    scraped.end(attempt, "failed")
    assert scraped.scrape().states() == {"missing": 1}


def test_an_attempt_without_a_sign_of_life_does_not_run(scraped: Scraped) -> None:
    scraped.expect(scraped.fire(1), scraped.fire(1) + 10 * MINUTE)
    attempt = scraped.start(text(scraped.fire(1)))
    scraped.alter(
        "UPDATE k8sjob.attempts SET started_at = started_at - interval '181 seconds' "
        "WHERE id = %(id)s",
        id=attempt,
    )
    seen = scraped.scrape()
    assert seen.states() == {"missing": 1}
    assert seen.at("running_since") is None
    scraped.run("SELECT k8sjob.heartbeat(%(id)s)", id=attempt)
    seen = scraped.scrape()
    assert seen.states() == {"running": 1}
    started = seen.at("running_since")
    assert started is not None
    assert started < scraped.now - 2 * MINUTE


def test_an_attempt_at_a_period_that_has_no_row_and_no_schedule_runs(scraped: Scraped) -> None:
    """Of a job that no reconciler tracks, say: what is running is seen all the same."""
    scraped.start(text(scraped.now - DAY), "ops/plain")
    seen = scraped.scrape()
    assert seen.states("ops/plain") == {"running": 1}
    assert seen.oldest("running", "ops/plain") == (scraped.now - DAY, None)
    assert seen.at("running_since", "ops/plain") is not None


def test_what_is_done_or_skipped_is_owed_no_more(scraped: Scraped) -> None:
    for number in (2, 1, 0):
        scraped.expect(scraped.fire(number), scraped.fire(number) + 10 * MINUTE)
    scraped.claim(text(scraped.fire(2)))
    scraped.decide("skip", text(scraped.fire(1)), "open")
    seen = scraped.scrape()
    assert seen.states() == {"missing": 1}
    assert seen.oldest("missing")[0] == scraped.fire(0)


def test_a_newer_success_leaves_the_older_miss(scraped: Scraped) -> None:
    scraped.expect(scraped.fire(5), scraped.fire(5) + 10 * MINUTE)
    scraped.claim(text(scraped.fire(0)))
    assert scraped.scrape().oldest("missing")[0] == scraped.fire(5)


def test_an_old_blocked_period_does_not_hide_a_new_missing_one(scraped: Scraped) -> None:
    scraped.run("SELECT k8sjob.block('billing/credit', %(p)s, 'no paper')", p=text(scraped.fire(9)))
    scraped.expect(scraped.fire(0), scraped.fire(0) + 10 * MINUTE)
    seen = scraped.scrape()
    assert seen.states() == {"blocked": 1, "missing": 1}
    assert seen.oldest("blocked") == (scraped.fire(9), None)
    assert seen.oldest("missing")[0] == scraped.fire(0)
    since = seen.at("blocked_since")
    assert since is not None
    assert since >= scraped.now


def test_a_block_whose_time_is_up_is_a_block_no_more(scraped: Scraped) -> None:
    period = text(scraped.fire(1))
    scraped.expect(scraped.fire(1), scraped.fire(1) + 10 * MINUTE)
    scraped.decide("block", period, "open", until=scraped.now + HOUR)
    assert scraped.scrape().states() == {"blocked": 1}
    scraped.alter("UPDATE k8sjob.periods SET until = %(at)s", at=scraped.now - MINUTE)
    seen = scraped.scrape()
    assert seen.states() == {"missing": 1}
    assert seen.oldest("missing") == (scraped.fire(1), scraped.fire(1) + 10 * MINUTE)
    assert seen.at("blocked_since") is None


@pytest.mark.parametrize("until", ["infinity", "-infinity"])
def test_a_block_until_the_end_of_time_breaks_nothing(scraped: Scraped, until: str) -> None:
    scraped.expect(scraped.fire(1), scraped.fire(1) + 10 * MINUTE)
    scraped.decide("block", text(scraped.fire(1)), "open", until=until)
    expected = {"infinity": {"blocked": 1}, "-infinity": {"missing": 1}}
    assert scraped.scrape().states() == expected[until]


def test_what_awaits_its_effect_has_a_deadline_of_its_own(scraped: Scraped) -> None:
    for number, hours in ((3, 5), (2, 2)):
        scraped.expect(scraped.fire(number), scraped.fire(number) + 10 * MINUTE)
        later = scraped.now + hours * HOUR
        scraped.decide("await", text(scraped.fire(number)), "open", deadline=later)
    seen = scraped.scrape()
    assert seen.states() == {"awaiting": 2}
    assert seen.oldest("awaiting") == (scraped.fire(3), scraped.fire(3) + 10 * MINUTE)
    assert seen.at("awaiting_deadline") == scraped.now + 2 * HOUR


def test_an_effect_that_is_awaited_for_ever_has_no_deadline(scraped: Scraped) -> None:
    scraped.decide("await", text(scraped.fire(3)), deadline="infinity")
    seen = scraped.scrape()
    assert seen.states() == {"awaiting": 1}
    assert seen.at("awaiting_deadline") is None
    scraped.decide("await", text(scraped.fire(2)), deadline=scraped.now + HOUR)
    assert scraped.scrape().at("awaiting_deadline") == scraped.now + HOUR


def test_what_is_decided_on_before_its_time_is_owed_only_where_it_is_blocked(
    scraped: Scraped,
) -> None:
    scraped.decide("skip", text(scraped.fire(-3)))
    assert scraped.scrape().states() == {}
    scraped.decide("reopen", text(scraped.fire(-3)), "skipped")  # open again, and still to come
    assert scraped.scrape().states() == {}
    scraped.decide("block", text(scraped.fire(-3)), "open", generation=1)
    assert scraped.scrape().states() == {"blocked": 1}


def test_periods_of_parts_are_those_of_their_job(scraped: Scraped) -> None:
    part = "billing/credit/invoices"
    block = "SELECT k8sjob.block(%(job)s, %(period)s, 'no paper')"
    scraped.run(block, job=part, period=text(scraped.fire(3)))
    scraped.run(block, job="billing/credit", period=text(scraped.fire(2)))
    scraped.start(text(scraped.fire(1)), part)
    seen = scraped.scrape()
    assert seen.jobs() == {"billing/credit"}
    assert seen.states() == {"blocked": 2, "running": 1}
    assert seen.oldest("blocked")[0] == scraped.fire(3)
    assert seen.oldest("running")[0] == scraped.fire(1)
    assert seen.at("running_since") is not None


def test_what_a_person_has_reopened_is_due_until_its_grace_is_over(scraped: Scraped) -> None:
    scraped.claim(text(scraped.fire(7)))
    scraped.decide("reopen", text(scraped.fire(7)), "done")
    seen = scraped.scrape()
    assert seen.states() == {"due": 1}
    at, deadline = seen.oldest("due")
    assert at == scraped.fire(7)
    assert deadline is not None
    assert deadline >= scraped.now + 10 * MINUTE
    scraped.alter("UPDATE k8sjob.periods SET deadline_at = %(at)s", at=scraped.now)
    assert scraped.scrape().states() == {"missing": 1}


def test_an_open_row_that_no_schedule_dates_is_due(scraped: Scraped) -> None:
    scraped.decide("block", text(scraped.fire(7)), until=scraped.now - MINUTE)
    seen = scraped.scrape()
    assert seen.states() == {"due": 1}
    assert seen.oldest("due") == (scraped.fire(7), None)
    attempt = scraped.start(text(scraped.fire(7)))
    seen = scraped.scrape()
    assert seen.states() == {"running": 1}
    assert seen.oldest("running") == (scraped.fire(7), None)
    scraped.end(attempt, "failed")
    assert scraped.scrape().states() == {"due": 1}
