"""CronJobs and Jobs as the API gives them: copied from a real server's answers.

Each takes what a test is about, and gives the rest what it usually has.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from k8sjob.kube import words

if TYPE_CHECKING:
    from collections.abc import Mapping

Json = dict[str, Any]

MADE = datetime(2026, 9, 1, tzinfo=UTC)


def at(moment: datetime | str) -> str:
    """Return a time as the API writes it."""
    return moment if isinstance(moment, str) else f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def uid(*names: str) -> str:
    """Return the UID of the object of that name: always the same one."""
    text = hashlib.sha256("/".join(names).encode()).hexdigest()
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{text[17:20]}-{text[20:32]}"


def template(command: str = "credit", **annotations: str) -> Json:
    """Return a jobTemplate with what a careful person puts in."""
    return {
        "metadata": {
            "annotations": {"team.example.com/owner": "billing", **annotations},
            "labels": {"app": "credit"},
        },
        "spec": {
            "backoffLimit": 2,
            "activeDeadlineSeconds": 600,
            "template": {
                "metadata": {"labels": {"app": "credit"}},
                "spec": {
                    "restartPolicy": "Never",
                    "serviceAccountName": "credit",
                    "containers": [
                        {
                            "name": "main",
                            "image": "billing:1.2",
                            "command": ["k8sjob", "run", command],
                        }
                    ],
                },
            },
        },
    }


def cronjob(job: str, schedule: str = "0 2 * * *", **given: Any) -> Json:
    """Return a CronJob, tracked.

    ``zone``, ``suspend``, ``annotations``, ``labels``, ``created``, ``generation``, ``template``,
    ``concurrency``, ``deadline``, ``managed``, ``last`` (its last schedule time).
    """
    namespace, name = job.split("/")
    spec: Json = {
        "concurrencyPolicy": given.get("concurrency", "Allow"),
        "failedJobsHistoryLimit": 1,
        "successfulJobsHistoryLimit": 3,
        "schedule": schedule,
        "suspend": given.get("suspend", False),
        "jobTemplate": given.get("template") or template(),
    }
    if "zone" in given:
        spec["timeZone"] = given["zone"]
    if "deadline" in given:
        spec["startingDeadlineSeconds"] = given["deadline"]
    last = {"lastScheduleTime": at(given["last"])} if "last" in given else {}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {
            "namespace": namespace,
            "name": name,
            "uid": given.get("uid") or uid("cronjob", job),
            "resourceVersion": "1201",
            "generation": given.get("generation", 1),
            "creationTimestamp": at(given.get("created", MADE)),
            "labels": given.get("labels", {words.ENABLED: "true"}),
            "annotations": given.get("annotations", {}),
            "managedFields": given.get("managed", []),
        },
        "spec": spec,
        "status": last,
    }


def managed(manager: str, time: datetime | str, *fields: str, **given: str) -> Json:
    """Return an entry of managedFields with ``spec.schedule``, ``metadata.labels.k8sjob.io/…``."""
    owned: Json = {}
    for path in fields:
        *outer, last = _split(path)
        inner = owned
        for name in outer:
            inner = inner.setdefault(f"f:{name}", {})
        inner[f"f:{last}"] = {}
    entry = {
        "manager": manager,
        "operation": given.get("operation", "Update"),
        "apiVersion": "batch/v1",
        "time": at(time),
        "fieldsType": "FieldsV1",
        "fieldsV1": owned,
    }
    return entry | ({"subresource": given["subresource"]} if "subresource" in given else {})


def _split(path: str) -> list[str]:
    head, dot, rest = path.partition(".")
    if head in ("labels", "annotations") or not dot:
        return [head, rest] if dot else [head]
    return [head, *_split(rest)]


def job(name: str, **given: Any) -> Json:
    """Return a Job, under way.

    ``owner``: the CronJob (``ns/name``) that made it; ``scheduled``: its timestamp annotation;
    ``end``: ``Complete`` or ``Failed``, with ``reason``, ``message``, ``ended``; ``created``,
    ``annotations``, ``labels``, ``active``, ``failed``, ``terminating``, ``deleting``.
    """
    namespace, short = name.split("/")
    own = given.get("uid") or uid("job", name)
    annotations: Mapping[str, str] = given.get("annotations", {})
    if "scheduled" in given:
        annotations = {words.TIMESTAMP: at(given["scheduled"]), **annotations}
    made = at(given.get("created", MADE))
    ids = {words.CONTROLLER_UID_LABEL: own, words.JOB_NAME_LABEL: short}
    meta: Json = {
        "namespace": namespace,
        "name": short,
        "uid": own,
        "creationTimestamp": made,
        "annotations": dict(annotations),
        "labels": {**ids, "controller-uid": own, "job-name": short, **given.get("labels", {})},
    }
    if "owner" in given:
        meta["ownerReferences"] = [_owner(given["owner"])]
    if given.get("deleting"):
        meta["deletionTimestamp"] = at(given["deleting"])
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": meta,
        "spec": template()["spec"] | {"suspend": given.get("suspend", False)},
        "status": _job_status(made, given),
    }


def _owner(cronjob_name: str) -> Json:
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "name": cronjob_name.split("/")[1],
        "uid": uid("cronjob", cronjob_name),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _job_status(made: str, given: Mapping[str, Any]) -> Json:
    status: Json = {
        "startTime": made,
        "failed": given.get("failed", 0),
        "terminating": given.get("terminating", 0),
        "ready": given.get("ready", 0),
        "uncountedTerminatedPods": {},
    }
    end = given.get("end")
    if end is None:
        return status | {"active": given.get("active", 1)}
    return status | ending(end, given.get("ended", made), given.get("reason"), given.get("message"))


def ending(
    end: str, moment: datetime | str, reason: str | None = None, message: str | None = None
) -> Json:
    """Return what the status of a Job gains at its end: an earlier condition, then the last."""
    when = at(moment)
    before = {"Complete": "SuccessCriteriaMet", "Failed": "FailureTarget"}[end]
    usual = {"Complete": "CompletionsReached", "Failed": "BackoffLimitExceeded"}[end]
    said = (
        message
        or {
            "Complete": "Reached expected number of succeeded pods",
            "Failed": "Job has reached the specified backoff limit",
        }[end]
    )
    condition = {
        "status": "True",
        "lastProbeTime": when,
        "lastTransitionTime": when,
        "reason": reason or usual,
        "message": said,
    }
    status: Json = {"conditions": [condition | {"type": kind} for kind in (before, end)]}
    return status | ({"completionTime": when, "succeeded": 1} if end == "Complete" else {})
