"""Make the Job of a period: note it, create it, see whose it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from k8sjob.backfill.points import reached
from k8sjob.backfill.traces import ours
from k8sjob.errors import Denied, K8sjobError
from k8sjob.kube.manifest import backfill_job
from k8sjob.kube.names import backfill_name
from k8sjob.ledger.launches import Launch

if TYPE_CHECKING:
    from k8sjob.key import Key
    from k8sjob.kube.client import Cluster
    from k8sjob.kube.objects import CronJob, Job
    from k8sjob.ledger.launches import Launches


class NameTaken(K8sjobError):
    """Another Job has the name that the Job of a period would get."""


@dataclass(frozen=True, slots=True)
class Launched:
    """The Job that is there now, and whether this call has made it."""

    how: Literal["created", "exists"]
    job: Job


@dataclass(slots=True)
class Launcher:
    """Makes Jobs. ``launches`` is None, or becomes None, where notes may not be written.

    Without notes the numbers come from the Jobs that are to be seen, which is as safe: the claim
    decides, and no name is ever used twice at a time.
    """

    cluster: Cluster
    launches: Launches | None
    denied: str | None = None

    def launch(
        self, cronjob: CronJob, key: Key, generation: int, try_: int, *, reason: str
    ) -> Launched:
        """Create the Job, or return the one that somebody else has just made for the same.

        Raises NameTaken, and what the cluster and the ledger raise. Killed at any moment and called
        again with the same arguments, it comes to one Job.
        """
        manifest = backfill_job(cronjob, key, generation, try_)
        name = backfill_name(cronjob.name, key, generation, try_)
        noted = Launch(key=key, generation=generation, try_=try_, name=name, reason=reason)
        self._note(noted)
        reached("noted")
        made = self.cluster.create_job(manifest)
        reached("created")
        job = made.job
        if made.how == "exists" and not ours(job, cronjob, key):
            raise NameTaken(_taken(job, key))
        self._note(replace(noted, uid=job.uid))
        return Launched(made.how, job)

    def _note(self, launch: Launch) -> None:
        if self.launches is None:
            return
        try:
            self.launches.note(launch)
        except Denied as error:
            self.launches, self.denied = None, str(error)


def _taken(job: Job, key: Key) -> str:
    return (
        f"a Job called {job.namespace}/{job.name} is there already, and it is no backfill of {key}."
        " Nothing was created for that period.\n"
        f"  See what it is: kubectl describe job -n {job.namespace} {job.name}; take it away, or "
        "wait until it is gone."
    )
