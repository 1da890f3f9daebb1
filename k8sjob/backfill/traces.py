"""Which Jobs stand for which period, and which number the next one gets. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from k8sjob.kube import words
from k8sjob.kube.names import backfill_name
from k8sjob.kube.stands_for import period_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from k8sjob.backfill.basis import Basis
    from k8sjob.key import Key
    from k8sjob.kube.objects import CronJob, Job
    from k8sjob.ledger.launches import Launch
    from k8sjob.period import Period

_TRY = re.compile(r"-([1-9][0-9]{0,6})\Z")


@dataclass(frozen=True, slots=True)
class Numbered:
    """The next try, and what became of the one before it, where that is worth a word."""

    try_: int
    name: str
    before: str | None = None


def selector(cronjob: CronJob) -> str:
    """Return the label selector of the backfill Jobs of a CronJob."""
    return f"{words.BACKFILL}=true,{words.CRONJOB}={cronjob.name}"


def by_period(basis: Basis, cronjob: CronJob, jobs: Iterable[Job]) -> dict[Period, list[Job]]:
    """Return the Jobs of each period: scheduled ones and those of backfill and catch-up."""
    found: dict[Period, list[Job]] = {}
    for job in jobs:
        period = period_of(job, cronjob, name=basis.job, cycle=basis.cycle, zone=basis.place)
        if period is not None:
            found.setdefault(period, []).append(job)
    return found


def number(
    cronjob: CronJob,
    key: Key,
    generation: int,
    launches: Iterable[Launch],
    jobs: Iterable[Job],
) -> Numbered:
    """Return the next number for a key and generation none of whose Jobs is under way.

    A number that was noted and whose Job was never created is used again, so that a command that
    was killed in between, and one that runs beside it, come to the same name.
    """
    noted = {one.try_: one for one in launches if one.generation == generation}
    there = _by_try(cronjob, key, generation, jobs)
    last = max([*noted, *there], default=0)
    job = there.get(last)
    if last and job is None and noted[last].uid is None:
        return Numbered(last, backfill_name(cronjob.name, key, generation, last))
    name = backfill_name(cronjob.name, key, generation, last + 1)
    return Numbered(last + 1, name, _ended(job) if job else None)


def _by_try(cronjob: CronJob, key: Key, generation: int, jobs: Iterable[Job]) -> Mapping[int, Job]:
    """Return the Jobs of a key and generation by the number that ends their names."""
    found = {}
    for job in jobs:
        if end := _TRY.search(job.name):  # no more digits: those are minutes of a scheduled Job
            try_ = int(end[1])
            if job.name == backfill_name(cronjob.name, key, generation, try_):
                found[try_] = job
    return found


def _ended(job: Job) -> str:
    if job.finished == "Failed":
        return f"{job.name} failed: {job.reason or 'no reason is given'}"
    return f"{job.name} is Complete, and the period is not done"


def ours(job: Job, cronjob: CronJob, key: Key) -> bool:
    """Whether a Job that has the name is the backfill of this very key."""
    said = job.annotations.get(words.JOB), job.annotations.get(words.PERIOD)
    return job.backfill_of == cronjob.name and said == (str(key.job), str(key.period))


def alive(jobs: Sequence[Job], basis: Basis) -> int:
    """Return how many backfill Jobs of the job are under way, whoever made them."""
    own = (job for job in jobs if job.backfill_of and _is_of(job, basis))
    return sum(job.is_under_way for job in own)


def _is_of(job: Job, basis: Basis) -> bool:
    return job.annotations.get(words.JOB) == str(basis.job)
