"""What is read of Pods: why they do not start, and how their containers ended. Pure.

Regular containers only: native sidecars (init containers with restartPolicy Always) end with 137
or 143 by the kubelet's own hand and tell nothing; ordinary init containers are kept where they are
in trouble. Source: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from k8sjob.kube import words
from k8sjob.kube.fields import Fields

if TYPE_CHECKING:
    from datetime import datetime

#: A container that waits for one of these waits in good order.
_IN_ORDER = frozenset({None, "PodInitializing", "ContainerCreating"})


@dataclass(frozen=True, slots=True)
class Waiting:
    """Why a container does not run, e.g. ``ImagePullBackOff``."""

    reason: str | None
    message: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminated:
    """How a container ended. ``message`` is what it left in its termination log."""

    exit_code: int
    reason: str | None = None
    message: str | None = None
    signal: int | None = None
    started: datetime | None = None
    finished: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A container's state: one of the first three, and how the run before this one ended."""

    name: str
    waiting: Waiting | None = None
    running_since: datetime | None = None
    terminated: Terminated | None = None
    last_terminated: Terminated | None = None
    restarts: int = 0

    @property
    def is_in_trouble(self) -> bool:
        """Whether it ended badly, now or the time before, or waits for what may never come."""
        ended = [end.exit_code for end in (self.terminated, self.last_terminated) if end]
        stuck = self.waiting is not None and self.waiting.reason not in _IN_ORDER
        return stuck or bool(ended and ended[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod:
    """A Pod. ``job``: the name of its Job; ``disruption``: why the cluster took it away.

    ``reason`` is the Pod's own: ``Evicted``, ``DeadlineExceeded``, ``NodeLost``.
    ``unschedulable``: what the scheduler says, where it finds no node.
    """

    namespace: str
    name: str
    uid: str
    job: str | None = None
    job_uid: str | None = None
    phase: str | None = None
    reason: str | None = None
    message: str | None = None
    created: datetime | None = None
    node: str | None = None
    deleting: bool = False
    unschedulable: str | None = None
    containers: tuple[Container, ...] = ()
    init_trouble: tuple[Container, ...] = ()
    disruption: str | None = None

    @classmethod
    def parse(cls, raw: object) -> Pod:
        """Read the JSON of a ``v1`` Pod. Raises UnreadableObject."""
        whole = Fields(raw, "a Pod")
        meta = whole.under("metadata")
        whole = Fields(raw, f"Pod {meta.text('namespace')}/{meta.text('name')}")
        meta, spec, status = (whole.under(name) for name in ("metadata", "spec", "status"))
        labels = meta.texts("labels")
        return cls(
            namespace=meta.needed("namespace"),
            name=meta.needed("name"),
            uid=meta.needed("uid"),
            job=labels.get(words.JOB_NAME_LABEL) or labels.get("job-name"),
            job_uid=labels.get(words.CONTROLLER_UID_LABEL) or labels.get("controller-uid"),
            phase=status.text("phase"),
            reason=status.text("reason"),
            message=status.text("message"),
            created=meta.time("creationTimestamp"),
            node=spec.text("nodeName"),
            deleting=meta.time("deletionTimestamp") is not None,
            unschedulable=_unschedulable(status),
            containers=tuple(map(_container, status.each("containerStatuses"))),
            init_trouble=_init_trouble(spec, status),
            disruption=_disruption(status),
        )


def _condition(status: Fields, kind: str, state: str) -> Fields | None:
    found = (c for c in status.each("conditions") if c.text("type") == kind)
    return next((c for c in found if c.text("status") == state), None)


def _unschedulable(status: Fields) -> str | None:
    condition = _condition(status, "PodScheduled", "False")
    if condition is None or condition.text("reason") != "Unschedulable":
        return None
    return condition.text("message") or "Unschedulable"


def _disruption(status: Fields) -> str | None:
    condition = _condition(status, "DisruptionTarget", "True")
    return condition.text("reason") if condition else None


def _init_trouble(spec: Fields, status: Fields) -> tuple[Container, ...]:
    sidecars = {
        container.text("name")
        for container in spec.each("initContainers")
        if container.text("restartPolicy") == "Always"
    }
    found = map(_container, status.each("initContainerStatuses"))
    return tuple(c for c in found if c.name not in sidecars and c.is_in_trouble)


def _container(status: Fields) -> Container:
    state, last = status.under("state"), status.under("lastState")
    waiting, running = state.under("waiting"), state.under("running")
    return Container(
        name=status.needed("name"),
        waiting=Waiting(waiting.text("reason"), waiting.text("message"))
        if "waiting" in state.names()
        else None,
        running_since=running.time("startedAt"),
        terminated=_terminated(state),
        last_terminated=_terminated(last),
        restarts=status.number("restartCount") or 0,
    )


def _terminated(state: Fields) -> Terminated | None:
    ended = state.under("terminated")
    code = ended.number("exitCode")
    if code is None:
        return None
    return Terminated(
        exit_code=code,
        reason=ended.text("reason"),
        message=ended.text("message"),
        signal=ended.number("signal") or None,
        started=ended.time("startedAt"),
        finished=ended.time("finishedAt"),
    )
