"""Requests to the small API server, the faults that a test orders, and how refusals look."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

Json = dict[str, Any]


class Request(NamedTuple):
    """One request that has come in, in RBAC's words."""

    verb: str
    resource: str
    namespace: str | None
    name: str | None
    query: dict[str, str]
    headers: dict[str, str]


@dataclass
class Fault:
    """What happens to requests of a verb and resource, from the ``after``-th on, ``times`` times.

    ``status`` 0 closes the connection without a word; with ``late`` it does so, or answers with
    ``status``, only once the request was carried out.
    """

    verb: str
    resource: str
    status: int
    times: int = 1
    after: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None
    late: bool = False

    def hits(self, request: Request) -> bool:
        """Whether it is this request's turn."""
        if (request.verb, request.resource) != (self.verb, self.resource) or self.times <= 0:
            return False
        self.after -= 1
        if self.after >= 0:
            return False
        self.times -= 1
        return True


def status_of(code: int, reason: str, message: str) -> Json:
    """Return a ``Status`` object, as every refusal is one."""
    return {
        "apiVersion": "v1",
        "kind": "Status",
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }


def forbidden(request: Request) -> Json:
    """Return what a real server says to a service account without the right."""
    named = f'{request.resource}.batch "{request.name}"' if request.name else "jobs.batch"
    where = (
        f'in the namespace "{request.namespace}"' if request.namespace else "at the cluster scope"
    )
    message = (
        f'{named} is forbidden: User "system:serviceaccount:billing:watcher" cannot '
        f'{request.verb} resource "{request.resource}" in API group "batch" {where}'
    )
    return status_of(403, "Forbidden", message)
