"""Rules about the Job: its name, its deadline, its retries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.manifest.rule import Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from k8sjob.manifest.case import Case

#: A Job's name becomes a label of its Pods, and the host name of an Indexed one's with -INDEX.
_LONGEST_LABEL = 63
#: The API server's own limit, which leaves the controller 11 characters for the time (measured).
_LONGEST_CRONJOB = 52
#: A hyphen and eight digits: the minutes since 1970.
_SLOT = 9


def name_too_long(case: Case) -> Iterator[Found]:
    """Find a name that the API server refuses, for the object or for its Jobs."""
    spot, name = case.metadata["name"], case.name
    if name is None:
        return
    index = _index_length(case)
    room = _LONGEST_LABEL - index
    limit = min(_LONGEST_CRONJOB, room - _SLOT) if case.is_cronjob else room
    if len(name) <= limit:
        return
    if index and len(name) <= (_LONGEST_CRONJOB if case.is_cronjob else _LONGEST_LABEL):
        why = "with which Kubernetes refuses each Job, as its Pods' names end in the index"
    else:
        why = "which Kubernetes refuses"
    yield Found(
        spot.at, f"the name has {len(name)} characters, {why}: write one of at most {limit}"
    )


def _index_length(case: Case) -> int:
    """Return the length of ``-INDEX`` that an Indexed Job gives to its Pods, 0 for other Jobs."""
    completions = case.job_spec["completions"].number or 0
    if case.job_spec["completionMode"].text != "Indexed" or completions < 1:
        return 0
    return 1 + len(str(completions - 1))


def no_deadline(case: Case) -> Iterator[Found]:
    """Find a Job that may stay for ever."""
    pods = case.pod_spec["activeDeadlineSeconds"].present
    if case.job_spec.present and not case.job_spec["activeDeadlineSeconds"].present and not pods:
        stuck = (
            ", and with concurrencyPolicy: Forbid nothing starts until somebody deletes it"
            if case.spec["concurrencyPolicy"].text == "Forbid"
            else ""
        )
        yield Found(
            case.job_spec.at,
            "without activeDeadlineSeconds a Job that hangs, or whose Pod cannot start, stays for "
            f"ever{stuck}: write activeDeadlineSeconds in {_where(case)}, a few times as long as "
            "it usually takes",
        )


def deadline_zero(case: Case) -> Iterator[Found]:
    """Find a deadline at which each Job fails before it has a Pod."""
    spot = case.job_spec["activeDeadlineSeconds"]
    if spot.number == 0:
        yield Found(
            spot.at,
            "with activeDeadlineSeconds: 0 each Job fails at once, before it has a Pod: write a "
            "few times as long as it usually takes",
        )


def pod_deadline(case: Case) -> Iterator[Found]:
    """Find a deadline that is the Pod's, and so starts anew with each retry."""
    spot = case.pod_spec["activeDeadlineSeconds"]
    if spot.present and not case.job_spec["activeDeadlineSeconds"].present:
        yield Found(
            spot.at,
            "activeDeadlineSeconds stands in the Pod's spec: it ends one Pod, the Job starts the "
            f"next, and a Pod that was never placed has none: move it to {_where(case)}",
        )


def _where(case: Case) -> str:
    return "spec.jobTemplate.spec" if case.is_cronjob else "the Job's spec"


def backoff_limit_zero(case: Case) -> Iterator[Found]:
    """Find ``backoffLimit: 0``, which is no at-most-once."""
    spot = case.job_spec["backoffLimit"]
    if spot.number == 0:
        yield Found(
            spot.at,
            "backoffLimit: 0 does not mean at most once (a lost node may get a second Pod, and a "
            "slot may be started twice), and an eviction fails the Job for good: let k8sjob claim "
            "the period, and write backoffLimit: 3",
        )
