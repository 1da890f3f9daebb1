"""Where the API is of no help: the downward API, and the Job's name."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from k8sjob.errors import NoPeriod, TryAgain, UsageError
from k8sjob.kube.names import slot_name
from tests.resolve.world import AT, AWAY, CRONJOB, NOW, POD, SLOT, World, find, ledger, without

LONG = "nightly-reconciliation-of-the-general-ledger-of-2026"


def helpless(**facts: Any) -> World:
    """Return a cluster whose API does not answer."""
    return World(job=AWAY, known_of=ledger(**facts))


# ------------------------------------------------------------------------- the downward API


@pytest.mark.parametrize("timestamp", [SLOT, "2026-09-13T02:00:00+02:00"])
def test_a_copied_annotation_is_believed_on_the_job_that_it_fits(timestamp: str) -> None:
    found = find(helpless(), POD | {"K8SJOB_SCHEDULED_TIMESTAMP": timestamp})

    assert (str(found.period), found.source) == (SLOT, "downward-api")


def test_where_the_cronjob_is_not_known_the_minutes_have_to_fit() -> None:
    env = without("K8SJOB_CRONJOB", K8SJOB_JOB="billing/credit", K8SJOB_SCHEDULED_TIMESTAMP=SLOT)

    assert find(helpless(), env).source == "downward-api"
    for name in ("daily-credit-29820961", "29820960", "-29820960", "daily-credit-29820960-x2v8q"):
        with pytest.raises(TryAgain, match="K8SJOB_SCHEDULED_TIMESTAMP: not believed"):
            find(helpless(), env | {"K8SJOB_JOB_NAME": name})


def test_without_the_jobs_name_nothing_is_believed() -> None:
    env = without("K8SJOB_JOB_NAME", K8SJOB_SCHEDULED_TIMESTAMP=SLOT)

    with pytest.raises(NoPeriod, match="not believed, the Job's name is not known"):
        find(World(known_of=ledger()), env)


@pytest.mark.parametrize("timestamp", ["2026-13-01T00:00:00Z", "29820960", "<no value>"])
def test_garbage_is_not_believed(timestamp: str) -> None:
    env = without("K8SJOB_CRONJOB", K8SJOB_JOB="a/b", K8SJOB_SCHEDULED_TIMESTAMP=timestamp)

    with pytest.raises(TryAgain, match="is no time such as"):
        find(helpless(), env)


# ------------------------------------------------------------------------------ the Job's name


def test_the_name_of_a_slots_job_is_its_slot() -> None:
    found = find(helpless())

    assert (str(found.period), found.source, found.cronjob) == (SLOT, "job-name", CRONJOB)


def test_a_cronjob_with_a_name_of_52_characters_is_no_exception() -> None:
    name = slot_name(LONG, AT)

    found = find(helpless(), POD | {"K8SJOB_CRONJOB": LONG, "K8SJOB_JOB_NAME": name})

    assert (len(LONG), str(found.period)) == (52, SLOT)


@pytest.mark.parametrize(
    "name",
    [
        "daily-credit-1789257600",  # seconds, as before Kubernetes 1.21
        "daily-credit-29820960-x2v8q",  # a Pod's
        "daily-credit-2982096",
        "daily-credit-20260913",  # a date
        "other-29820960",
        "daily-credit-manual",
        "daily-credit",
    ],
)
def test_other_names_are_not_believed(name: str) -> None:
    with pytest.raises(TryAgain, match="the Job's name: not believed"):
        find(helpless(), POD | {"K8SJOB_JOB_NAME": name})


def test_without_the_cronjobs_name_nothing_is_believed() -> None:
    with pytest.raises(TryAgain, match="set K8SJOB_CRONJOB"):
        find(helpless(), without("K8SJOB_CRONJOB", K8SJOB_JOB="billing/daily-credit"))


@pytest.mark.parametrize(
    ("slot", "believed"),
    [
        (NOW - timedelta(days=400) + timedelta(minutes=1), True),
        (NOW - timedelta(days=400, minutes=1), False),
        (NOW + timedelta(minutes=5), True),
        (NOW + timedelta(minutes=6), False),
    ],
    ids=str,
)
def test_a_slot_far_from_now_is_not_believed(slot: datetime, *, believed: bool) -> None:
    env = POD | {"K8SJOB_JOB_NAME": slot_name(CRONJOB, slot)}

    if believed:
        assert find(helpless(), env).fire == slot
        return
    with pytest.raises(TryAgain, match="far from now"):
        find(helpless(), env)


def test_the_ledgers_clock_says_what_is_far_from_now() -> None:
    behind = helpless(now=NOW - timedelta(hours=1))

    with pytest.raises(TryAgain, match="far from now"):
        find(behind)


def test_nothing_is_taken_from_what_merely_exists() -> None:
    env = {"K8SJOB_POD_NAME": "daily-credit-29820960-x2v8q", "HOSTNAME": "daily-credit-29820960"}

    with pytest.raises(UsageError):
        find(World(), env | {"K8SJOB_PERIOD": SLOT})
    with pytest.raises(NoPeriod):
        find(World(), env | {"K8SJOB_JOB": "billing/daily-credit"})
