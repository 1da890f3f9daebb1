"""The Job that does a period once more: the CronJob's own template, with the period on it. Pure."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final

from k8sjob.kube import words
from k8sjob.kube.names import backfill_name

if TYPE_CHECKING:
    from k8sjob.key import Key
    from k8sjob.kube.objects import CronJob

#: A day: the CronJob's history limits do not clean up what is not its own (measured).
TTL_S: Final = 86_400

_INSTANTIATE = "cronjob.kubernetes.io/instantiate"
#: In a template they would tell a lie about the Job, whoever wrote them there.
_NEVER_INHERITED = frozenset(
    {
        words.TIMESTAMP,
        _INSTANTIATE,
        words.PERIOD,
        words.SUPERSEDES,
        "argocd.argoproj.io/tracking-id",
    }
)
#: By these Argo CD tells what belongs to an application, and prunes what it has no manifest of. The
#: Pods keep theirs.
_OF_GITOPS = frozenset({"app.kubernetes.io/instance", "argocd.argoproj.io/instance"})


def backfill_job(
    cronjob: CronJob, key: Key, generation: int, try_: int, *, supersedes: str | None = None
) -> dict[str, Any]:
    """Return the manifest of the Job that does ``key``, named after key, generation and try.

    Labels, annotations and spec are the jobTemplate's, to the letter, with four exceptions: what
    would tell a lie is left out, and what GitOps would prune the Job by; a Job without a time to
    live gets a day, and none is suspended. It has no owner: an owner would need one more right, and
    the CronJob would count and clean it.
    ``supersedes`` is the range of periods that its claim makes needless.

    Raises InvalidKey for a generation or try that has no name.
    """
    meta = cronjob.template.get("metadata") or {}
    inherited = meta.get("annotations") or {}
    annotations = {n: text for n, text in inherited.items() if n not in _NEVER_INHERITED}
    annotations |= {words.JOB: str(key.job), words.PERIOD: str(key.period)}
    if supersedes is not None:
        annotations[words.SUPERSEDES] = supersedes
    labels = {n: text for n, text in (meta.get("labels") or {}).items() if n not in _OF_GITOPS}
    labels |= {words.BACKFILL: "true", words.CRONJOB: cronjob.name}
    spec = deepcopy(cronjob.template.get("spec") or {})
    if spec.get("ttlSecondsAfterFinished") is None:
        spec["ttlSecondsAfterFinished"] = TTL_S
    if spec.get("suspend"):
        spec["suspend"] = False
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": backfill_name(cronjob.name, key, generation, try_),
            "namespace": cronjob.namespace,
            "labels": labels,
            "annotations": annotations,
        },
        "spec": spec,
    }
