from __future__ import annotations

from uuid import UUID

import pytest

from k8sjob.errors import K8sjobError
from k8sjob.key import Key
from k8sjob.ledger.known import Resolution
from k8sjob.run.origin.context_file import Context
from tests.resolve.world import AWAY, POD, SLOT, UID, World, backfill, find, job, ledger, scheduled

OTHER = Key.parse("billing/daily-credit:2026-08-01T00:00:00Z")
CONTEXT = Context(key=OTHER, source="scheduled-timestamp", attempt=UUID(int=7))
KEPT = Resolution(OTHER.job, OTHER.period, "job-name")


def everything() -> World:
    """Return a world in which each source has something to say."""
    return World(
        job=scheduled(),
        known_of=ledger(),
        contexts={"/k8sjob": CONTEXT},
        kept={UID: KEPT},
    )


def test_what_is_passed_wins_and_nobody_is_asked_but_for_the_schedule() -> None:
    world = everything()

    found = find(world, POD | {"K8SJOB_CONTEXT": "/k8sjob"}, period="2026-09-01T00:00:00Z")

    assert (str(found.period), found.source) == ("2026-09-01T00:00:00Z", "--period")
    assert world.asked == ["known"]


def test_the_variable_is_told_from_the_flag() -> None:
    found = find(everything(), POD | {"K8SJOB_PERIOD": "2026-09-01T00:00:00Z"})

    assert found.source == "K8SJOB_PERIOD"


def test_what_is_passed_is_not_remembered() -> None:
    world = World(known_of=ledger())

    find(world, period="2026-09-01T00:00:00Z")

    assert world.kept == {}


def test_the_context_file_comes_second() -> None:
    world = everything()

    found = find(world, POD | {"K8SJOB_CONTEXT": "/k8sjob"})

    assert (found.key, found.source) == (OTHER, "context (scheduled-timestamp)")
    assert "resolution" not in world.asked
    assert not any(asked.startswith("GET") for asked in world.asked)


def test_the_ledger_comes_third_and_the_api_is_not_asked() -> None:
    world = everything()

    found = find(world)

    assert (found.key, found.source) == (OTHER, "remembered (job-name)")
    assert world.asked == ["resolution", "known"]


def test_the_annotation_of_a_backfill_comes_fourth() -> None:
    world = World(job=backfill(), known_of=ledger())

    found = find(world, POD | {"K8SJOB_JOB_NAME": "daily-credit-bf-20260911-0-1"})

    assert (str(found.period), found.source) == ("2026-09-11T00:00:00Z", "backfill-annotation")


def test_the_controllers_annotation_comes_fifth() -> None:
    world = World(job=scheduled(), known_of=ledger())

    found = find(world)

    assert (str(found.period), found.source) == (SLOT, "scheduled-timestamp")
    assert world.asked == [
        "resolution",
        f"GET billing/{POD['K8SJOB_JOB_NAME']}",
        "known",
        "remember",
    ]


def test_a_manual_job_goes_by_the_policy_and_never_by_what_the_pod_has() -> None:
    env = POD | {"K8SJOB_SCHEDULED_TIMESTAMP": SLOT, "K8SJOB_MANUAL_RUNS": "oldest-missing"}
    world = World(job=job(), known_of=ledger(), missing_of=[OTHER.period])

    found = find(world, env)

    assert (found.key, found.source) == (OTHER, "manual oldest-missing")


def test_the_downward_api_comes_seventh_where_the_api_is_in_trouble() -> None:
    found = find(World(job=AWAY, known_of=ledger()), POD | {"K8SJOB_SCHEDULED_TIMESTAMP": SLOT})

    assert (str(found.period), found.source) == (SLOT, "downward-api")


def test_the_jobs_name_comes_last() -> None:
    found = find(World(job=AWAY, known_of=ledger()))

    assert (str(found.period), found.source) == (SLOT, "job-name")


@pytest.mark.parametrize("variable", [*POD, "K8SJOB_SCHEDULED_TIMESTAMP", "K8SJOB_CONTEXT"])
def test_an_empty_variable_is_an_absent_one(variable: str) -> None:
    absent = {k: v for k, v in POD.items() if k != variable}

    def outcome(env: dict[str, str]) -> object:
        try:
            return find(World(job=AWAY, known_of=ledger()), env)
        except K8sjobError as error:
            return str(error)

    assert outcome(POD | {variable: ""}) == outcome(absent)


def test_what_is_found_is_told_with_where_it_belongs() -> None:
    found = find(World(job=scheduled(), known_of=ledger(zone="Europe/Rome")))

    assert str(found.job) == "billing/daily-credit"
    assert (found.cycle, found.zone) == ("scheduled", "Europe/Rome")
    assert (found.cronjob, found.job_uid) == ("daily-credit", UID)
    assert found.job_name == POD["K8SJOB_JOB_NAME"]
    assert found.fire == found.scheduled_for
