"""What a pass reads of the cluster. The only part of it that asks Kubernetes."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from k8sjob.errors import K8sjobError
from k8sjob.kube import words
from k8sjob.reconcile.seen import World

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from k8sjob.kube.client import Cluster

T = TypeVar("T")

ENABLED = f"{words.ENABLED}=true"


def gather(cluster: Cluster, namespaces: Sequence[str] | None) -> World:
    """Return what there is in these namespaces (None: in all).

    A list that fails is None in the answer, and its trouble is told: half of a list would make
    what is there look gone. Jobs and Pods are listed after the ledger's attempts were read.
    """
    troubles: list[str] = []
    spaces: Sequence[str | None] = [None] if namespaces is None else namespaces

    def whole(what: str, ask: Callable[[str | None], list[T]]) -> list[T] | None:
        try:
            return [found for space in spaces for found in ask(space)]
        except K8sjobError as error:
            troubles.append(f"{what} could not be listed: {error}")
            return None

    cronjobs = whole("CronJobs", lambda space: cluster.list_cronjobs(space, ENABLED))
    jobs = whole("Jobs", cluster.list_jobs)
    pods = whole("Pods", lambda space: cluster.list_pods(space, words.JOB_NAME_LABEL))
    events = whole("Events", lambda space: cluster.list_events(space, "reason=FailedCreate"))
    return World(
        cronjobs=cronjobs, jobs=jobs, pods=pods, events=events or (), troubles=tuple(troubles)
    )
