"""A slot that is missed, by real controllers: its Job cannot start, and is deleted."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from tests.e2e.cluster import until
from tests.e2e.scene import slot, wait_until

if TYPE_CHECKING:
    from datetime import datetime

    from tests.e2e.scene import Scene

_NOWHERE = {"nodeSelector": {"k8sjob.io/no-such-node": "true"}}
_ANYWHERE = """{"spec": {"suspend": true, "jobTemplate": {"spec": {"template": {"spec":
    {"nodeSelector": null}}}}}}"""


def miss_a_slot(scene: Scene) -> datetime:
    """Return a slot of CronJob ``credit`` that is known to be missing.

    The CronJob is suspended then, so that no other slot comes, and its Jobs can start.
    """
    scene.start_reconciler()
    scene.start_cronjob("credit", "run", "credit:credit", pod=_NOWHERE)
    job = scene.scheduled_and_tracked("credit")
    # Marks of writes have whole seconds: one in the slot's own could be before it or after.
    wait_until(slot(job) + timedelta(seconds=2))
    scene.patch("cronjob/credit", _ANYWHERE)
    scene.delete("jobs", "--all")  # one of the slot before tracking too
    until("the row of the missing period", lambda: scene.row("credit", slot(job)), seconds=90)
    return slot(job)
