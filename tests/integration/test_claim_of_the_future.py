from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from k8sjob import InvalidKey, Key, Outcome, Period
from tests.integration.callers import KEY, applications, do, in_three_parts, refusals, ways

if TYPE_CHECKING:
    from tests.fix_stores import Store


def scheduled(minutes: int) -> Key:
    instant = datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=minutes)
    return Key.of("billing/every-minute", Period.at(instant))


@pytest.mark.parametrize("function", ["claim", "try_claim"])
def test_a_scheduled_period_more_than_five_minutes_ahead_is_in_the_future(
    store: Store, function: str
) -> None:
    key = scheduled(minutes=6)
    for refusal in refusals(store, key, function=function):
        assert (refusal.outcome, refusal.exit_code) == ("future", 66)
        assert in_three_parts(refusal, key)
    assert store.query(f"SELECT * FROM {store.table('periods')}") == []


def test_a_scheduled_period_less_than_five_minutes_ahead_is_applied(store: Store) -> None:
    assert all(applications(store, scheduled(minutes=4)))


def at(cycle_text: str) -> Key:
    return Key.of(f"billing/in-{len(cycle_text)}", cycle_text)


@pytest.mark.parametrize("text", ["%Y-%m-%d", "%G-W%V", "%Y-%m"], ids=["day", "week", "month"])
def test_a_natural_period_is_in_the_future_once_it_has_begun_nowhere_on_earth(
    store: Store, text: str
) -> None:
    # Days begin first at UTC+14.
    on_earth = datetime.now(UTC) + timedelta(hours=14)
    assert all(applications(store, at(f"{on_earth:{text}}")))
    for refusal in refusals(store, at(f"{on_earth + timedelta(days=32):{text}}")):
        assert refusal.outcome is Outcome.FUTURE


@pytest.mark.parametrize(("minutes", "outcome"), [(4, "applied"), (6, "future")])
def test_a_natural_period_begins_when_the_caller_says_so(
    store: Store, minutes: int, outcome: str
) -> None:
    start = datetime.now(UTC) + timedelta(minutes=minutes)
    if outcome == "applied":
        assert all(applications(store, KEY, scheduled_for=start))
    else:
        for refusal in refusals(store, KEY, scheduled_for=start):
            assert refusal.outcome == outcome


def test_the_start_that_the_caller_gives_is_stored_with_a_natural_period(store: Store) -> None:
    start = datetime(2024, 9, 13, 0, 0, tzinfo=UTC) - timedelta(hours=2)
    do(store, KEY, scheduled_for=start.astimezone())
    ((stored,),) = store.query(f"SELECT scheduled_for FROM {store.table('periods')}")
    stored = datetime.fromisoformat(stored) if isinstance(stored, str) else stored
    assert stored == start


def test_once_is_never_in_the_future(store: Store) -> None:
    assert all(applications(store, "billing/migration:once"))


def test_a_naive_start_is_refused(store: Store) -> None:
    for begin in ways(store):
        with begin(store) as caller:
            with pytest.raises(InvalidKey, match="naive"):
                caller.claim(KEY, scheduled_for=datetime(2024, 9, 13))  # noqa: DTZ001
            assert caller.is_open()
