"""The objects that the tests put into the cluster, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from k8sjob.errors import EXIT_TABLE
from tests.e2e.images import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.e2e.cluster import Object

LOCKED_DOWN: Object = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}
NON_ROOT: Object = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}


def meta(namespace: str, name: str, **more: Any) -> Object:
    """Return an object's metadata."""
    return {"namespace": namespace, "name": name, **more}


def namespace(name: str, *, restricted: bool = True) -> Object:
    """Return a namespace; a restricted one takes no Pod that could do more than it must."""
    level = "restricted" if restricted else "privileged"
    labels = {"pod-security.kubernetes.io/enforce": level}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


# ------------------------------------------------------------------------------------ Postgres


def postgres_pod(namespace: str, image: str, password: str) -> Object:
    """Return a server whose data outlives its container, though not its Pod."""
    container = {
        "name": "postgres",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "args": ["postgres", "-c", "fsync=off", "-c", "max_connections=200"],
        "env": [
            {"name": "POSTGRES_PASSWORD", "value": password},
            {"name": "PGDATA", "value": "/var/lib/postgresql/data/pg"},
        ],
        "readinessProbe": {
            "exec": {"command": ["pg_isready", "-q", "-h", "127.0.0.1", "-U", "postgres"]},
            "periodSeconds": 1,
            "timeoutSeconds": 5,
        },
        "volumeMounts": [{"name": "data", "mountPath": "/var/lib/postgresql/data"}],
    }
    spec = {
        "containers": [container],
        "volumes": [{"name": "data", "emptyDir": {}}],
        "terminationGracePeriodSeconds": 2,
        "automountServiceAccountToken": False,
    }
    labels = {"app": "postgres"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta(namespace, "postgres", labels=labels),
        "spec": spec,
    }


def postgres_service(namespace: str) -> Object:
    """Return the Service of :func:`postgres_pod`."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": meta(namespace, "postgres"),
        "spec": {"selector": {"app": "postgres"}, "ports": [{"port": 5432}]},
    }


def migration(namespace: str, image: str, dsn: str) -> Object:
    """Return a Pod that brings the ledger to this version's schema."""
    grants = [
        word
        for who in ("operator", "runner", "reader")
        for word in (f"--grant-{who}", f"k8sjob_{who}")
    ]
    container = {
        "name": "migrate",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "args": ["migrate", "--wait", "30s", *grants],
        "env": [{"name": "K8SJOB_DSN", "value": dsn}],
        "securityContext": LOCKED_DOWN,
    }
    return pod(namespace, "migrate", [container], restartPolicy="Never")


# ---------------------------------------------------------------------------------------- Pods


def pod(namespace: str, name: str, containers: list[Object], **spec: Any) -> Object:
    """Return a Pod that may do nothing but what it is given."""
    base = {
        "containers": containers,
        "securityContext": NON_ROOT,
        "terminationGracePeriodSeconds": 2,
        "automountServiceAccountToken": False,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta(namespace, name),
        "spec": base | spec,
    }


def from_field(name: str, path: str) -> Object:
    """Return a variable that the downward API sets."""
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def from_secret(name: str, key: str) -> Object:
    """Return a variable that the ledger's Secret sets."""
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": "ledger", "key": key}}}


#: Who and where a Pod is, as README tells users to set it.
PLACE: list[Object] = [
    from_field("K8SJOB_NAMESPACE", "metadata.namespace"),
    from_field("K8SJOB_JOB_NAME", "metadata.labels['batch.kubernetes.io/job-name']"),
    from_field("K8SJOB_JOB_UID", "metadata.labels['batch.kubernetes.io/controller-uid']"),
    from_field("K8SJOB_POD_NAME", "metadata.name"),
    from_field("K8SJOB_POD_UID", "metadata.uid"),
    from_field("K8SJOB_NODE", "spec.nodeName"),
]


def runner(
    image: str, args: Sequence[str], env: Mapping[str, str] | None = None, **more: Any
) -> Object:
    """Return the container of a job: ``args`` go to k8sjob, the target lies in /app."""
    plain = [{"name": name, "value": text} for name, text in (env or {}).items()]
    return {
        "name": "main",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "args": list(args),
        "env": [from_secret("K8SJOB_DSN", "runner"), *PLACE, *plain],
        "securityContext": LOCKED_DOWN,
        "volumeMounts": [{"name": "app", "mountPath": "/app"}],
    } | more


def job_spec(container: Object, *, account: str = "runner", **pod_spec: Any) -> Object:
    """Return a Job's spec: tried four times, unless the exit code says that it cannot help."""
    spec = {
        "restartPolicy": "Never",
        "serviceAccountName": account,
        "securityContext": NON_ROOT,
        "containers": [container],
        "volumes": [{"name": "app", "configMap": {"name": "app"}}],
    }
    permanent = sorted(int(code) for code, meaning in EXIT_TABLE.items() if meaning.permanent)
    codes = {"containerName": "main", "operator": "In", "values": permanent}
    return {
        "backoffLimit": 3,
        "activeDeadlineSeconds": 300,
        "podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": codes}]},
        "template": {"spec": spec | pod_spec},
    }


def job(namespace: str, name: str, spec: Object) -> Object:
    """Return a Job."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": meta(namespace, name),
        "spec": spec,
    }


def cronjob(
    namespace: str,
    name: str,
    template: Object,
    *,
    schedule: str = "* * * * *",
    annotations: Mapping[str, str] | None = None,
    **spec: Any,
) -> Object:
    """Return a CronJob that the reconciler looks after; a period counts as missing after 10 s."""
    notes = {"k8sjob.io/grace": "10s", **(annotations or {})}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": meta(namespace, name, labels={"k8sjob.io/enabled": "true"}, annotations=notes),
        "spec": {
            "schedule": schedule,
            "timeZone": "Etc/UTC",
            "concurrencyPolicy": "Allow",
            "successfulJobsHistoryLimit": 20,
            "failedJobsHistoryLimit": 20,
            "jobTemplate": {"spec": template},
        }
        | spec,
    }


def app(namespace: str) -> Object:
    """Return the ConfigMap with the target."""
    text = (ROOT / "tests/e2e/target.py").read_text("utf-8")
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": meta(namespace, "app"),
        "data": {"credit.py": text},
    }


def ledger_secret(namespace: str, dsns: Mapping[str, str], name: str = "ledger") -> Object:
    """Return the Secret with a DSN per role."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": meta(namespace, name),
        "stringData": dict(dsns),
    }


# -------------------------------------------------------------------------------------- rights


def account(namespace: str, name: str, *rules: tuple[str, str, list[str]]) -> list[Object]:
    """Return a service account with ``rules`` in its namespace: API group, resource, verbs."""
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": meta(namespace, name),
        "rules": [
            {"apiGroups": [group], "resources": [resource], "verbs": verbs}
            for group, resource, verbs in rules
        ],
    }
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": meta(namespace, name),
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
    }
    who = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta(namespace, name)}
    return [who, role, binding]


#: What a job's Pod needs: its own Job, for the time that the CronJob meant.
RUNNER_RULES = [("batch", "jobs", ["get"])]

#: What reconciling and backfill need.
OPERATOR_RULES = [
    ("batch", "cronjobs", ["get", "list"]),
    ("batch", "jobs", ["get", "list", "create"]),
    ("", "pods", ["list"]),
    ("", "events", ["list"]),
]


def desk(namespace: str, image: str) -> Object:
    """Return a Pod where an operator's commands are run by ``kubectl exec``."""
    idle = {"command": ["python", "-c", "import signal; signal.pause()"]}
    return _of_operator(namespace, "desk", image, idle)


def reconciler(namespace: str, image: str) -> Object:
    """Return a Pod that looks after the namespace again and again."""
    args = ["reconcile", "-n", namespace, "--every", "3s"]
    return _of_operator(namespace, "reconciler", image, {"args": args})


def _of_operator(namespace: str, name: str, image: str, what: Object) -> Object:
    container = {
        "name": name,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "env": [
            from_secret("K8SJOB_DSN", "operator"),
            from_field("K8SJOB_NAMESPACE", "metadata.namespace"),
            {"name": "K8SJOB_LOG_FORMAT", "value": "text"},
        ],
        "securityContext": LOCKED_DOWN,
    }
    more = {"serviceAccountName": "operator", "automountServiceAccountToken": True}
    return pod(namespace, name, [container | what], **more)
