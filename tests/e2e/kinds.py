"""Kinds of the Prometheus Operator for a cluster that has none: lent, and taken back at the end.

What the cluster has is somebody's, and is not touched. A label tells what these tests have made: a
run that was killed leaves it, and the next one takes it away.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from tests.e2e.cluster import until, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.cluster import Cluster, Object

OPERATOR = "monitoring.coreos.com"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_LABEL = "k8sjob.io/lent-by"


def crd(kind: str, group: str) -> Object:
    """Return a kind that takes whatever it is given, with the label."""
    plural = f"{kind.lower()}s"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name_of(kind, group), "labels": {_LABEL: "e2e"}},
        "spec": {
            "group": group,
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "scope": "Namespaced",
            "versions": [version],
        },
    }


def name_of(kind: str, group: str) -> str:
    """Return the name of a kind's definition."""
    return f"{kind.lower()}s.{group}"


@contextmanager
def lent(cluster: Cluster, kind: str, group: str = OPERATOR) -> Iterator[None]:
    """Have a kind served while this lasts."""
    name = name_of(kind, group)
    served = f"/apis/{group}/v1/namespaces/default/{kind.lower()}s"
    until(f"{name} there or gone", lambda: not _goes(cluster.find(f"{CRDS}/{name}")))
    there = cluster.find(f"{CRDS}/{name}")
    if there is None and cluster.find(served) is None:
        there = crd(kind, group)
        # Unlike apply, this changes nothing that somebody has put there meanwhile.
        assert cluster.kubectl("create", "-f", "-", stdin=json.dumps(there)).good
    try:
        until(f"the kind {kind}", partial(cluster.find, served))
        yield
    finally:
        if value(there or {}, "metadata", "labels", _LABEL):
            assert cluster.kubectl("delete", "crd", name).good


def left(cluster: Cluster, group: str = OPERATOR) -> list[str]:
    """Return the definitions that these tests have made and not taken back."""
    found = cluster.items(f"{CRDS}?labelSelector={_LABEL.replace('/', '%2F')}")
    return [one["metadata"]["name"] for one in found if one["spec"]["group"] == group]


def _goes(there: Object | None) -> bool:
    return bool(value(there or {}, "metadata", "deletionTimestamp"))
