"""Which job a period is of."""

from __future__ import annotations

import pytest

from k8sjob.errors import ConfigError, InvalidKey, TryAgain, UsageError
from k8sjob.key import JobName
from k8sjob.ledger.known import Resolution
from k8sjob.period import Period
from tests.resolve.world import AWAY, JOB, POD, SLOT, UID, World, find, job, ledger, without


@pytest.mark.parametrize(
    ("env", "flags", "named"),
    [
        (POD | {"K8SJOB_JOB": "ops/other"}, {"job": "billing/credit"}, "billing/credit"),
        (POD | {"K8SJOB_JOB": "ops/other"}, {}, "ops/other"),
        (POD | {"K8SJOB_JOB": "credit"}, {}, "billing/credit"),
        (POD, {}, "billing/of-the-annotation"),
    ],
)
def test_what_is_asked_for_wins_over_the_annotation(
    env: dict[str, str], flags: dict[str, str], named: str
) -> None:
    annotated = job(TIMESTAMP=SLOT, JOB="billing/of-the-annotation")

    assert str(find(World(job=annotated), env, **flags).job) == named


def test_an_annotation_without_a_namespace_is_of_the_pods() -> None:
    assert str(find(World(job=job(TIMESTAMP=SLOT, JOB="credit"))).job) == "billing/credit"


def test_the_variable_with_the_cronjobs_name_wins_over_its_owner() -> None:
    annotated = job(TIMESTAMP=SLOT)

    assert str(find(World(job=annotated)).job) == "billing/daily-credit"
    renamed = POD | {"K8SJOB_CRONJOB": "as-it-was-called"}
    assert str(find(World(job=annotated), renamed).job) == "billing/as-it-was-called"
    assert str(find(World(job=annotated), without("K8SJOB_CRONJOB")).job) == "billing/daily-credit"


def test_a_period_that_is_passed_asks_the_api_for_the_job_where_nothing_else_names_it() -> None:
    world = World(job=job())

    found = find(world, without("K8SJOB_CRONJOB"), period=SLOT)

    assert (str(found.key), found.source) == (f"billing/daily-credit:{SLOT}", "--period")
    assert any(asked.startswith("GET") for asked in world.asked)


def test_a_name_that_only_the_api_has_may_be_had_later() -> None:
    with pytest.raises(TryAgain, match="did not answer"):
        find(World(job=AWAY), without("K8SJOB_CRONJOB"), period=SLOT)
    with pytest.raises(UsageError, match="no job is named"):
        find(World(), without("K8SJOB_CRONJOB"), period=SLOT)


def test_a_wrong_name_is_refused() -> None:
    with pytest.raises(InvalidKey, match="NAMESPACE/NAME"):
        find(World(job=job(TIMESTAMP=SLOT, JOB="a/b/c/d")))


def test_a_cronjob_that_calls_its_job_something_else_is_known_to_the_ledger() -> None:
    called = JobName.parse("billing/as-it-was-called")

    def world() -> World:
        return World(job=job(TIMESTAMP=SLOT), known_of=ledger(called=called))

    assert find(world()).job == called
    assert find(world(), without("K8SJOB_CRONJOB")).job == called
    assert find(world(), period=SLOT).job == called
    assert str(find(world(), job=JOB).job) == JOB
    annotated = World(job=job(TIMESTAMP=SLOT, JOB=JOB), known_of=ledger(called=called))
    assert str(find(annotated).job) == JOB


# -------------------------------------------------------------------- what the ledger keeps


def kept(name: str = "billing/daily-credit") -> World:
    resolution = Resolution(JobName.parse(name), Period.parse(SLOT), "job-name")
    return World(known_of=ledger(), kept={UID: resolution})


def test_what_is_kept_of_a_job_names_it() -> None:
    assert str(find(kept("billing/credit-v2")).job) == "billing/credit-v2"


def test_what_is_kept_of_another_job_is_refused() -> None:
    with pytest.raises(ConfigError, match="what the ledger keeps for this Job is of billing/daily"):
        find(kept(), job="billing/invoices")


def test_a_part_of_the_job_is_no_other_job() -> None:
    world = kept()

    assert str(find(world, job="billing/daily-credit/eu").key) == (
        f"billing/daily-credit/eu:{SLOT}"
    )


def test_of_a_part_the_job_is_kept_so_that_the_next_part_finds_it() -> None:
    world = World(job=job(TIMESTAMP=SLOT), known_of=ledger())

    first = find(world, job="billing/daily-credit/eu")
    second = find(world, job="billing/daily-credit/us")

    assert world.kept[UID].job == JobName.parse("billing/daily-credit")
    assert (str(first.job), str(second.job)) == (
        "billing/daily-credit/eu",
        "billing/daily-credit/us",
    )
    assert second.source == "remembered (scheduled-timestamp)"
