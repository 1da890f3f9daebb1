"""Which periods are old enough to go: by their age, and never past where somebody has looked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from k8sjob.cycle import Cycle
from k8sjob.errors import ConfigError, UsageError
from k8sjob.key import JobName
from k8sjob.ledger.operate import JobFacts, Scope
from k8sjob.people.prune import PruneOrder, ended_before, plan_prune, preceding
from k8sjob.period import Period

if TYPE_CHECKING:
    from tests.people.conftest import Desk

CREDIT = JobName.parse("billing/daily-credit")
NOW = datetime(2026, 9, 14, 19, tzinfo=UTC)
ENDED = {
    Cycle.SCHEDULED: "2026-09-14T19:00:00Z",
    Cycle.DAY: "2026-09-13",
    Cycle.WEEK: "2026-W37",
    Cycle.MONTH: "2026-08",
}


def facts(cycle: Cycle | None = Cycle.DAY, **known: object) -> JobFacts:
    return JobFacts(job=CREDIT, cycle=cycle, **known)  # type: ignore[arg-type]


def upto(order: PruneOrder, known: JobFacts) -> str | None:
    (plan,) = plan_prune(order, NOW, [known])
    return plan.upto


EVERYTHING = PruneOrder(scopes=[Scope()])


@pytest.mark.parametrize(("cycle", "text"), ENDED.items())
def test_the_last_that_has_ended_everywhere(cycle: Cycle, text: str) -> None:
    assert ended_before(cycle, NOW) == text


def test_a_day_ends_last_at_noon_utc_of_the_next() -> None:
    noon = datetime(2026, 9, 14, 12, tzinfo=UTC)
    assert ended_before(Cycle.DAY, noon) == "2026-09-13"
    assert ended_before(Cycle.DAY, noon - timedelta(seconds=1)) == "2026-09-12"


def test_once_never_ends() -> None:
    assert ended_before(Cycle.ONCE, NOW) is None
    assert upto(PruneOrder(scopes=[Scope()], older_than=timedelta(1)), facts(Cycle.ONCE)) is None


@given(st.datetimes(datetime(1971, 1, 1), datetime(2999, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001  # hypothesis adds the zone
def test_what_has_ended_is_what_precedes_the_one_that_runs(at: datetime) -> None:
    for cycle in (Cycle.DAY, Cycle.WEEK, Cycle.MONTH):
        running = Period.of(cycle, at, "Etc/GMT+12")
        ended = ended_before(cycle, at)
        assert ended
        assert Period(ended).next() == running
        assert preceding(running) == ended


def test_sql_has_the_same_rule(pg_desk: Desk) -> None:
    assert pg_desk.store.db
    reader = pg_desk.store.db.connect("reader")
    instants = [NOW + timedelta(hours=7 * step) for step in range(2000)]
    instants += [datetime(1999, 12, 31, 12, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)]
    for cycle in ENDED:
        query = "SELECT k8sjob.ended_before(%s, at) FROM unnest(%s::timestamptz[]) at"
        by_sql = [text for (text,) in reader.execute(query, (cycle, instants))]
        assert by_sql == [ended_before(cycle, at) for at in instants]


def test_without_a_retention_every_period_is_kept() -> None:
    assert upto(EVERYTHING, facts()) is None


def test_a_retention_decides_and_a_flag_wins() -> None:
    known = facts(retention_s=10 * 86400)
    assert upto(EVERYTHING, known) == "2026-09-03"
    order = PruneOrder(scopes=[Scope()], older_than=timedelta(days=100))
    assert upto(order, known) == "2026-06-05"
    assert upto(order, facts()) == "2026-06-05"


@pytest.mark.parametrize(
    ("before", "last"),
    [
        ("2026-09-01", "2026-08-31"),
        ("2026-W01", "2025-W52"),
        ("2026-01", "2025-12"),
        ("2026-01-01T00:00:00Z", "2025-12-31T23:59:59Z"),
        ("1970-01", None),
        ("1970-01-01T00:00:00Z", None),
    ],
)
def test_before_keeps_the_period_that_it_names(before: str, last: str | None) -> None:
    period = Period(before)
    order = PruneOrder(scopes=[Scope.of_job(CREDIT)], before=period)
    assert upto(order, facts(period.cycle)) == last


def test_before_is_of_the_jobs_kind() -> None:
    order = PruneOrder(scopes=[Scope.of_job(CREDIT)], before=Period("2026-09"))
    with pytest.raises(ConfigError, match="has periods of kind day"):
        plan_prune(order, NOW, [facts()])


def test_a_job_that_is_not_known_is_a_slip() -> None:
    with pytest.raises(UsageError, match="does not know billing/daily-credit"):
        plan_prune(PruneOrder(scopes=[Scope.of_job(CREDIT)]), NOW, [])


def test_what_nobody_has_looked_at_stays() -> None:
    order = PruneOrder(scopes=[Scope()], older_than=timedelta(days=1))
    assert upto(order, facts()) == "2026-09-12"
    mark = datetime(2026, 8, 1, 12, tzinfo=UTC)
    assert upto(order, facts(tracked=True, done_until=mark)) == "2026-07-31"
    assert upto(order, facts(tracked=True)) is None
    (plan,) = plan_prune(order, NOW, [facts(tracked=True, done_until=mark)])
    assert "nobody has looked past 2026-08-01 12:00:00Z yet" in plan.why
    assert upto(order, facts(tracked=True, done_until=NOW)) == "2026-09-12"
