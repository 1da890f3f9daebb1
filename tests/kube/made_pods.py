"""Pods and Events as the API gives them: see `made`."""

from __future__ import annotations

from typing import Any

from k8sjob.kube import words
from tests.kube.made import MADE, Json, at, uid


def pod(name: str, *, of: str | None = None, **given: Any) -> Json:
    """Return a Pod of the Job ``of`` (``ns/name``), running.

    ``phase``, ``reason``, ``message``, ``conditions``, ``containers`` (statuses), ``init``
    (statuses), ``sidecars`` (names of init containers that run beside), ``deleting``, ``node``.
    """
    namespace, short = name.split("/")
    labels = {"app": "credit"}
    if of is not None:
        own, job_name = given.get("job_uid") or uid("job", of), of.split("/")[1]
        labels |= {words.CONTROLLER_UID_LABEL: own, words.JOB_NAME_LABEL: job_name}
        labels |= {"controller-uid": own, "job-name": job_name}
    meta: Json = {
        "namespace": namespace,
        "name": short,
        "uid": given.get("uid") or uid("pod", name),
        "creationTimestamp": at(given.get("created", MADE)),
        "labels": labels,
    }
    if given.get("deleting"):
        meta["deletionTimestamp"] = at(given["deleting"])
    sidecars = given.get("sidecars", ())
    inits = [c["name"] for c in given.get("init", [])]
    status = {
        "phase": given.get("phase", "Running"),
        "conditions": given.get("conditions", []),
        "containerStatuses": given.get("containers", [container("main", running=at(MADE))]),
        "initContainerStatuses": given.get("init", []),
    }
    status |= {name: given[name] for name in ("reason", "message") if name in given}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta,
        "spec": {
            "nodeName": given.get("node", "node-1"),
            "containers": [{"name": "main", "image": "billing:1.2"}],
            "initContainers": [
                {"name": name} | ({"restartPolicy": "Always"} if name in sidecars else {})
                for name in inits
            ],
        },
        "status": status,
    }


def container(name: str, **given: Any) -> Json:
    """Return a container's status.

    ``running`` (since when), ``waiting`` (reason, message), ``ended`` (exit code, reason), or
    ``ended_before`` for the run before this one; ``restarts``, ``told`` (termination message).
    """
    state: Json = {}
    if "running" in given:
        state = {"running": {"startedAt": given["running"]}}
    if "waiting" in given:
        reason, message = given["waiting"]
        state = {"waiting": {"reason": reason, "message": message}}
    if "ended" in given:
        state = {"terminated": _ended(*given["ended"], told=given.get("told"))}
    last = {"terminated": _ended(*given["ended_before"])} if "ended_before" in given else {}
    return {
        "name": name,
        "state": state,
        "lastState": last,
        "ready": "running" in given,
        "restartCount": given.get("restarts", 0),
        "image": "billing:1.2",
        "imageID": "",
        "containerID": f"containerd://{uid('container', name)}",
    }


def _ended(code: int, reason: str, *, told: str | None = None) -> Json:
    ended: Json = {
        "exitCode": code,
        "reason": reason,
        "startedAt": at(MADE),
        "finishedAt": at(MADE),
        "containerID": "containerd://1",
    }
    return ended | ({"message": told} if told else {})


def event(namespace: str, about: str, reason: str, message: str, **given: Any) -> Json:
    """Return an Event about an object (``kind/name``): ``count``, ``first``, ``last``."""
    kind, name = about.split("/")
    first = at(given.get("first", MADE))
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "namespace": namespace,
            "name": f"{name}.{uid(reason, message)[:8]}",
            "uid": uid("event", name, reason),
            "creationTimestamp": first,
        },
        "involvedObject": {
            "kind": kind,
            "name": name,
            "uid": given.get("uid") or uid(kind.lower(), f"{namespace}/{name}"),
        },
        "reason": reason,
        "message": message,
        "type": given.get("type", "Warning"),
        "count": given.get("count", 1),
        "firstTimestamp": first,
        "lastTimestamp": at(given.get("last", first)),
        "eventTime": None,
    }
