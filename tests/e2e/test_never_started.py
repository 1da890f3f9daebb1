"""Jobs that were created and start nothing: the reconciler says so, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.e2e.cluster import until
from tests.e2e.scene import slot

if TYPE_CHECKING:
    from datetime import datetime

    from tests.e2e.cluster import Object
    from tests.e2e.scene import Scene

NOWHERE = {"nodeSelector": {"k8sjob.io/no-such-node": "true"}}


@dataclass
class Seen:
    """The rows of both periods, the two jobs, and what was told of them."""

    no_image: Object
    no_node: Object
    jobs: list[Object]
    told: str


def play(scene: Scene) -> Seen:
    """Start a CronJob whose image is nowhere, and one that fits on no node."""
    scene.start_reconciler()
    # A pull that fails takes as long as the network likes; one that is never made fails at once.
    nothing = {"image": "k8sjob.invalid/none:1", "imagePullPolicy": "Never"}
    scene.start_cronjob("no-image", "run", "credit:credit", container=nothing)
    scene.start_cronjob("no-node", "run", "credit:credit", pod=NOWHERE)
    after = scene.wait_for_pass()
    slots = {name: slot(scene.scheduled(name, after)) for name in NAMES}
    rows = {name: _explained(scene, name, at) for name, at in slots.items()}
    jobs = until("both noted", lambda: scene.rows(UNSTARTED))
    told = scene.k8sjob("reconcile", "-n", scene.namespace, "--dry-run")
    return Seen(rows["no-image"], rows["no-node"], jobs, told.good)


NAMES = ("no-image", "no-node")
UNSTARTED = "SELECT job, unstarted_since FROM k8sjob.jobs WHERE unstarted_since IS NOT NULL"


def _explained(scene: Scene, name: str, at: datetime) -> Object:
    def row() -> Object | None:
        found = scene.row(name, at)
        return found if found and found["reason_code"] == "created-never-started" else None

    found = until(f"why {name} does not start", row, seconds=120)
    assert found
    return found


def test_an_image_that_cannot_be_had_is_told(seen: Seen) -> None:
    assert "ErrImageNeverPull" in seen.no_image["reason"]


def test_a_pod_that_fits_nowhere_is_told(seen: Seen) -> None:
    assert "Unschedulable: 0/" in seen.no_node["reason"]


def test_both_periods_are_unfinished(seen: Seen) -> None:
    assert {seen.no_image["state"], seen.no_node["state"]} == {"open"}


def test_both_jobs_are_known_to_have_started_nothing(seen: Seen) -> None:
    assert [row["job"].rpartition("/")[2] for row in seen.jobs] == [*NAMES]
