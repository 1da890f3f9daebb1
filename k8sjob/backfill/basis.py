"""What is known of a job before its periods are looked at. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from k8sjob.errors import K8sjobError, NoPeriod
from k8sjob.expect import Version
from k8sjob.period import Cycle
from k8sjob.policy import read_policy

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from k8sjob.key import JobName
    from k8sjob.kube.objects import CronJob
    from k8sjob.ledger.known import Known

_NO_ZONE = "Etc/UTC"


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What the ledger, or else the CronJob, says of a job. Instants are aware UTC.

    ``zone`` is None where nobody has said one. ``tracked``: the versions are those that the
    reconciler has seen, and not today's CronJob taken for all of its life. ``edited``: that
    CronJob has been edited since, so earlier periods may have had another schedule.
    """

    job: JobName
    now: datetime
    cycle: Cycle | None = None
    zone: str | None = None
    versions: Sequence[Version] = ()
    tracked: bool = False
    done_until: datetime | None = None
    floor: str | None = None
    grace_s: float | None = None
    edited: bool = False
    cronjob: CronJob | None = field(default=None, repr=False)

    @property
    def place(self) -> str:
        """The zone that days, weeks and months are read in."""
        return self.zone or _NO_ZONE


def basis_of(
    known: Known,
    cronjob: CronJob | None,
    *,
    zone: str | None = None,
    cycle: Cycle | None = None,
) -> Basis:
    """Put together what is known. ``zone`` and ``cycle`` are for jobs that have none of their own.

    Raises ConfigError, InvalidKey where the CronJob says something that does not parse.
    """
    tracked = bool(known.versions)
    own = _own_version(cronjob) if cronjob else None
    versions = known.versions or ([own] if own else [])
    own_cycle = _own_cycle(cronjob) if cronjob else None
    return Basis(
        job=known.job,
        now=known.now,
        cycle=known.cycle or own_cycle or cycle,
        zone=known.zone or (own.place if own else None) or zone,
        versions=versions,
        tracked=tracked,
        done_until=known.done_until,
        floor=known.floor,
        grace_s=known.grace_s,
        edited=not tracked and cronjob is not None and cronjob.generation > 1,
        cronjob=cronjob,
    )


def _own_cycle(cronjob: CronJob) -> Cycle:
    said = read_policy(cronjob.annotations).cycle
    declared = cronjob.declared("K8SJOB_CYCLE")
    return said or (Cycle(declared) if declared else Cycle.SCHEDULED)


def _own_version(cronjob: CronJob) -> Version:
    """Return the CronJob's schedule of today as if it had been so from the start.

    A new CronJob has no past slot (measured), so its creation is the instant to begin after.
    """
    return Version(
        n=0,
        expr=cronjob.schedule,
        zone=cronjob.zone,
        suspended=cronjob.suspended,
        earliest_from=cronjob.created,
        valid_from=cronjob.created,
    )


def check_cronjob(job: JobName, cronjob: CronJob) -> None:
    """Refuse, with K8sjobError, the template of another job."""
    named = read_policy(cronjob.annotations).job or cronjob.declared("K8SJOB_JOB")
    if named is None:
        return
    whole = named if "/" in named else f"{cronjob.namespace}/{named}"
    if whole != str(job):
        raise K8sjobError(
            f"CronJob {cronjob.namespace}/{cronjob.name} says that it is the job {whole}, not "
            f"{job}. Nothing was done.\n  k8sjob backfill {whole} …"
        )


def check_schedule(basis: Basis) -> None:
    """Refuse, with NoPeriod, to count periods without a schedule."""
    if not basis.versions and basis.cycle in (None, Cycle.SCHEDULED):
        raise NoPeriod(
            f"no schedule of {basis.job} is known, so its periods cannot be counted. Nothing was "
            "done.\n  Name one period at a time (--from P --to P, the same twice), or let the "
            "CronJob be read: --kubeconfig FILE, right cronjobs: get."
        )
