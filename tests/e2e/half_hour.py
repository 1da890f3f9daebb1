"""A platform engineer's half hour: both charts, from the first install to the uninstall."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from tests.e2e import audit, watched
from tests.e2e.cluster import Told, until, value
from tests.e2e.helm import CHARTS, helm, of_parent_commit
from tests.e2e.images import ROOT
from tests.e2e.manifests import ledger_secret

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.cluster import Object
    from tests.e2e.helm import Helm
    from tests.e2e.scene import Scene
    from tests.seen.prometheus import Alert, Prometheus

CONTROL, JOBS = "k8sjob", "billing"  # releases
ALERT = "K8sjobPeriodMissing"
RULES = "/apis/monitoring.coreos.com/v1/namespaces/{}/prometheusrules/k8sjob"
_PASS_S = 150  # the reconciler starts each minute
_ANYWHERE = (
    '{"spec":{"suspend":true,"jobTemplate":{"spec":{"template":{"spec":{"nodeSelector":null}}}}}}'
)
_CLAIM = """\
psql -X -v ON_ERROR_STOP=1 "$DATABASE_URL" <<SQL
BEGIN;
SELECT k8sjob.claim('$K8SJOB_JOB', '$K8SJOB_PERIOD', attempt => '$K8SJOB_ATTEMPT');
UPDATE app.accounts SET balance = balance + 10 WHERE name = 'alice';
COMMIT;
SQL
"""


@dataclass
class Seen:
    """What came of each step, in their order."""

    from_parent: bool
    steps: dict[str, Told] = field(default_factory=dict)
    first: Object = field(default_factory=dict)
    ends: dict[str, str] = field(default_factory=dict)
    pods: dict[str, Object] = field(default_factory=dict)
    attempts: dict[str, Object] = field(default_factory=dict)
    missed: str = ""
    listed: Told | None = None
    fired: Alert | None = None
    silent: bool = False
    done: Object = field(default_factory=dict)
    rules: Object = field(default_factory=dict)
    end_with_the_database_away: str = ""
    gone: bool = False
    left: int = 0
    asked: dict[str, set[str]] = field(default_factory=dict)
    refused: dict[str, set[str]] = field(default_factory=dict)

    def did(self, step: str, told: Told) -> None:
        """Keep what came of a step without which the next ones have no sense."""
        assert told.code == 0, (step, told)
        self.steps[step] = told


def play(scene: Scene) -> Seen:
    """Install, run, miss, find, fire, backfill; upgrade in vain, roll back, uninstall."""
    _prepare(scene)
    with ExitStack() as stack:
        tool = stack.enter_context(helm(scene))
        parent = of_parent_commit("k8sjob", tool.folder)
        seen = Seen(from_parent=parent is not None)
        _install(scene, tool, seen, parent or CHARTS / "k8sjob")
        _run_both_modes(scene, tool, seen)
        _miss(scene, seen)
        _backfill(scene, tool, seen)
        if audit.log():
            _audit(scene, seen)
        _lose_the_database(scene, tool, seen)
        _uninstall(scene, tool, seen)
    return seen


def _prepare(scene: Scene) -> None:
    """Have a database without a ledger, its DSNs in a Secret, and the kinds of other people."""
    scene.postgres.drop(scene.database)
    scene.postgres.make(scene.database)
    dsns = {who: scene.postgres.dsn(who, scene.database) for who in ("owner", "operator", "reader")}
    dsns["runner"] = scene.postgres.dsn("runner", scene.database)
    scene.apply(ledger_secret(scene.namespace, dsns, "k8sjob-ledger"))
    scene.apply(_crd("ServiceMonitor"), _crd("PrometheusRule"))
    kinds = "/apis/monitoring.coreos.com/v1/namespaces/default/"
    for plural in ("servicemonitors", "prometheusrules"):
        until(f"the kind {plural}", partial(scene.cluster.find, kinds + plural))


def _crd(kind: str) -> Object:
    """Return a kind of the Prometheus Operator that takes whatever it is given."""
    plural = f"{kind.lower()}s"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.monitoring.coreos.com"},
        "spec": {
            "group": "monitoring.coreos.com",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "scope": "Namespaced",
            "versions": [version],
        },
    }


def _image(name: str) -> Object:
    repository, _, tag = name.rpartition(":")
    return {"registry": "", "repository": repository, "tag": tag, "pullPolicy": "IfNotPresent"}


def _control_values(scene: Scene) -> Object:
    grants = {who: [f"k8sjob_{who}"] for who in ("operator", "runner", "reader")}
    return {
        "image": _image(scene.images.control),
        "ledgers": {"default": {"existingSecret": "k8sjob-ledger", "grants": grants}},
        "scope": {"namespaces": [scene.namespace]},
        "reconciler": {"schedule": "* * * * *"},
        "backfill": {"enabled": True},
        "serviceMonitor": {"enabled": True},
        "prometheusRule": {"enabled": True, "overrides": {ALERT: {"for": "2s"}}},
        "dashboard": {"enabled": True},
        "networkPolicy": {"enabled": True},
    }


def _install(scene: Scene, tool: Helm, seen: Seen, parent: Path) -> None:
    values = _control_values(scene)
    wait = ("--wait", "--timeout", "4m")
    seen.did("install", tool.put("install", CONTROL, parent, values, *wait))
    seen.first = {one["name"]: one["version"] for one in scene.rows(
        "SELECT name, version FROM k8sjob.migrations")}  # fmt: skip
    seen.steps["upgrade"] = tool.put("upgrade", CONTROL, CHARTS / "k8sjob", values, *wait)
    seen.steps["test"] = tool.run("test", CONTROL, "--logs", "--timeout", "2m")


def _run_both_modes(scene: Scene, tool: Helm, seen: Seen) -> None:
    app: Object = {
        "schedule": "* * * * *",
        "target": "credit:credit",
        "workingDir": "/app",
        "volumes": [{"name": "app", "configMap": {"name": "app"}}],
        "volumeMounts": [{"name": "app", "mountPath": "/app"}],
    }
    values = {
        "image": _image(scene.images.entrypoint),
        "sidecarImage": _image(scene.images.entrypoint),
        "defaults": {"timeZone": "Europe/Rome", "grace": "10s", "successfulJobsHistoryLimit": 20},
        "jobs": {
            "credit": app,
            "foreign": {
                "schedule": "* * * * *",
                "mode": "sidecar",
                "image": _image(scene.images.postgres),
                "command": ["sh", "-c", _CLAIM],
                "ledger": {"env": "DATABASE_URL"},
                "podSecurityContext": {"runAsUser": 65534},
            },
            "late": app | {"nodeSelector": {"k8sjob.io/no-such-node": "true"}},
        },
    }
    seen.did("jobs", tool.put("install", JOBS, CHARTS / "k8sjob-jobs", values))
    seen.steps["jobs test"] = tool.run("test", JOBS, "--logs", "--timeout", "2m")
    now = datetime.now(UTC)
    for name in ("credit", "foreign"):
        job = scene.scheduled(name, now)["metadata"]["name"]
        seen.ends[name] = scene.end_of(job)
        seen.pods[name] = scene.pods(job)[0]
        found = [row for row in scene.attempts() if row["job_name"] == job]
        seen.attempts[name] = found[0] if found else {}


def _miss(scene: Scene, seen: Seen) -> None:
    """Let a Job that cannot start stand in the way of the next slots, until one is missing."""
    found = f"""SELECT period FROM k8sjob.periods WHERE job = '{scene.namespace}/late'
                   AND state = 'open' AND NOT uncertain ORDER BY period LIMIT 1"""
    (row,) = until("a missing period", lambda: scene.rows(found), seconds=_PASS_S)
    seen.missed = f"{scene.namespace}/late:{row['period']}"
    scene.patch("cronjob/late", _ANYWHERE)
    gone = [one["metadata"]["name"] for one in scene.jobs() if _cronjob_of(one) == "late"]
    assert scene.kubectl("delete", "job", *gone, "--wait").good


def _backfill(scene: Scene, tool: Helm, seen: Seen) -> None:
    """See it on the alert and in the list, do it from a laptop, see both silent."""
    seen.listed = _plugin(scene, "get", "periods", f"{scene.namespace}/late", "-o", "json")
    seen.rules = scene.cluster.get(RULES.format(scene.namespace))["spec"]
    with ExitStack() as stack:
        server = None
        if watched.is_here():
            server = stack.enter_context(
                watched.prometheus(scene, "k8sjob-exporter", seen.rules, tool.folder)
            )
            seen.fired = until("the alert", lambda: _firing(server, scene))
        words = ("backfill", f"{scene.namespace}/late", "--missing", "--wait", "--timeout", "3m")
        seen.steps["backfill"] = _plugin(scene, *words)
        at = datetime.fromisoformat(seen.missed.partition(":")[2])
        seen.done = scene.row("late", at) or {}
        if server:
            seen.silent = until("its end", lambda: not _firing(server, scene))


def _firing(server: Prometheus, scene: Scene) -> Alert | None:
    found = server.alerts(ALERT).get(f"{scene.namespace}/late")
    return found if found and found.state == "firing" else None


def _plugin(scene: Scene, *words: str) -> Told:
    """Run ``kubectl k8sjob WORDS`` as a person does: found by kubectl on PATH."""
    path = os.pathsep.join([str(ROOT / "plugin"), os.environ["PATH"]])
    done = subprocess.run(
        [scene.cluster.program, "k8sjob", *words],
        env={
            **os.environ,
            "PATH": path,
            "KUBECONFIG": str(scene.cluster.kubeconfig),
            "K8SJOB_CONTROL_NAMESPACE": scene.namespace,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    return Told(done.returncode, done.stdout, done.stderr)


def _audit(scene: Scene, seen: Seen) -> None:
    for name in ("k8sjob-reconciler", "k8sjob-control", "k8sjob-exporter", _account(scene)):
        seen.asked[name] = audit.asked(scene.namespace, name)
        seen.refused[name] = audit.asked(scene.namespace, name, allowed=False)


def _account(scene: Scene) -> str:
    cron = scene.cluster.get(f"/apis/batch/v1/namespaces/{scene.namespace}/cronjobs/credit")
    return str(value(cron, "spec", "jobTemplate", "spec", "template", "spec", "serviceAccountName"))


def _lose_the_database(scene: Scene, tool: Helm, seen: Seen) -> None:
    """Upgrade while the owner's DSN leads nowhere; jobs go on. Then roll back."""
    dead = "postgresql://k8sjob_owner@127.0.0.1:1/nowhere"
    scene.patch("secret/k8sjob-ledger", json.dumps({"stringData": {"owner": dead}}))
    values = _control_values(scene) | {"migrate": {"wait": "1s", "backoffLimit": 0}}
    flags = ("--timeout", "2m")
    seen.steps["upgrade in vain"] = tool.put("upgrade", CONTROL, CHARTS / "k8sjob", values, *flags)
    job = scene.scheduled("credit", datetime.now(UTC))
    seen.end_with_the_database_away = scene.end_of(job["metadata"]["name"])
    seen.steps["rollback"] = tool.run("rollback", CONTROL, "2", "--wait", "--timeout", "2m")


def _uninstall(scene: Scene, tool: Helm, seen: Seen) -> None:
    seen.steps["jobs uninstall"] = tool.run("uninstall", JOBS, "--wait", "--timeout", "2m")
    seen.steps["uninstall"] = tool.run("uninstall", CONTROL, "--wait", "--timeout", "2m")
    # Helm waits for Deployments, not for their last Pods.
    seen.gone = until("the end of what was installed", lambda: not _installed(scene))
    seen.left = int(scene.rows("SELECT count(*) AS n FROM k8sjob.periods")[0]["n"])


def _installed(scene: Scene) -> list[str]:
    """Return what is left of the release; a hook that failed is not part of it."""
    kinds = "all,configmap,role,rolebinding,serviceaccount,networkpolicy"
    label = "app.kubernetes.io/part-of=k8sjob"
    left = scene.kubectl("get", kinds, "-l", label, "-o", "name").good.split()
    return [name for name in left if "migrate" not in name]


def _cronjob_of(job: Object) -> str:
    owners = job["metadata"].get("ownerReferences") or [{}]
    return str(owners[0].get("name", ""))
