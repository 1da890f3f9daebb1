"""The Jobs of catch-up: noted in the ledger first, then made; made twice they are made once.

Without its uid a note is that of a Job which may not have been made: it is made again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.backfill.launch import NameTaken
from k8sjob.backfill.traces import ours
from k8sjob.errors import Unavailable
from k8sjob.kube.manifest import backfill_job

if TYPE_CHECKING:
    from k8sjob.kube.client import Cluster
    from k8sjob.ledger.watch import Watcher
    from k8sjob.reconcile.catch_up import Launch
    from k8sjob.reconcile.seen import Named
    from k8sjob.reconcile.state import Launcher

#: The reason of these launches in the ledger: catch-up counts its own only.
REASON = "catch-up"


def launcher_of(cluster: Cluster | None, watcher: Watcher) -> Launcher:
    """Return what makes the Job of a period."""

    def launch(named: Named, wanted: Launch) -> str:
        if cluster is None:
            raise Unavailable("the cluster is not reached, so no Job was made")
        manifest = backfill_job(
            named.cron,
            wanted.key,
            wanted.generation,
            wanted.try_,
            supersedes=wanted.supersedes,
        )
        name = str(manifest["metadata"]["name"])
        which = (wanted.key, wanted.generation, wanted.try_, name, REASON)
        watcher.note_launch(*which)
        made = cluster.create_job(manifest)
        if made.how == "exists" and not ours(made.job, named.cron, wanted.key):
            raise NameTaken(
                f"a Job called {named.cron.namespace}/{name} is there already and does not do "
                f"{wanted.key}, so that period was not started. Take it away, or wait until it is "
                "gone"
            )
        watcher.note_launch(*which, uid=made.job.uid)
        return name

    return launch
