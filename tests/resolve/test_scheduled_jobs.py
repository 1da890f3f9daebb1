"""The controller's annotation, believed only on a Job that is called as the controller calls it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from k8sjob.cycle import Cycle
from k8sjob.errors import ConfigError, NoPeriod
from k8sjob.kube.names import slot_name
from tests.resolve.world import CRONJOB, POD, SLOT, World, find, job, ledger, scheduled, without

if TYPE_CHECKING:
    from collections.abc import Mapping

LONG = "nightly-reconciliation-of-the-general-ledger-of-2026"  # 52 characters
MEASURED = datetime(2026, 11, 29, 11, 53, tzinfo=UTC)


@pytest.mark.parametrize(
    "timestamp",
    [
        "2026-11-29T11:53:00Z",  # no timeZone, or Etc/UTC
        "2026-11-29T12:53:00+01:00",  # Rome
        "2026-11-29T06:53:00-05:00",  # New York
        "2026-11-29T17:23:00+05:30",  # Kolkata
        "2026-11-29T08:23:00-03:30",  # St John's
        "2026-11-29T11:53:00+00:00",
    ],
)
def test_every_offset_is_the_same_slot(timestamp: str) -> None:
    name = slot_name(CRONJOB, MEASURED)

    found = find(World(job=scheduled(timestamp, name)), POD | {"K8SJOB_JOB_NAME": name})

    assert str(found.period) == "2026-11-29T11:53:00Z"


def test_every_keeps_its_seconds() -> None:
    name = slot_name(CRONJOB, MEASURED)

    world = World(job=scheduled("2026-11-29T11:53:30Z", name))
    found = find(world, POD | {"K8SJOB_JOB_NAME": name})

    assert str(found.period) == "2026-11-29T11:53:30Z"


def test_a_cronjob_with_a_name_of_52_characters_is_no_exception() -> None:
    assert len(LONG) == 52
    name = slot_name(LONG, MEASURED)
    env = POD | {"K8SJOB_CRONJOB": LONG, "K8SJOB_JOB_NAME": name}

    found = find(World(job=scheduled("2026-11-29T11:53:00Z", name, owner=LONG)), env)

    assert (str(found.job), str(found.period)) == (f"billing/{LONG}", "2026-11-29T11:53:00Z")


@pytest.mark.parametrize(
    "timestamp",
    [
        "yesterday",
        "2026-09-13",
        "2026-09-13T00:00:00",  # without an offset
        "2026-09-13 00:00:00Z",
        "20260913T000000Z",
        "2026-09-13T00:00Z",
        "2026-09-13T00:00:00.5Z",
        "2026-09-31T00:00:00Z",
        "2026-09-13T24:00:00Z",
        "2026-09-13T00:00:00+25:00",
        "2026-09-13T00:00:00Z\n",
        "٢٠٢٦-09-13T00:00:00Z",
        "0001-01-01T00:00:00Z",  # Go's zero time
        "9999-12-31T23:59:59-12:00",
        "1789257600",
    ],
)
def test_garbage_is_not_believed_and_the_message_says_what_to_pass(timestamp: str) -> None:
    with pytest.raises(NoPeriod) as refused:
        find(World(job=scheduled(timestamp), known_of=ledger()))

    assert "cronjob-scheduled-timestamp: not believed" in str(refused.value)
    assert "Pass --period" in str(refused.value)


@pytest.mark.parametrize(
    "name",
    [
        "daily-credit-manual",  # a stale one that a template has brought into a manual Job
        "daily-credit-29820961",
        "daily-credit-2982096",
        "daily-credit-1789257600",  # seconds
        "daily-credit-29820960-x2v8q",  # a Pod's
        "other-29820960",
        "daily-credit-bf-20260911-0-1",
    ],
)
def test_a_timestamp_on_a_job_of_another_name_is_not_believed(name: str) -> None:
    with pytest.raises(NoPeriod, match=f"and this one is {name}"):
        find(World(job=scheduled(SLOT, name), known_of=ledger()), POD | {"K8SJOB_JOB_NAME": name})


def test_the_owners_name_counts_and_not_the_variable() -> None:
    env = POD | {"K8SJOB_CRONJOB": "renamed", "K8SJOB_JOB": "billing/daily-credit"}

    assert find(World(job=scheduled()), env).source == "scheduled-timestamp"


def test_without_an_owner_the_variable_counts() -> None:
    orphan = job(TIMESTAMP=SLOT, owner=None)

    assert find(World(job=orphan)).source == "scheduled-timestamp"
    with pytest.raises(NoPeriod, match="not believed"):
        find(World(job=orphan), POD | {"K8SJOB_CRONJOB": "daily", "K8SJOB_JOB": "a/b"})


@pytest.mark.parametrize(
    "change",
    [{"controller": False}, {"kind": "Workflow"}, {"apiVersion": "batch.example.org/v1"}],
    ids=str,
)
def test_an_owner_of_another_kind_is_none(change: dict[str, object]) -> None:
    owned = scheduled()
    owned["metadata"]["ownerReferences"][1] |= change

    with pytest.raises(NoPeriod, match="no CronJob controls this Job"):
        find(World(job=owned), without("K8SJOB_CRONJOB", K8SJOB_JOB="billing/daily-credit"))


def test_instantiate_manual_is_not_looked_at_since_a_template_may_fake_it() -> None:
    faked = scheduled()
    faked["metadata"]["annotations"]["cronjob.kubernetes.io/instantiate"] = "manual"

    assert find(World(job=faked)).source == "scheduled-timestamp"


def test_a_period_left_in_the_template_does_not_reach_scheduled_jobs() -> None:
    found = find(World(job=job(TIMESTAMP=SLOT, PERIOD="2026-01-01T00:00:00Z")))

    assert (str(found.period), found.source) == (SLOT, "scheduled-timestamp")


# -------------------------------------------------------------------------------------- cycles


@pytest.mark.parametrize(
    ("cycle", "period"),
    [
        ("scheduled", "2026-09-13T22:30:00Z"),
        ("day", "2026-09-14"),  # it is half past midnight in Rome
        ("week", "2026-W38"),
        ("month", "2026-09"),
        ("once", "once"),
    ],
)
def test_a_natural_period_is_the_one_that_the_fire_falls_in(cycle: str, period: str) -> None:
    at = datetime(2026, 9, 13, 22, 30, tzinfo=UTC)
    name = slot_name(CRONJOB, at)
    env = POD | {
        "K8SJOB_JOB_NAME": name,
        "K8SJOB_CYCLE": cycle,
        "K8SJOB_TIME_ZONE": "Europe/Rome",
    }

    found = find(World(job=scheduled("2026-09-14T00:30:00+02:00", name)), env)

    assert (str(found.period), found.cycle, found.fire) == (period, cycle, at)


def test_the_cycle_is_the_variable_else_the_annotation_else_the_ledgers_own() -> None:
    def cycle(known: Mapping[str, object], **env: str) -> Cycle:
        world = World(job=scheduled(), known_of=ledger(zone="Etc/UTC", **known))
        return find(world, POD | env).cycle

    annotated = {"limits": {"cycle": "week"}, "cycle": Cycle.DAY}
    assert cycle(annotated, K8SJOB_CYCLE="month") == "month"
    assert cycle(annotated) == "week"
    assert cycle({"cycle": Cycle.DAY}) == "day"
    assert cycle({}) == "scheduled"


def test_the_zone_is_what_is_passed_else_the_ledgers() -> None:
    world = World(job=scheduled(), known_of=ledger(zone="Asia/Tokyo", cycle=Cycle.DAY))

    assert find(world, time_zone="America/New_York").zone == "America/New_York"
    assert find(world, POD | {"K8SJOB_TIME_ZONE": "Etc/UTC"}).zone == "Etc/UTC"
    assert find(world).zone == "Asia/Tokyo"


def test_a_day_without_a_zone_is_refused_with_what_to_set() -> None:
    with pytest.raises(ConfigError, match="K8SJOB_TIME_ZONE"):
        find(World(job=scheduled(), known_of=ledger(cycle=Cycle.DAY)))


def test_another_cycle_or_policy_is_refused_with_the_variables_name() -> None:
    with pytest.raises(ConfigError, match="K8SJOB_CYCLE: cycle 'daily'"):
        find(World(), POD | {"K8SJOB_CYCLE": "daily"})
    with pytest.raises(ConfigError, match="K8SJOB_MANUAL_RUNS: 'oldest'"):
        find(World(), POD | {"K8SJOB_MANUAL_RUNS": "oldest"})
    with pytest.raises(ConfigError, match="K8SJOB_MAX_LATENESS: not a duration: 'soon'"):
        find(World(), POD | {"K8SJOB_MAX_LATENESS": "soon"})


def test_a_slot_long_ago_or_ahead_is_the_apis_to_tell() -> None:
    late = MEASURED - timedelta(days=500)
    name = slot_name(CRONJOB, late)

    found = find(
        World(job=scheduled(f"{late:%Y-%m-%dT%H:%M:%SZ}", name)), POD | {"K8SJOB_JOB_NAME": name}
    )

    assert found.fire == late
