"""What both charts are installed with, and what is left of a release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.e2e.manifests import ledger_secret
from tests.e2e.postgres import ROLES

if TYPE_CHECKING:
    from tests.e2e.cluster import Object
    from tests.e2e.scene import Scene

CONTROL, JOBS = "k8sjob", "billing"  # releases

#: A job of the app, which its jobs' values begin with.
APP: Object = {
    "schedule": "* * * * *",
    "target": "credit:credit",
    "workingDir": "/app",
    "volumes": [{"name": "app", "configMap": {"name": "app"}}],
    "volumeMounts": [{"name": "app", "mountPath": "/app"}],
}
#: Keeps a job's Pods from starting; an impossible node would keep those of `helm test` too.
NO_IMAGE: Object = {
    "image": {"repository": "k8sjob.invalid/none", "tag": "1", "pullPolicy": "Never"},
}


def without_ledger(scene: Scene) -> None:
    """Have a database without a ledger, and its DSNs in a Secret."""
    scene.postgres.drop(scene.database)
    scene.postgres.make(scene.database)
    dsns = {who: scene.postgres.dsn(who, scene.database) for who in ROLES}
    scene.apply(ledger_secret(scene.namespace, dsns, "k8sjob-ledger"))


def control_values(scene: Scene) -> Object:
    """Return the least that the chart k8sjob needs, with a pass each minute."""
    grants = {who: [f"k8sjob_{who}"] for who in ("operator", "runner", "reader")}
    return {
        "image": image(scene.images.control),
        "ledgers": {"default": {"existingSecret": "k8sjob-ledger", "grants": grants}},
        "scope": {"namespaces": [scene.namespace]},
        "reconciler": {"schedule": "* * * * *"},
    }


def jobs_values(scene: Scene, jobs: Object, **defaults: object) -> Object:
    """Return values of the chart k8sjob-jobs; a period counts as missing after 10 s."""
    return {
        "image": image(scene.images.entrypoint),
        "sidecarImage": image(scene.images.entrypoint),
        "defaults": {"timeZone": "Europe/Rome", "grace": "10s", **defaults},
        "jobs": jobs,
    }


def image(name: str) -> Object:
    """Return an image as both charts take it."""
    repository, _, tag = name.rpartition(":")
    return {"registry": "", "repository": repository, "tag": tag, "pullPolicy": "IfNotPresent"}


def installed(scene: Scene) -> list[str]:
    """Return what is left of the releases; a hook that failed is not part of them."""
    kinds = "all,configmap,role,rolebinding,serviceaccount,networkpolicy"
    label = "app.kubernetes.io/part-of=k8sjob"
    left = scene.kubectl("get", kinds, "-l", label, "-o", "name").good.split()
    return [name for name in left if "migrate" not in name]


def migrations(scene: Scene) -> Object:
    """Return the schema's versions in the scene's ledger, by their names."""
    rows = scene.rows("SELECT name, version FROM k8sjob.migrations")
    return {row["name"]: row["version"] for row in rows}
