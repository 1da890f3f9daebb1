"""A mistyped period must not be done silently."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from k8sjob.cycle import Cycle
from k8sjob.errors import NoPeriod, UsageError
from k8sjob.expect import Version
from tests.resolve.world import NOW, World, find, ledger

SINCE = datetime(2026, 9, 1, 12, tzinfo=UTC)


def version(expr: str = "0 2 * * *", zone: str | None = "Europe/Rome", **more: Any) -> Version:
    """Return a schedule in force since the first of the month."""
    facts = {"n": 1, "earliest_from": SINCE, "valid_from": SINCE, **more}
    return Version(expr=expr, zone=zone, **facts)


def tracked(*versions: Version, **more: Any) -> World:
    return World(known_of=ledger(versions=versions, zone=versions[-1].zone, **more))


def test_a_period_on_the_schedule_is_taken() -> None:
    assert find(tracked(version()), period="2026-09-11T00:00:00Z").source == "--period"


def test_a_period_off_the_schedule_is_refused_with_its_neighbours() -> None:
    with pytest.raises(NoPeriod) as refused:
        find(tracked(version()), period="2026-09-11T02:00:00Z")  # it is two in Rome at 00:00Z

    told = str(refused.value)
    assert "billing/daily-credit:2026-09-11T02:00:00Z is not on the schedule" in told
    assert "0 2 * * * Europe/Rome. Nothing was done" in told
    assert "2026-09-11T00:00:00Z before, 2026-09-12T00:00:00Z after" in told
    assert '--off-schedule --reason "…"' in told


def test_a_period_before_the_first_known_schedule_is_refused() -> None:
    with pytest.raises(NoPeriod) as refused:
        find(tracked(version()), period="2026-08-11T00:00:00Z")

    told = str(refused.value)
    assert "is older than the first known schedule, of 2026-09-01 12:00:00Z" in told
    assert "2026-09-02T00:00:00Z after" in told
    assert "before," not in told


def test_a_reason_makes_it_right_and_stays_on_the_attempt() -> None:
    found = find(
        tracked(version()),
        period="2026-09-11T02:00:00Z",
        off_schedule=True,
        reason="the feed  was\nlate",
    )

    assert found.source == "--period, off schedule: the feed was late"


@pytest.mark.parametrize(
    "flags",
    [
        {"period": "2026-09-11T02:00:00Z", "off_schedule": True},
        {"period": "2026-09-11T02:00:00Z", "reason": "because"},
        {"period": "2026-09-11T02:00:00Z", "off_schedule": True, "reason": " "},
        {"off_schedule": True, "reason": "because"},
    ],
    ids=str,
)
def test_the_flags_go_together(flags: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="--off-schedule, --reason and a period go together"):
        find(tracked(version()), **flags)


def test_a_job_without_a_known_schedule_is_not_checked() -> None:
    assert find(World(known_of=ledger()), period="2026-09-11T00:00:01Z").explicit is False
    assert find(World(), period="2026-09-11T00:00:01Z").source == "--period"


def test_every_has_no_fixed_instants_and_is_not_checked() -> None:
    assert find(tracked(version("@every 90s")), period="2026-09-11T00:00:01Z").source == "--period"


def test_an_older_version_counts_for_its_time() -> None:
    edited = datetime(2026, 9, 10, 12, tzinfo=UTC)
    old = version("30 3 * * *", "Etc/UTC", earliest_to=edited, valid_to=edited)
    new = version(n=2, earliest_from=edited, valid_from=edited)

    for period in ("2026-09-09T03:30:00Z", "2026-09-11T00:00:00Z"):
        assert find(tracked(old, new), period=period).source == "--period"
    with pytest.raises(NoPeriod, match="2026-09-10T03:30:00Z before, 2026-09-11T00:00:00Z after"):
        find(tracked(old, new), period="2026-09-10T22:00:00Z")
    with pytest.raises(NoPeriod):
        find(tracked(old, new), period="2026-09-11T03:30:00Z")


def test_a_suspended_slot_is_on_the_schedule() -> None:
    suspended = tracked(version(suspended=True))

    assert find(suspended, period="2026-09-11T00:00:00Z").source == "--period"


@pytest.mark.parametrize(
    ("period", "neighbours"),
    [
        ("2026-09-12", "2026-09-11 before, 2026-09-14 after"),  # a Saturday
        ("2026-08-28", "2026-09-02 after"),
    ],
)
def test_a_day_without_a_fire_is_off_the_schedule(period: str, neighbours: str) -> None:
    weekdays = tracked(version("0 2 * * MON-FRI"), cycle=Cycle.DAY)

    assert str(find(weekdays, period="2026-09-11").period) == "2026-09-11"
    with pytest.raises(NoPeriod, match=neighbours):
        find(weekdays, period=period)


def test_neighbours_that_are_far_away_are_found_too() -> None:
    leap = tracked(version("0 0 29 2 *", "Etc/UTC", earliest_from=datetime(2020, 1, 1, tzinfo=UTC)))

    with pytest.raises(NoPeriod, match="2024-02-29T00:00:00Z before, 2028-02-29T00:00:00Z after"):
        find(leap, period="2026-02-28T00:00:00Z")


def test_a_schedule_that_cannot_be_read_is_said_so() -> None:
    with pytest.raises(NoPeriod, match="cannot be held against the job's schedule") as refused:
        find(tracked(version("0 0 L * *", "Etc/UTC")), period="2026-09-11T00:00:00Z")

    assert "--off-schedule" in str(refused.value)


def test_only_what_was_passed_is_held_against_the_schedule() -> None:
    # Kubernetes may start a past slot minutes after an edit.
    from tests.resolve.world import AT, scheduled

    edited = version(earliest_from=AT + timedelta(seconds=5), valid_from=AT + timedelta(seconds=5))
    world = tracked(edited)
    world.job = scheduled()

    assert find(world).fire == AT


# ------------------------------------------------------------------------------------- windows


def test_a_scheduled_period_ends_with_the_next_fire() -> None:
    found = find(tracked(version()), period="2026-09-11T00:00:00Z")

    assert found.window_end == datetime(2026, 9, 12, tzinfo=UTC)


def test_without_a_schedule_its_end_is_not_known() -> None:
    assert find(World(known_of=ledger()), period="2026-09-11T00:00:00Z").window_end is None


def test_a_day_ends_with_the_day() -> None:
    found = find(World(known_of=ledger(zone="Europe/Rome")), period="2026-09-11")

    assert found.window_end == datetime(2026, 9, 11, 22, tzinfo=UTC)
    assert found.scheduled_for == datetime(2026, 9, 10, 22, tzinfo=UTC)


def test_the_neighbour_after_may_still_be_to_come() -> None:
    with pytest.raises(NoPeriod, match="2026-09-13T00:00:00Z before, 2026-09-14T00:00:00Z after"):
        find(tracked(version()), period=f"{NOW:%Y-%m-%dT%H:%M:%SZ}")
