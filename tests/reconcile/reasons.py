"""What is said of a period of noon, given what there is in the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from k8sjob.kube.objects import Container, CronJob, Event, Job, Pod
from k8sjob.reconcile.seen import World, take_census
from k8sjob.reconcile.traces import index, trace
from k8sjob.reconcile.why import Why, why_not_done
from tests.kube.made_pods import event
from tests.reconcile.conftest import MINUTE, cronjob
from tests.reconcile.things import NOON, PERIOD, pod_of, slot_job

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from k8sjob.ledger.watch import LastTry
    from k8sjob.period import Period

NAME = slot_job(NOON).name
HOUR = 60 * MINUTE


def why(  # noqa: PLR0913  # all that can tell
    *jobs: Job,
    pods: Sequence[Pod] = (),
    events: Sequence[Event] = (),
    last: LastTry | None = None,
    cron: CronJob | None = None,
    period: Period = PERIOD,
    uncertain: bool = False,
    done: Mapping[Period, datetime] | None = None,
) -> Why:
    """Return what is said of noon's period, or of another one that was due at noon."""
    cron = cron or cronjob()
    there = index(World(cronjobs=[cron], jobs=jobs, pods=pods, events=events))
    named = take_census([cron]).named.values()
    traces = trace([(one, period.cycle) for one in named], there, ())["billing/credit"]
    return why_not_done(
        period, NOON, traces=traces, there=there, last=last, uncertain=uncertain, done=done or {}
    )


def unstarted_job(**changes: Any) -> Job:
    """Return noon's Job with a Pod that is not ready."""
    return slot_job(NOON, ready=0, **changes)


def pending(*containers: Container, **changes: Any) -> Pod:
    """Return the Pod of that Job, which is pending."""
    return pod_of(unstarted_job(), *containers, phase="Pending", **changes)


def told(reason: str, message: str, about: str = f"Job/{NAME}") -> Event:
    """Return an event about that Job."""
    return Event.parse(event("billing", about, reason, message))
