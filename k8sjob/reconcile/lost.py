"""Attempts that cannot write their own end any more. Pure.

An attempt is lost only on evidence: its Pod says how its container ended, or is gone, or nobody
holds the connection that its claim needs. That no sign of life came is none: a partition of the
network looks the same from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime
    from uuid import UUID

    from k8sjob.key import Key
    from k8sjob.kube.objects import Container, Job, Pod, Terminated
    from k8sjob.ledger.watch import OpenAttempt
    from k8sjob.reconcile.traces import Index

#: The first sign of life comes after a minute, then one each half minute. So old, and older, the
#: last one makes weaker evidence do.
SILENT_FOR = timedelta(minutes=3)

#: What keeps a connection open from the start of an attempt to its end.
CONNECTED = frozenset({"callable", "sql"})

_OVER = frozenset({"Succeeded", "Failed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Close:
    """An attempt to be ended, and what is known of how it came to it."""

    attempt: UUID
    key: Key
    message: str
    exit_code: int | None = None
    outcome: str = "lost"


def plan_lost(
    attempts: Sequence[OpenAttempt], there: Index, connected: Collection[Key], now: datetime
) -> list[Close]:
    """Return the attempts that are known to be over. ``connected``: keys whose connection stands.

    The attempts were read before the Pods were listed, so one that has no Pod has lost it.
    """
    found = ((one, _end_of(one, there, connected, now)) for one in attempts)
    return [
        Close(
            attempt=one.id,
            key=one.key,
            message=_settled(end) if one.came_to else end.message,
            exit_code=end.exit_code,
            outcome=one.came_to or "lost",
        )
        for one, end in found
        if end is not None
    ]


def needs_connection(attempt: OpenAttempt, now: datetime) -> bool:
    """Whether only a look at the ledger's connections can tell of this one."""
    in_a_pod = attempt.pod_uid or attempt.pod_name
    return not in_a_pod and attempt.mode in CONNECTED and is_silent(attempt, now)


def is_silent(attempt: OpenAttempt, now: datetime) -> bool:
    """Whether no sign of life came for `SILENT_FOR`."""
    return now - (attempt.heartbeat_at or attempt.started_at) > SILENT_FOR


@dataclass(frozen=True, slots=True)
class _End:
    message: str
    exit_code: int | None = None


def _settled(end: _End) -> str:
    return f"its commit stands, only its end was not written ({end.message})"


def _end_of(
    attempt: OpenAttempt, there: Index, connected: Collection[Key], now: datetime
) -> _End | None:
    if not (attempt.pod_uid or attempt.pod_name):
        if needs_connection(attempt, now) and attempt.key not in connected:
            return _End("it runs in no Pod, and its connection to the ledger is gone")
        return None
    pod = _pod(attempt, there)
    if pod is None:
        return _gone(attempt, there, now)
    return _of_pod(pod, attempt, now)


def _pod(attempt: OpenAttempt, there: Index) -> Pod | None:
    if attempt.pod_uid:
        return there.pods_by_uid.get(attempt.pod_uid)
    return there.pods.get((attempt.key.job.namespace, attempt.pod_name or ""))


def _gone(attempt: OpenAttempt, there: Index, now: datetime) -> _End | None:
    """Return what a Pod that is gone has left; None while it may be in another namespace."""
    job = _job(attempt, there)
    if job is None and not is_silent(attempt, now):
        return None
    pod = f"Pod {attempt.pod_name}" if attempt.pod_name else "its Pod"
    if job is not None and job.finished == "Failed" and job.reason:
        # A deadline of the Job deletes the Pod: only the Job tells.
        return _End(f"{job.reason}: {pod} is gone ({job.message or f'Job {job.name}'})")
    return _End(f"{pod} is gone (deleted, or its node was)")


def _job(attempt: OpenAttempt, there: Index) -> Job | None:
    if attempt.job_uid:
        return there.jobs_by_uid.get(attempt.job_uid)
    return there.jobs.get((attempt.key.job.namespace, attempt.job_name or ""))


def _of_pod(pod: Pod, attempt: OpenAttempt, now: datetime) -> _End | None:
    ended = pod.containers and all(one.terminated is not None for one in pod.containers)
    if ended and (_has_no_writer(pod, attempt) or is_silent(attempt, now)):
        return _of_container(pod, _worst(pod.containers))
    if pod.phase == "Failed":  # evicted before its containers said anything
        return _End(
            f"{pod.disruption or pod.reason or 'Failed'}: Pod {pod.name} {pod.message or ''}"
        )
    again = [one for one in pod.containers if _ran_before(one, attempt)]
    if again and is_silent(attempt, now):
        return _of_container(pod, again[0])
    return None


def _has_no_writer(pod: Pod, attempt: OpenAttempt) -> bool:
    """Whether nobody is left to write the end: a sidecar outlives the containers, not the phase."""
    return attempt.mode != "sidecar" or pod.phase in _OVER


def _worst(containers: Sequence[Container]) -> Container:
    return max(containers, key=lambda one: one.terminated.exit_code if one.terminated else 0)


def _ran_before(container: Container, attempt: OpenAttempt) -> bool:
    """Whether the container was started anew in its Pod since the attempt began."""
    last = container.last_terminated
    return last is not None and last.finished is not None and last.finished > attempt.started_at


def _of_container(pod: Pod, container: Container) -> _End:
    end = container.terminated or container.last_terminated
    if end is None:
        return _End(f"Pod {pod.name} ended")
    # On cgroup v1 OOMKilled stands on Pods that exited 0 too: the code says more than the word.
    told = end.reason if end.reason not in (None, "Error", "Completed") and end.exit_code else None
    reason = pod.reason or pod.disruption or told
    words = f"{reason}: " if reason else ""
    return _End(f"{words}exit code {end.exit_code}{_after(end)}, Pod {pod.name}", end.exit_code)


def _after(end: Terminated) -> str:
    if end.started is None or end.finished is None or end.started.year < 2000:  # noqa: PLR2004
        return ""  # a container that could not start says 1970
    return f" after {(end.finished - end.started).total_seconds():.0f} s"
