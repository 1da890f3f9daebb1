"""The period on a Job that backfill has made: a template's own would reach every Job."""

from __future__ import annotations

import pytest

from k8sjob.errors import ConfigError, NoPeriod
from k8sjob.key import Key
from k8sjob.kube import words
from k8sjob.kube.names import backfill_name
from tests.resolve.world import (
    BACKFILL_NAME,
    CRONJOB,
    POD,
    World,
    backfill,
    find,
    job,
    ledger,
    without,
)

ENV = POD | {"K8SJOB_JOB_NAME": BACKFILL_NAME}
LONG = "x" * 52


@pytest.mark.parametrize("period", ["2026-09-11T00:00:00Z", "2026-09-11", "2026-W37", "2026-09"])
def test_the_period_is_believed_on_the_job_that_backfill_calls_so(period: str) -> None:
    name = backfill_name(CRONJOB, Key.parse(f"billing/daily-credit:{period}"), 3, 2)

    found = find(World(job=backfill(period, name)), POD | {"K8SJOB_JOB_NAME": name})

    assert (str(found.period), found.source) == (period, "backfill-annotation")
    assert found.cronjob == CRONJOB


def test_a_long_name_that_was_cut_is_believed_too() -> None:
    key = Key.parse(f"billing/{LONG}:2026-09-11")
    name = backfill_name(LONG, key, 0, 1)
    labels = {words.CRONJOB: LONG}
    made = job(name, owner=None, labels=labels, PERIOD="2026-09-11", JOB=f"billing/{LONG}")

    found = find(World(job=made), {"K8SJOB_NAMESPACE": "billing", "K8SJOB_JOB_NAME": name})

    assert found.key == key


def test_the_label_tells_whose_template_it_was_and_the_variable_where_there_is_none() -> None:
    bare = job(BACKFILL_NAME, owner=None, PERIOD="2026-09-11T00:00:00Z")

    assert find(World(job=bare), ENV).source == "backfill-annotation"
    with pytest.raises(NoPeriod, match=r"there is no label k8sjob\.io/cronjob"):
        find(World(job=bare), without("K8SJOB_CRONJOB", K8SJOB_JOB="billing/daily-credit"))


def test_a_job_of_another_name_keeps_its_key_apart() -> None:
    key = Key.parse("billing/credit-v2:2026-09-11T00:00:00Z")
    name = backfill_name(CRONJOB, key, 0, 1)
    labels = {words.CRONJOB: CRONJOB}
    made = job(name, owner=None, labels=labels, PERIOD=str(key.period), JOB="billing/credit-v2")

    assert find(World(job=made), POD | {"K8SJOB_JOB_NAME": name}).key == key


@pytest.mark.parametrize(
    "name", ["daily-credit-again", "daily-credit-bf-20260912-0-1", "daily-credit-29820960", "x"]
)
def test_the_period_on_a_job_of_another_name_is_not_believed(name: str) -> None:
    with pytest.raises(NoPeriod, match="2026-09-11T00:00:00Z is not believed") as refused:
        find(World(job=backfill(name=name), known_of=ledger()), POD | {"K8SJOB_JOB_NAME": name})

    assert "k8sjob backfill billing/daily-credit" in str(refused.value)


@pytest.mark.parametrize("text", ["2026-9-11", "yesterday", "2026-09-11..2026-09-12", " "])
def test_garbage_is_not_believed(text: str) -> None:
    with pytest.raises(NoPeriod, match=r"k8sjob\.io/period: not believed, .* is no period"):
        find(World(job=backfill(text), known_of=ledger()), ENV)


def test_what_the_job_supersedes_is_kept() -> None:
    made = backfill("2026-09-11T00:00:00Z", SUPERSEDES="2026-09-08T00:00:00Z..2026-09-10T00:00:00Z")

    found = find(World(job=made), ENV)

    assert str(found.supersedes) == (
        "billing/daily-credit:2026-09-08T00:00:00Z..2026-09-10T00:00:00Z"
    )


def test_a_retry_supersedes_the_same() -> None:
    older = "2026-09-08T00:00:00Z..2026-09-10T00:00:00Z"
    world = World(job=backfill(SUPERSEDES=older), known_of=ledger())

    first, second = find(world, ENV), find(world, ENV)

    assert second.source == "remembered (backfill-annotation)"
    assert str(second.supersedes) == str(first.supersedes) == f"billing/daily-credit:{older}"


@pytest.mark.parametrize(
    "text",
    [
        "2026-09-08T00:00:00Z",
        "2026-09-10T00:00:00Z..2026-09-08T00:00:00Z",
        "2026-09-08..2026-09-10",
        "2026-09-08T00:00:00Z..2026-09-11T00:00:00Z",  # itself
        "all",
    ],
)
def test_superseding_anything_but_older_periods_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"k8sjob\.io/supersedes"):
        find(World(job=backfill(SUPERSEDES=text)), ENV)


def test_a_template_with_supersedes_in_it_supersedes_nothing() -> None:
    made = job(TIMESTAMP="2026-09-13T00:00:00Z", SUPERSEDES="2026-09-08..2026-09-10")

    assert find(World(job=made)).supersedes is None


def test_a_backfill_is_never_too_late() -> None:
    world = World(job=backfill(), known_of=ledger(limits={"max_lateness_s": 60}))

    assert find(world, ENV).late is None
