"""The Jobs of catch-up: noted in the ledger first, then made; made twice they are made once."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
        watcher.note_launch(wanted.key, wanted.generation, wanted.try_, name, REASON)
        cluster.create_job(manifest)
        return name

    return launch
