"""What a pass has seen of the cluster. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from k8sjob.cycle import Cycle
from k8sjob.errors import ConfigError, K8sjobError
from k8sjob.key import JobName
from k8sjob.kube import words
from k8sjob.policy import Policy, read_policy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from k8sjob.kube.objects import CronJob, Event, Job, Pod

#: How far the clocks of ledger and cluster may lie apart. Lists are dated by the ledger's clock.
SKEW = timedelta(seconds=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """When a list of CronJobs was made, and the one before it, by the ledger's clock."""

    began: datetime
    ended: datetime
    last: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The cluster as one pass has seen it. A list that could not be read whole is None."""

    cronjobs: Sequence[CronJob] | None = None
    jobs: Sequence[Job] | None = None
    pods: Sequence[Pod] | None = None
    events: Sequence[Event] = ()
    troubles: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A CronJob and what it says of itself."""

    cron: CronJob
    job: JobName
    policy: Policy
    ledger: str | None


@dataclass(frozen=True, slots=True)
class Census:
    """Which CronJob is which job; ``broken`` says of a job why nothing is done for it.

    ``unread``: namespaces and names of the CronJobs that do not even tell which job they are.
    """

    named: Mapping[JobName, Named] = field(default_factory=dict)
    broken: Mapping[JobName, str] = field(default_factory=dict)
    unread: frozenset[tuple[str, str]] = frozenset()


def take_census(cronjobs: Sequence[CronJob]) -> Census:
    """Return the jobs of the CronJobs. One that cannot be read makes no other one unreadable.

    One that is being deleted counts as gone: the controller starts nothing for it.
    """
    named: dict[JobName, Named] = {}
    broken: dict[JobName, str] = {}
    unread: set[tuple[str, str]] = set()
    for cron in sorted(cronjobs, key=lambda c: (c.namespace, c.name)):
        if cron.deleting:
            continue
        own = JobName(cron.namespace, cron.name)
        try:
            one = _named(cron)
        except K8sjobError as error:
            broken[own] = str(error)
            unread.add((cron.namespace, cron.name))
            continue
        if one.job in named:
            other = named.pop(one.job).cron
            broken[one.job] = f"CronJobs {other.name} and {cron.name} both say that they are it"
        elif one.job not in broken:
            named[one.job] = one
    return Census(named, broken, frozenset(unread))


def _named(cron: CronJob) -> Named:
    policy = read_policy(cron.annotations)
    job = JobName(cron.namespace, cron.name)
    declared = cron.declared("K8SJOB_JOB")
    if policy.job:
        job = _job(cron, policy.job, f"annotation {words.JOB}")
    elif declared:
        job = _job(cron, declared, _variable("K8SJOB_JOB"))
    if policy.cycle is None and (text := cron.declared("K8SJOB_CYCLE")):
        policy = replace(policy, cycle=_cycle(text))
    return Named(cron=cron, job=job, policy=policy, ledger=policy.ledger)


def _variable(name: str) -> str:
    return f"variable {name} of its containers"


def _job(cron: CronJob, text: str, source: str) -> JobName:
    try:
        job = JobName.parse(text if "/" in text else f"{cron.namespace}/{text}")
    except K8sjobError as error:
        raise ConfigError(f"{source}: {text!r} is no job: {error}") from None
    if job.part is not None or job.namespace != cron.namespace:
        raise ConfigError(f"{source}: {text!r} is not NAMESPACE/NAME of its own namespace")
    return job


def _cycle(text: str) -> Cycle:
    try:
        return Cycle(text)
    except K8sjobError as error:
        source = _variable("K8SJOB_CYCLE")
        raise ConfigError(f"{source}: {text!r} does not parse: {error}") from None
