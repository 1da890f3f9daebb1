"""Which Jobs and Pods stand for which period, and which of them are not over yet. Pure."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from k8sjob.errors import K8sjobError
from k8sjob.kube.names import is_backfill_name, slot_of
from k8sjob.kube.stands_for import period_of
from k8sjob.period import Period

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from k8sjob.cycle import Cycle
    from k8sjob.key import Key
    from k8sjob.kube.objects import CronJob, Event, Job, Pod
    from k8sjob.reconcile.seen import Named, World

_SLOT = re.compile(r"(.+)-[0-9]{8}")
_OVER = frozenset({"Succeeded", "Failed"})


@dataclass(slots=True)
class Traces:
    """What there is of one job in the cluster. ``jobs`` are all of its CronJob's."""

    cron: CronJob
    jobs: list[Job] = field(default_factory=list)
    by_period: dict[Period, list[Job]] = field(default_factory=dict)
    #: Periods whose Pods have outlived their Job.
    outlived: set[Period] = field(default_factory=set)

    def is_live(self, period: Period) -> bool:
        """Whether a Job of the period is active or terminates, or a Pod of it still runs."""
        return period in self.outlived or any(
            job.is_under_way for job in self.by_period.get(period, ())
        )

    @property
    def live(self) -> set[Period]:
        """The periods that a Job or a Pod is still at."""
        return {p for p in (*self.by_period, *self.outlived) if self.is_live(p)}

    @property
    def is_busy(self) -> bool:
        """Whether any Job of the CronJob is under way."""
        return bool(self.outlived) or any(job.is_under_way for job in self.jobs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """The objects of a `World` by their names."""

    jobs: Mapping[tuple[str, str], Job]
    jobs_by_uid: Mapping[str, Job]
    pods: Mapping[tuple[str, str], Pod]
    pods_by_uid: Mapping[str, Pod]
    pods_of: Mapping[tuple[str, str], Sequence[Pod]]
    events_of: Mapping[tuple[str, str], Sequence[Event]]


def index(world: World) -> Index:
    """Return the objects by their names."""
    pods_of: dict[tuple[str, str], list[Pod]] = {}
    for pod in world.pods or ():
        if pod.job:
            pods_of.setdefault((pod.namespace, pod.job), []).append(pod)
    events_of: dict[tuple[str, str], list[Event]] = {}
    for event in world.events:
        if event.about and event.kind == "Job":
            events_of.setdefault((event.namespace, event.about), []).append(event)
    return Index(
        jobs={(job.namespace, job.name): job for job in world.jobs or ()},
        jobs_by_uid={job.uid: job for job in world.jobs or ()},
        pods={(pod.namespace, pod.name): pod for pod in world.pods or ()},
        pods_by_uid={pod.uid: pod for pod in world.pods or ()},
        pods_of=pods_of,
        events_of=events_of,
    )


def trace(
    named: Iterable[tuple[Named, Cycle]], there: Index, unfinished: Iterable[Key]
) -> dict[str, Traces]:
    """Return what there is of each job, by its text."""
    found = {str(one.job): Traces(one.cron) for one, _ in named}
    by_cron = {(one.cron.namespace, one.cron.name): (one, kind) for one, kind in named}
    for job in there.jobs.values():
        owner = by_cron.get((job.namespace, job.cronjob or job.backfill_of or ""))
        if owner is None:
            continue
        traces = found[str(owner[0].job)]
        traces.jobs.append(job)
        period = _period_of(job, *owner)
        if period is not None:
            traces.by_period.setdefault(period, []).append(job)
    keys: dict[str, list[Key]] = {}
    for key in unfinished:
        keys.setdefault(str(key.job), []).append(key)
    for (namespace, name), pods in there.pods_of.items():
        if (namespace, name) not in there.jobs and any(pod.phase not in _OVER for pod in pods):
            _outlived(namespace, name, by_cron, keys, found)
    return found


def _outlived(
    namespace: str,
    name: str,
    by_cron: Mapping[tuple[str, str], tuple[Named, Cycle]],
    keys: Mapping[str, Sequence[Key]],
    found: Mapping[str, Traces],
) -> None:
    """Note the period of a Pod whose Job is gone: its name is all that is left."""
    if match := _SLOT.fullmatch(name):
        owner = by_cron.get((namespace, match[1]))
        at = slot_of(name, match[1])
        if owner is not None and at is not None:
            with suppress(K8sjobError):  # a zone that is not known here
                found[str(owner[0].job)].outlived.add(_period_at(at, *owner))
        return
    for (space, cron), (one, _) in by_cron.items():
        if space == namespace and "-bf-" in name:
            traces = found[str(one.job)]
            for key in keys.get(str(one.job), ()):
                if is_backfill_name(name, cron, key):
                    traces.outlived.add(key.period)


def _period_of(job: Job, named: Named, kind: Cycle) -> Period | None:
    return period_of(job, named.cron, name=named.job, cycle=kind, zone=_zone(named))


def _period_at(at: datetime, named: Named, kind: Cycle) -> Period:
    return Period.of(kind, at, _zone(named))


def _zone(named: Named) -> str:
    return named.cron.zone or "Etc/UTC"
