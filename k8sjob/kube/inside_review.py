"""Whether this Pod's service account has a right: a SelfSubjectAccessReview.

Everybody who has a token may ask it (https://kubernetes.io/docs/reference/access-authn-authz/authorization/),
and nothing is stored.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from k8sjob.kube.inside_trouble import Kind, Trouble

if TYPE_CHECKING:
    from k8sjob.kube.inside import Came

_ANYBODY = (
    "The role system:basic-user gives this right to everybody who has a token: "
    "kubectl get clusterrolebinding system:basic-user"
)


@dataclass(frozen=True, slots=True)
class Right:
    """A verb on a resource, RBAC's name of it (``jobs.batch``, ``pods``); None: every namespace."""

    verb: str
    resource: str
    namespace: str | None = None

    method: ClassVar[str] = "POST"
    path: ClassVar[str] = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    doing: ClassVar[str] = "ask what it may do"

    def __str__(self) -> str:
        return "SelfSubjectAccessReview"

    @property
    def kind(self) -> str:
        """The resource without its API group."""
        return self.resource.partition(".")[0]

    @property
    def group(self) -> str:
        """The API group; empty for the core one."""
        return self.resource.partition(".")[2]

    @property
    def body(self) -> bytes:
        """The review as JSON."""
        asked = {"verb": self.verb, "group": self.group, "resource": self.kind}
        if self.namespace is not None:
            asked["namespace"] = self.namespace
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": str(self)}
        return json.dumps({**review, "spec": {"resourceAttributes": asked}}).encode()

    def rule(self, _message: str) -> str:
        """Return what gives the right to ask."""
        return _ANYBODY


@dataclass(frozen=True, slots=True)
class Review:
    """What the API server said. ``ahead_s``: its clock, to the second; None where it has not said.

    ``reason`` is the authorizer's own, often empty.
    """

    right: Right
    allowed: bool
    reason: str
    ahead_s: float | None


def review(right: Right, came: Came) -> Review:
    """Read the answer. Raises Trouble where it is no answer to the question."""
    status = came.value.get("status")
    if not isinstance(status, dict) or not isinstance(status.get("allowed"), bool):
        what = f"the Kubernetes API's answer to a {right} does not say what is allowed"
        raise Trouble(Kind.GARBAGE, what)
    said: list[Any] = [status.get("reason"), status.get("evaluationError")]
    reason = "; ".join(" ".join(text.split())[:300] for text in said if isinstance(text, str))
    # The server's clock is told in whole seconds, rounded down.
    ahead_s = None if came.sent_at is None else came.sent_at + 0.5 - came.middle
    return Review(right, status["allowed"], reason.strip("; "), ahead_s)
