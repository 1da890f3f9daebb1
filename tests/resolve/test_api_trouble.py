"""Trouble with the API skips what only it tells; it is what another try may bring that counts."""

from __future__ import annotations

from typing import Any

import pytest

from k8sjob.errors import Denied, K8sjobError, NoPeriod, TryAgain, Unavailable
from k8sjob.kube.inside_trouble import Kind, Trouble
from tests.resolve.world import (
    AWAY,
    DENIED,
    GONE,
    POD,
    SLOT,
    SLOT_NAME,
    UID,
    World,
    find,
    job,
    ledger,
    scheduled,
    without,
)

#: A Job whose name says nothing.
NAMELESS = POD | {"K8SJOB_JOB_NAME": "by-hand"}


@pytest.mark.parametrize("kind", list(Kind))
def test_no_trouble_hides_what_the_pod_knows_by_itself(kind: Kind) -> None:
    world = World(job=Trouble(kind, "what happened"), known_of=ledger())

    assert find(world).source == "job-name"


@pytest.mark.parametrize(
    ("trouble", "error", "code"),
    [
        (DENIED, Denied, 77),
        (Trouble(Kind.UNAUTHORIZED, "the token is not accepted"), Denied, 77),
        (GONE, NoPeriod, 66),
        (AWAY, TryAgain, 75),
        (Trouble(Kind.UNREACHABLE, "refused"), TryAgain, 75),
        (Trouble(Kind.THROTTLED, "busy (429)"), TryAgain, 75),
        (Trouble(Kind.SERVER, "answered 500"), TryAgain, 75),
        (Trouble(Kind.GARBAGE, "no JSON object"), TryAgain, 75),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_where_nothing_else_answers_the_trouble_says_whether_to_try_again(
    trouble: Trouble, error: type[K8sjobError], code: int
) -> None:
    with pytest.raises(error) as refused:
        find(World(job=trouble, known_of=ledger()), NAMELESS)

    assert refused.value.exit_code == code
    for words in (trouble.what, trouble.advice, "Nothing was done", "--period"):
        assert words in str(refused.value)


def test_a_manual_runs_policy_is_not_asked_where_the_api_is_in_trouble() -> None:
    world = World(job=AWAY, known_of=ledger(limits={"manual_runs": "oldest-missing"}))

    with pytest.raises(TryAgain):
        find(world, NAMELESS)
    assert "missing" not in world.asked


@pytest.mark.parametrize(
    "garbage",
    [
        {},
        {"metadata": []},
        {"metadata": {"name": "x"}},
        {"metadata": {"name": SLOT_NAME, "uid": UID, "annotations": {"a": 1}}},
        {"metadata": {"name": SLOT_NAME, "uid": UID, "ownerReferences": "none"}},
    ],
    ids=str,
)
def test_an_answer_of_another_form_is_trouble_too(garbage: dict[str, Any]) -> None:
    assert find(World(job=garbage, known_of=ledger())).source == "job-name"
    with pytest.raises(TryAgain, match="cannot be read"):
        find(World(job=garbage, known_of=ledger()), NAMELESS)


def test_a_job_that_was_made_anew_under_the_same_name_is_another_one() -> None:
    world = World(job=job("by-hand", uid="another"), known_of=ledger())

    with pytest.raises(NoPeriod, match="is another one by now"):
        find(world, NAMELESS)


def test_a_ledger_that_is_away_makes_a_lasting_trouble_a_passing_one() -> None:
    world = World(job=DENIED, ledger_away=Unavailable("the ledger cannot be reached"))

    with pytest.raises(Unavailable, match="the ledger cannot be reached"):
        find(world, NAMELESS)


@pytest.mark.parametrize(
    ("env", "why"),
    [
        (without("K8SJOB_JOB_NAME"), "the Job's name is not known (set K8SJOB_JOB_NAME)"),
        (without("K8SJOB_NAMESPACE"), "the namespace is not known (set K8SJOB_NAMESPACE)"),
        (NAMELESS, "not asked, this is no Pod of a cluster"),
    ],
    ids=["no Job", "no namespace", "no Pod"],
)
def test_the_api_is_asked_only_where_it_is_known_for_what(env: dict[str, str], why: str) -> None:
    world = World(known_of=ledger())

    with pytest.raises(NoPeriod) as refused:
        find(world, env | {"K8SJOB_JOB": "billing/daily-credit", "K8SJOB_CRONJOB": ""})
    assert f"the Kubernetes API: {why}" in str(refused.value)


def test_the_namespace_is_the_variable_else_the_pods_own() -> None:
    world = World(job=scheduled(), pod_namespace="of-the-pod")

    find(world)
    found = find(world, without("K8SJOB_NAMESPACE"))

    assert [a for a in world.asked if a.startswith("GET")] == [
        f"GET billing/{SLOT_NAME}",
        f"GET of-the-pod/{SLOT_NAME}",
    ]
    assert (str(found.job), str(found.period)) == ("of-the-pod/daily-credit", SLOT)
