"""``kubectl create job --from``: refused, or taken for the oldest missing period."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.e2e.missed import miss_a_slot
from tests.e2e.scene import message, period

if TYPE_CHECKING:
    from tests.e2e.cluster import Object
    from tests.e2e.scene import Scene


@dataclass
class Seen:
    """How both Jobs ended, and what came of the period."""

    refused: str
    message: str
    after_refusal: int
    accepted: str
    source: str
    row: Object | None
    balance: int


def play(scene: Scene) -> Seen:
    """Make a Job from the CronJob, then allow that and make another."""
    at = miss_a_slot(scene)
    refused = _by_hand(scene, "first-try")
    (pod,) = scene.pods("first-try")
    before = scene.balance
    allow = ("annotate", "cronjob/credit", "k8sjob.io/manual-runs=oldest-missing")
    assert scene.kubectl(*allow).good
    scene.wait_for_pass()
    accepted = _by_hand(scene, "second-try")
    told = scene.rows(f"SELECT source FROM k8sjob.attempts WHERE period = '{period(at)}'")
    return Seen(
        refused=refused,
        message=message(pod),
        after_refusal=before,
        accepted=accepted,
        source=" ".join(row["source"] for row in told),
        row=scene.row("credit", at),
        balance=scene.balance,
    )


def _by_hand(scene: Scene, name: str) -> str:
    assert scene.kubectl("create", "job", name, "--from=cronjob/credit").good
    return scene.end_of(name)


def test_it_is_refused_at_once_with_66(seen: Seen) -> None:
    assert seen.refused.startswith("Failed: PodFailurePolicy")
    assert "exit code 66" in seen.refused
    assert seen.after_refusal == 0


def test_the_termination_message_says_what_to_pass(seen: Seen) -> None:
    assert "Nothing was done." in seen.message
    assert "manual-runs" in seen.message


def test_it_takes_the_oldest_missing_period_where_that_is_the_policy(seen: Seen) -> None:
    assert seen.accepted == "Complete"
    assert seen.row
    assert seen.row["state"] == "done"
    assert "oldest-missing" in seen.source
    assert seen.balance == 10
