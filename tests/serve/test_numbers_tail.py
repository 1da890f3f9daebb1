"""What no row tells of yet, since no reconciler has been that far: by the schedule alone."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from k8sjob.ledger.read import Where, open_reader
from k8sjob.ledger.settings import parse
from k8sjob.period import Cycle, Period
from k8sjob.serve.numbers import numbers
from k8sjob.view.jobs import lines
from k8sjob.zones import zone
from tests.fix_scraped import DAY, HOUR, JOB, MINUTE, text

if TYPE_CHECKING:
    from tests.fix_scraped import Scraped


@pytest.fixture
def dead(scraped: Scraped) -> Scraped:
    """Track an hourly job whose reconciler has not looked for a day."""
    scraped.hour_job()
    scraped.alter("UPDATE k8sjob.jobs SET done_until = %(at)s", at=scraped.fire(24))
    return scraped


def test_a_dead_reconciler_hides_nothing(dead: Scraped) -> None:
    seen = dead.scrape()
    assert seen.states() == {"missing": 24}
    assert seen.oldest("missing") == (dead.fire(23), dead.fire(23) + 10 * MINUTE)
    assert seen.at("done_until") == dead.fire(24)
    assert seen("tail_truncated") == 0


def test_what_has_a_row_is_what_its_row_says(dead: Scraped) -> None:
    for number in range(20):
        dead.claim(text(dead.fire(number)))
    dead.decide("skip", text(dead.fire(20)))
    dead.decide("block", text(dead.fire(21)))
    seen = dead.scrape()
    assert seen.states() == {"blocked": 1, "missing": 2}
    assert seen.oldest("missing")[0] == dead.fire(23)
    assert seen.oldest("blocked")[0] == dead.fire(21)


def test_what_has_fired_is_due_until_its_grace_is_over(scraped: Scraped) -> None:
    scraped.hour_job(grace_s=3600)
    scraped.alter("UPDATE k8sjob.jobs SET done_until = %(at)s", at=scraped.fire(3))
    seen = scraped.scrape()
    assert seen.states() == {"due": 1, "missing": 2}
    assert seen.oldest("due") == (scraped.fire(0), scraped.fire(0) + HOUR)
    assert seen.at("next_period") == scraped.fire(-1)


def test_what_an_attempt_is_at_runs_and_keeps_its_deadline(dead: Scraped) -> None:
    dead.start(text(dead.fire(23)))
    seen = dead.scrape()
    assert seen.states() == {"missing": 23, "running": 1}
    assert seen.oldest("running") == (dead.fire(23), dead.fire(23) + 10 * MINUTE)


def test_a_row_without_a_deadline_takes_the_schedules(dead: Scraped) -> None:
    """As of a target that was blocked until a time which is over."""
    dead.mark(dead.fire(3))
    dead.decide("block", text(dead.fire(2)), until=dead.now - MINUTE)
    dead.decide("block", text(dead.fire(1)), until="-infinity")
    dead.claim(text(dead.fire(0)))
    seen = dead.scrape()
    assert seen.states() == {"missing": 2}
    assert seen.oldest("missing") == (dead.fire(2), dead.fire(2) + 10 * MINUTE)
    dead.start(text(dead.fire(2)))
    seen = dead.scrape()
    assert seen.states() == {"missing": 1, "running": 1}
    assert seen.oldest("running") == (dead.fire(2), dead.fire(2) + 10 * MINUTE)


def test_nothing_is_expected_of_a_suspended_job(dead: Scraped) -> None:
    dead.version(dead.hourly, 22 * HOUR, suspended=True)
    seen = dead.scrape()
    assert seen("job_suspended") == 1
    assert seen.at("next_period") is None
    assert seen.states() == {"missing": 2}  # from before that


def test_what_lies_around_an_edit_is_uncertain(dead: Scraped) -> None:
    dead.version(dead.daily, 20 * HOUR, earliest=22 * HOUR)
    seen = dead.scrape()
    assert seen.states() == {"missing": 3, "uncertain": 2}
    assert seen.oldest("missing")[0] == dead.fire(23)
    assert seen.oldest("uncertain")[0] == dead.fire(21)
    assert seen.at("next_period") == dead.now + 12 * HOUR


def test_a_job_that_is_gone_keeps_its_series_while_it_owes_something(dead: Scraped) -> None:
    dead.version(None, 22 * HOUR)
    seen = dead.scrape()
    assert seen.states() == {"missing": 2}
    assert seen.at("next_period") is None
    dead.claim(text(dead.fire(23)))
    dead.claim(text(dead.fire(22)))
    assert dead.scrape().jobs() == set()
    dead.start(text(dead.fire(10)))  # a Job of it may be there still
    assert dead.scrape().states() == {"running": 1}


def test_a_schedule_without_instants_hides_no_other(dead: Scraped) -> None:
    dead.version("@every 90m", 22 * HOUR)
    dead.version("0 25 * * *", 21 * HOUR)
    dead.version(dead.hourly, 3 * HOUR)
    dead.track("ops/every")
    dead.version("@every 90m", job="ops/every")
    seen = dead.scrape()
    assert seen.states() == {"missing": 2 + 3}
    assert seen.at("next_period") == dead.fire(-1)
    assert seen.states("ops/every") == {}
    assert seen.at("next_period", "ops/every") is None


def test_a_day_is_told_by_its_local_start(scraped: Scraped) -> None:
    there = (scraped.now + 12 * HOUR).astimezone(zone("Asia/Kathmandu"))
    scraped.track(kind="day", grace_s=600)
    scraped.version(f"{there.minute} {there.hour} * * *", zone="Asia/Kathmandu")
    scraped.mark(3 * DAY)
    seen = scraped.scrape()
    assert seen.states() == {"missing": 3}
    fire = scraped.now - 60 * HOUR
    day = Period.of(Cycle.DAY, fire, "Asia/Kathmandu").scheduled_for("Asia/Kathmandu")
    assert seen.oldest("missing") == (day, fire + 10 * MINUTE)
    assert seen.at("next_period") == scraped.now + 12 * HOUR


def test_once_has_no_instant_and_a_deadline(scraped: Scraped) -> None:
    scraped.track(kind="once", grace_s=600)
    scraped.version(scraped.hourly, 5 * HOUR)
    scraped.mark(5 * HOUR)
    seen = scraped.scrape()
    assert seen.states() == {"missing": 1}
    assert seen.oldest("missing") == (None, scraped.fire(4) + 10 * MINUTE)
    scraped.claim("once")
    seen = scraped.scrape()
    assert seen.states() == {}
    done = seen.at("last_done_period")
    assert done is not None
    assert done >= scraped.now


def test_once_is_certain_with_the_first_fire_that_is(scraped: Scraped) -> None:
    scraped.track(kind="once", grace_s=600)
    scraped.version(scraped.hourly, 3 * HOUR, earliest=5 * HOUR)
    scraped.mark(5 * HOUR)
    seen = scraped.scrape()
    assert seen.states() == {"missing": 1}
    assert seen.oldest("missing") == (None, scraped.fire(2) + 10 * MINUTE)


def test_more_than_is_worked_out_is_told(scraped: Scraped) -> None:
    scraped.track(grace_s=60)
    scraped.version("* * * * *")
    scraped.mark(10 * HOUR)
    seen = scraped.scrape()
    assert sum(seen.states().values()) == 500
    assert seen.oldest("missing")[0] == scraped.now - 10 * HOUR + MINUTE
    assert seen("tail_truncated") == 1


def test_what_was_pruned_before_the_job_was_tracked_is_not_missing(scraped: Scraped) -> None:
    for number in (3, 2):
        scraped.claim(text(scraped.fire(number)))
    pruned = scraped.operate(f"SELECT k8sjob.prune_periods('{JOB}', '{text(scraped.fire(2))}')")
    assert pruned == 2
    scraped.track(grace_s=600)
    scraped.version(scraped.hourly, 5 * HOUR)
    seen = scraped.scrape()
    assert seen.states() == {"missing": 2}
    assert seen.oldest("missing")[0] == scraped.fire(1)


def test_the_exporter_counts_what_get_jobs_shows(dead: Scraped) -> None:
    """Both over the same rows, schedules and attempts."""
    dead.version(dead.hourly, 18 * HOUR, earliest=19 * HOUR, zone="Asia/Kathmandu")
    dead.decide("skip", text(dead.fire(23)))
    dead.decide("block", text(dead.fire(22)))
    dead.decide("block", text(dead.fire(21)), until=dead.now - MINUTE)
    dead.decide("await", text(dead.fire(20)), deadline=dead.now + HOUR)
    dead.claim(text(dead.fire(15)))
    dead.decide("reopen", text(dead.fire(15)), "done")
    dead.start(text(dead.fire(14)))
    dead.start(text(dead.fire(13)), "billing/credit/invoices")
    dead.expect(dead.fire(30), dead.fire(30) + 10 * MINUTE)
    dead.decide("block", text(dead.fire(31)), until=dead.now - MINUTE)
    dead.track("ops/nightly", kind="day", grace_s=600)
    dead.version(dead.daily, job="ops/nightly", zone="America/New_York")
    dead.mark(4 * DAY, "ops/nightly")
    dead.start(text(dead.fire(3)), "ops/plain")

    seen = dead.scrape()
    with closing(open_reader(parse(dead.db.dsn("reader"), "the test"))) as reader:
        shown = lines(reader.jobs(Where(upto=dead.now)))
    assert {str(line.job.job) for line in shown} == seen.jobs()
    for line in shown:
        job = str(line.job.job)
        states = seen.states(job)
        missing = states.pop("missing", 0) + states.pop("uncertain", 0)
        assert {**states, **({"missing": missing} if missing else {})} == line.counts(), job
        for state in line.counts():
            dated = [one.at for one in line.unfinished if one.state is state and one.at]
            known = {seen.oldest(state, job)[0]}
            if state == "missing":
                known.add(seen.oldest("uncertain", job)[0])
            assert min(dated) == min(at for at in known if at), (job, state)
    assert seen.states()["uncertain"] == 2  # of both schedules


def test_numbers_can_be_asked_for_twice(dead: Scraped) -> None:
    """One reading is shared by all who scrape at once."""
    (reading,) = dead.ledgers.read()
    assert list(numbers(reading)) == list(numbers(replace(reading)))
