"""The CronJobs and Jobs of a document, in whatever lists they stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from k8sjob.manifest.tree import Map, Scalar, Spot

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from k8sjob.manifest.read import Document

_CRONJOB, _JOB = "CronJob", "Job"


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One CronJob or Job to be looked at, and the moment at which that is."""

    kind: str
    root: Spot
    now: datetime
    #: The template of a chart that it comes from, where helm says so.
    source: str | None = None

    @property
    def is_cronjob(self) -> bool:
        """Whether it is a CronJob, and not a Job."""
        return self.kind == _CRONJOB

    @property
    def metadata(self) -> Spot:
        """The object's own metadata."""
        return self.root["metadata"]

    @property
    def spec(self) -> Spot:
        """The object's own spec."""
        return self.root["spec"]

    @property
    def template(self) -> Spot:
        """What stands for a Job: the CronJob's jobTemplate, or the Job itself."""
        return self.spec["jobTemplate"] if self.is_cronjob else self.root

    @property
    def job_spec(self) -> Spot:
        """The spec of the Job."""
        return self.template["spec"]

    @property
    def pod(self) -> Spot:
        """The template of its Pods."""
        return self.job_spec["template"]

    @property
    def pod_spec(self) -> Spot:
        """The spec of its Pods."""
        return self.pod["spec"]

    @property
    def name(self) -> str | None:
        """The object's name."""
        return self.metadata["name"].text

    @property
    def namespace(self) -> str | None:
        """The object's namespace; a chart's may have none."""
        return self.metadata["namespace"].text

    @property
    def title(self) -> str:
        """What to call it: ``billing/credit``, or what there is of it."""
        name = self.metadata["name"].node
        shown = name.text if isinstance(name, Scalar) else ""  # a number has been seen there
        return "/".join(filter(None, (self.namespace, shown or "(no name)")))

    def containers(self) -> Iterator[Spot]:
        """Return the containers of its Pods, those that run first among them."""
        yield from self.pod_spec["initContainers"].items()
        yield from self.pod_spec["containers"].items()


def cases(document: Document, now: datetime) -> Iterator[Case]:
    """Return the CronJobs and Jobs of a document, in order.

    A Job that a CronJob has made is not one: its template is the CronJob's, and looked at there.
    """
    waiting = [(Spot(document.root.at, document.root), "")]
    seen = set()
    while waiting:
        spot, expected = waiting.pop()
        if not isinstance(spot.node, Map) or id(spot.node) in seen:
            continue
        seen.add(id(spot.node))  # an alias may stand for the same one a billion times
        kind = spot["kind"].text or expected
        if kind.endswith("List"):
            inner = kind.removesuffix("List")
            waiting.extend((item, inner) for item in reversed(list(spot["items"].items())))
        elif kind in {_CRONJOB, _JOB} and _is_batch(spot) and not _is_made(spot):
            yield Case(kind, spot, now, document.source)


def _is_batch(spot: Spot) -> bool:
    """Whether it is of Kubernetes' own group; others have kinds of this name too."""
    version = spot["apiVersion"]
    return not version.present or (version.text or "").startswith("batch/")


def _is_made(spot: Spot) -> bool:
    owners = spot.under("metadata", "ownerReferences").items()
    return any(owner["kind"].text == _CRONJOB and owner["controller"].value for owner in owners)
