"""Whether the service account may do in Kubernetes what its purpose needs. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from k8sjob.doctor.line import fail, ok, warn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from k8sjob.doctor.line import Line
    from k8sjob.doctor.purpose import Access, Purpose
    from k8sjob.kube.inside_review import Review, Right
    from k8sjob.kube.inside_trouble import Trouble


@dataclass(slots=True)
class Api:
    """What the API server said, in the order in which it was asked. ``late``: then no more."""

    in_cluster: bool
    reviews: Sequence[tuple[Access, Review]] = ()
    trouble: Trouble | None = None
    late: bool = False

    @property
    def ahead_s(self) -> float | None:
        """How far its clock is ahead of this one, to the second, where it has said so."""
        told = [r.ahead_s for _, r in self.reviews if r.ahead_s is not None]
        return sorted(told)[len(told) // 2] if told else None


def check_access(api: Api, purpose: Purpose, wanted: Sequence[Access]) -> Iterator[Line]:
    """Say what is allowed, and a line for each right that is missing."""
    if not wanted:
        yield ok("rbac", f"k8sjob {purpose} asks nothing of the Kubernetes API")
    elif not api.in_cluster:
        yield warn(
            "rbac",
            "not in a cluster: KUBERNETES_SERVICE_HOST is not set",
            "to check the rights of a service account, call this in a Pod of it",
        )
    else:
        yield from _reviewed(api)


def _reviewed(api: Api) -> Iterator[Line]:
    allowed = [_words(review.right) for _, review in api.reviews if review.allowed]
    if allowed:
        yield ok("rbac", f"may {', '.join(allowed)}")
    for access, review in api.reviews:
        if not review.allowed:
            yield _missing(access, review)
    if api.trouble is not None:
        yield fail("rbac", api.trouble.what, api.trouble.advice)
    elif api.late:
        yield fail(
            "rbac",
            "the Kubernetes API did not answer in time",
            "look whether a NetworkPolicy lets this Pod reach it",
        )


def _missing(access: Access, review: Review) -> Line:
    right = review.right
    said = f" ({review.reason})" if review.reason else ""
    rule = f'{{apiGroups: ["{right.group}"], resources: ["{right.kind}"], verbs: ["{right.verb}"]}}'
    into = "its ClusterRole" if right.namespace is None else f"its Role in {right.namespace}"
    seen = f"may not {_words(right)}{said}"
    if access.optional:
        return warn("rbac", seen, f"without it {access.optional}; to add it to {into}: {rule}")
    return fail("rbac", seen, f"add to {into}: {rule}")


def _words(right: Right) -> str:
    where = "all namespaces" if right.namespace is None else right.namespace
    return f"{right.verb} {right.resource} in {where}"
