"""What the API server itself says of who asked for what, where its audit log can be read.

``K8S_DIR`` is where the node's script keeps its state, unless ``K8SJOB_E2E_AUDIT`` names the log.
A right is written as kubectl writes it: ``get jobs.batch``.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.cluster import Cluster, Object

STORE = "audit log of the API server"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
_LOG = Path(os.environ.get("K8S_DIR", "/var/lib/k8sjob-cluster")) / "logs/audit.log"

#: No rule of ours gives it: each account may ask what it may do, and the doctor does.
_BY_EVERYBODY = {"create selfsubjectaccessreviews.authorization.k8s.io"}


def log() -> Path | None:
    """Return the audit log, None where there is none."""
    path = Path(os.environ.get("K8SJOB_E2E_AUDIT", _LOG))
    return path if os.access(path, os.R_OK) else None


def why_not() -> str:
    """Return why nothing can be said of who asked for what, empty where it can."""
    return "" if log() else "it is not to be read here; K8SJOB_E2E_AUDIT may name it"


@dataclass(frozen=True)
class Rights:
    """What a service account was given by Roles, what it asked for, and was refused."""

    given: set[str]
    asked: set[str]
    refused: set[str]

    def check(self, not_asked: set[str]) -> None:
        """Fail unless rules and requests are the same; ``not_asked`` are rules left over."""
        assert self.refused == set(), self
        assert self.asked - _BY_EVERYBODY <= self.given, self
        assert self.given - self.asked <= not_asked, self


def rights(cluster: Cluster, namespace: str, account: str) -> Rights:
    """Return the rights of a service account in its own namespace."""
    return Rights(
        given=_given(cluster, namespace, account),
        asked=asked(namespace, account),
        refused=asked(namespace, account, allowed=False),
    )


def _given(cluster: Cluster, namespace: str, account: str) -> set[str]:
    space = f"{RBAC}/namespaces/{namespace}"
    subject = {"kind": "ServiceAccount", "name": account, "namespace": namespace}
    found = set()
    for binding in cluster.items(f"{space}/rolebindings"):
        if subject in binding["subjects"]:
            assert binding["roleRef"]["kind"] == "Role", binding
            role = cluster.get(f"{space}/roles/{binding['roleRef']['name']}")
            for rule in role["rules"]:
                found |= _allowed_by(rule)
    return found


def _allowed_by(rule: Object) -> set[str]:
    assert set(rule) == {"apiGroups", "resources", "verbs"}, rule
    return {
        _right(verb, resource, group)
        for verb in rule["verbs"]
        for resource in rule["resources"]
        for group in rule["apiGroups"]
    }


def asked(namespace: str, account: str, *, allowed: bool = True) -> set[str]:
    """Return what a service account asked for and was given, or refused."""
    user = f"system:serviceaccount:{namespace}:{account}"
    found = set()
    for event in map(json.loads, _lines_about(user)):
        if event["user"]["username"] == user and _was_allowed(event) == allowed:
            found.add(_request(event["verb"], event.get("objectRef", {}), event["requestURI"]))
    return found


def _request(verb: str, about: dict[str, str], path: str) -> str:
    if "resource" not in about:
        return f"{verb} {path}"
    resource = "/".join(filter(None, (about["resource"], about.get("subresource"))))
    return _right(verb, resource, about.get("apiGroup", ""))


def _right(verb: str, resource: str, group: str) -> str:
    return f"{verb} {resource}.{group}".rstrip(".")


def _lines_about(user: str) -> Iterator[str]:
    path = log()
    assert path, "there is no audit log"
    # A log that has grown too large lies beside the new one, and has the time in its name.
    for part in path.parent.glob(f"{path.stem}*{path.suffix}"):
        with part.open(encoding="utf-8") as lines:
            yield from (line for line in lines if user in line)


def _was_allowed(event: dict[str, dict[str, str]]) -> bool:
    return event.get("annotations", {}).get("authorization.k8s.io/decision") == "allow"
