"""A period that an init container has found for the others of its Pod."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from k8sjob.errors import ConfigError
from k8sjob.key import Key, KeyRange
from k8sjob.run.origin.context_file import Context
from tests.resolve.world import POD, UID, World, find, ledger

WHOLE = Context(
    key=Key.parse("billing/daily-credit:2026-09-11T00:00:00Z"),
    source="backfill-annotation",
    attempt=UUID("0199a1c4-0000-7000-8000-000000000001"),
    window_end=datetime(2026, 9, 12, tzinfo=UTC),
    zone="Europe/Rome",
    job_uid=UID,
    cronjob="daily-credit",
    supersedes=KeyRange.parse("billing/daily-credit:2026-09-08T00:00:00Z..2026-09-10T00:00:00Z"),
)
ENV = POD | {"K8SJOB_CONTEXT": "/k8sjob"}


def given_context(context: Context = WHOLE, **world: Any) -> World:
    return World(contexts={"/k8sjob": context}, **world)


def test_the_context_tells_all_that_it_has_where_there_is_no_ledger() -> None:
    found = find(given_context(), ENV)

    assert (found.key, found.source) == (WHOLE.key, "context (backfill-annotation)")
    assert (found.window_end, found.zone) == (WHOLE.window_end, "Europe/Rome")
    assert (found.cronjob, found.supersedes) == ("daily-credit", WHOLE.supersedes)


def test_it_is_remembered_by_the_source_that_it_has_it_from() -> None:
    world = given_context(known_of=ledger())

    find(world, ENV)

    assert (world.kept[UID].period, world.kept[UID].source) == (
        WHOLE.key.period,
        "backfill-annotation",
    )


def test_what_somebody_passed_to_it_is_not_remembered() -> None:
    world = given_context(replace(WHOLE, source="--period"), known_of=ledger())

    assert find(world, ENV).source == "context (--period)"
    assert world.kept == {}


def test_the_context_of_another_job_is_refused() -> None:
    with pytest.raises(ConfigError, match="is another Job's: of UID"):
        find(given_context(replace(WHOLE, job_uid="another")), ENV)
    with pytest.raises(ConfigError, match="this run is of ops/other"):
        find(given_context(), ENV, job="ops/other")


def test_a_part_of_its_job_is_no_other_job() -> None:
    found = find(given_context(), ENV, job="billing/daily-credit/eu")

    assert str(found.job) == "billing/daily-credit/eu"


def test_a_context_that_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigError, match="there is no /k8sjob"):
        find(World(), ENV)


def test_a_period_that_a_shell_has_taken_from_it_is_the_contexts() -> None:
    env = ENV | {"K8SJOB_PERIOD": "2026-09-11T00:00:00Z", "K8SJOB_JOB": "billing/daily-credit"}

    assert find(given_context(), env).source == "context (backfill-annotation)"
    assert find(given_context(), env, period="2026-09-11T00:00:00Z").source == "--period"
    other = env | {"K8SJOB_PERIOD": "2026-09-10T00:00:00Z"}
    assert find(given_context(), other).source == "K8SJOB_PERIOD"
    assert find(World(), other).source == "K8SJOB_PERIOD"


def test_a_slot_can_be_too_late_by_the_context_too() -> None:
    context = replace(WHOLE, source="scheduled-timestamp")
    facts = ledger(limits={"max_lateness_s": 60})

    assert find(given_context(context, known_of=facts), ENV).late == "late by 2 d > 60 s"
    assert find(given_context(known_of=facts), ENV).late is None
