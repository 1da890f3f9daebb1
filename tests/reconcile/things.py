"""Jobs and Pods of the desk's CronJob, and attempts in its ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from k8sjob.cycle import Cycle
from k8sjob.key import JobName, Key
from k8sjob.kube import words
from k8sjob.kube.names import backfill_name, slot_name
from k8sjob.kube.objects import Container, Job, Pod, Terminated, Waiting
from k8sjob.ledger.uuid7 import uuid7
from k8sjob.period import Period
from k8sjob.reconcile.seen import World, take_census
from k8sjob.reconcile.traces import Traces, index, trace
from tests.reconcile.conftest import JOB, SECOND, at, cronjob

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from k8sjob.kube.objects import CronJob
    from tests.reconcile.conftest import Desk

NOON = at("2026-09-13 12:00")
PERIOD = Period.at(NOON)
DAY = Period("2026-09-13")
OLDER = "2026-09-01T12:00:00Z"
STAMP = "batch.kubernetes.io/cronjob-scheduled-timestamp"


def slot_job(slot: datetime, **changes: Any) -> Job:
    """Return the Job that the controller made for a slot; it runs."""
    name = slot_name("credit", slot)
    values: dict[str, Any] = {
        "namespace": "billing",
        "name": name,
        "uid": f"uid-of-{name}",
        "created": slot + SECOND,
        "started": slot + SECOND,
        "cronjob": "credit",
        "active": 1,
        "ready": 1,
        "annotations": {STAMP: slot.isoformat().replace("+00:00", "Z")},
    }
    return Job(**values | changes)


def failed_job(slot: datetime, reason: str = "BackoffLimitExceeded", **changes: Any) -> Job:
    """Return the Job of a slot that failed for good a minute later."""
    end = {"finished": "Failed", "reason": reason, "message": "Job has reached its limit"}
    return slot_job(slot, active=0, ready=0, finished_at=slot + 60 * SECOND, **end | changes)


def pod_of(job: Job, *containers: Container, **changes: Any) -> Pod:
    """Return a Pod of a Job; it runs unless its containers say otherwise."""
    values: dict[str, Any] = {
        "namespace": job.namespace,
        "name": f"{job.name}-x2v",
        "uid": f"pod-of-{job.name}",
        "job": job.name,
        "job_uid": job.uid,
        "phase": "Running",
        "containers": containers or (Container(name="main", running_since=job.created),),
    }
    return Pod(**values | changes)


def ended(code: int, reason: str | None = None, *, seconds: int = 41) -> Container:
    """Return a container that ran for some seconds from noon on."""
    noon = at("2026-09-13 12:00")
    end = Terminated(exit_code=code, reason=reason, started=noon, finished=noon + seconds * SECOND)
    return Container(name="main", terminated=end)


def waiting(reason: str, message: str = "") -> Container:
    """Return a container that waits for something."""
    return Container(name="main", waiting=Waiting(reason, message))


def attempt(desk: Desk, period: str, pod: Pod | None = None, **changes: Any) -> UUID:
    """Write the start of an attempt; ``started_at`` is moved to the desk's clock."""
    identity = uuid7()
    values: dict[str, Any] = {
        "mode": "callable",
        "pod_uid": pod and pod.uid,
        "pod_name": pod and pod.name,
        "job_uid": pod and pod.job_uid,
        "job_name": pod and pod.job,
    }
    values |= changes
    with desk.db.connect() as conn:
        conn.execute(
            "SELECT k8sjob.start_attempt(%(id)s, %(job)s, %(period)s, %(mode)s, 'test', '0.1.0', "
            "job_uid => %(job_uid)s, job_name => %(job_name)s, pod_uid => %(pod_uid)s, "
            "pod_name => %(pod_name)s)",
            {"id": identity, "job": JOB, "period": period, **values},
        )
    with desk.db.connect("admin") as conn:
        conn.execute(
            "UPDATE k8sjob.attempts SET started_at = %s WHERE id = %s", (desk.clock, identity)
        )
    return identity


def traces_of(
    *jobs: Job,
    pods: Sequence[Pod] = (),
    cycle: Cycle = Cycle.SCHEDULED,
    unfinished: Sequence[str] = (),
    cron: CronJob | None = None,
) -> Traces:
    """Return what there is of one CronJob."""
    cron = cron or cronjob()
    named = [(one, cycle) for one in take_census([cron]).named.values()]
    keys = [Key.parse(text) for text in unfinished]
    [found] = trace(named, index(World(jobs=jobs, pods=pods)), keys).values()
    return found


def by_hand(name: str, **annotations: str) -> Job:
    """Return a Job as ``kubectl create job --from`` makes it: the CronJob is its controller."""
    manual = {"cronjob.kubernetes.io/instantiate": "manual"}
    return slot_job(NOON, name=name, annotations=manual | annotations)


def backfill(period: Period, generation: int = 0, try_: int = 1, **changes: Any) -> Job:
    """Return a backfill's Job of a period."""
    name = backfill_name("credit", Key(JobName.parse(JOB), period), generation, try_)
    values = {"cronjob": None, "backfill_of": "credit", "name": name, "uid": f"uid-of-{name}"}
    return slot_job(NOON, **values | {"annotations": {words.PERIOD: str(period)}} | changes)
