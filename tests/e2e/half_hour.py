"""A platform engineer's half hour: both charts, from the first install to the uninstall."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tests.e2e import audit, kinds, releases, watched
from tests.e2e.cluster import Told, until, value
from tests.e2e.helm import CHARTS, helm, of_parent_commit
from tests.e2e.images import ROOT
from tests.e2e.releases import APP, CONTROL, JOBS, NO_IMAGE

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.audit import Rights
    from tests.e2e.cluster import Object
    from tests.e2e.helm import Helm
    from tests.e2e.scene import Scene
    from tests.seen.prometheus import Alert, Prometheus

ALERT = "K8sjobPeriodMissing"
RULES = "/apis/monitoring.coreos.com/v1/namespaces/{}/prometheusrules/k8sjob"
#: How many good Jobs each step keeps: something has to change in a CronJob.
HISTORY = {"jobs": 19, "jobs upgrade": 20, "jobs rollback": 19, "jobs forward": 20}
_PASS_S = 150  # the reconciler starts each minute
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

    from_parent: list[str] = field(default_factory=list)
    steps: dict[str, Told] = field(default_factory=dict)
    first: Object = field(default_factory=dict)
    crons: dict[str, dict[str, Object]] = field(default_factory=dict)
    ends: dict[str, str] = field(default_factory=dict)
    pods: dict[str, Object] = field(default_factory=dict)
    attempts: dict[str, Object] = field(default_factory=dict)
    missed: str = ""
    listed: Told | None = None
    fired: Alert | None = None
    silent: bool = False
    done: Object = field(default_factory=dict)
    rules: Object = field(default_factory=dict)
    rights: dict[str, Rights] = field(default_factory=dict)
    before: Object = field(default_factory=dict)
    after: Object = field(default_factory=dict)
    held_meanwhile: list[Object] = field(default_factory=list)
    held: list[Object] = field(default_factory=list)
    gone: bool = False
    left: int = 0
    kinds_left: list[str] = field(default_factory=list)

    def did(self, step: str, told: Told) -> None:
        """Keep what came of a step without which the next ones have no sense."""
        assert told.code == 0, (step, told)
        self.steps[step] = told


def play(scene: Scene) -> Seen:
    """Install, run, miss, find, fire, backfill; upgrade in vain, roll back, uninstall."""
    releases.without_ledger(scene)
    with ExitStack() as stack:
        for kind in ("ServiceMonitor", "PrometheusRule"):
            stack.enter_context(kinds.lent(scene.cluster, kind))
        tool = stack.enter_context(helm(scene))
        seen = Seen()
        _install(scene, tool, seen)
        _install_jobs(scene, tool, seen)
        _run_both_modes(scene, tool, seen)
        _miss(scene, seen)
        _backfill(scene, tool, seen)
        if audit.log():
            _audit(scene, seen)
        _lose_the_database(scene, tool, seen)
        _uninstall(scene, tool, seen)
    seen.kinds_left = kinds.left(scene.cluster)
    return seen


def _control_values(scene: Scene) -> Object:
    return releases.control_values(scene) | {
        "backfill": {"enabled": True},
        "serviceMonitor": {"enabled": True},
        "prometheusRule": {"enabled": True, "overrides": {ALERT: {"for": "2s"}}},
        "dashboard": {"enabled": True},
        "networkPolicy": {"enabled": True},
    }


def _parent(tool: Helm, seen: Seen, chart: str) -> Path:
    found = of_parent_commit(chart, tool.folder)
    if found:
        seen.from_parent.append(chart)
    return found or CHARTS / chart


def _install(scene: Scene, tool: Helm, seen: Seen) -> None:
    values = _control_values(scene)
    wait = ("--wait", "--timeout", "4m")
    seen.did("install", tool.put("install", CONTROL, _parent(tool, seen, "k8sjob"), values, *wait))
    seen.first = releases.migrations(scene)
    seen.steps["upgrade"] = tool.put("upgrade", CONTROL, CHARTS / "k8sjob", values, *wait)
    seen.did("test", tool.run("test", CONTROL, "--logs", "--timeout", "2m"))


def _install_jobs(scene: Scene, tool: Helm, seen: Seen) -> None:
    """Install the parent's chart, upgrade, roll back, upgrade again; look at the CronJobs."""
    foreign = {
        "schedule": "* * * * *",
        "mode": "sidecar",
        "image": releases.image(scene.images.postgres),
        "command": ["sh", "-c", _CLAIM],
        "ledger": {"env": "DATABASE_URL"},
        "podSecurityContext": {"runAsUser": 65534},
    }
    held = APP | {"target": "credit:held"}
    jobs = {"credit": APP, "foreign": foreign, "held": held, "late": APP | NO_IMAGE}

    def put(step: str, verb: str, chart: Path) -> None:
        values = releases.jobs_values(scene, jobs, successfulJobsHistoryLimit=HISTORY[step])
        did(step, tool.put(verb, JOBS, chart, values))

    def did(step: str, told: Told) -> None:
        seen.did(step, told)
        path = f"/apis/batch/v1/namespaces/{scene.namespace}/cronjobs"
        crons = {one["metadata"]["name"]: one for one in scene.cluster.items(path)}
        seen.crons[step] = {name: crons[name] for name in jobs}

    put("jobs", "install", _parent(tool, seen, "k8sjob-jobs"))
    put("jobs upgrade", "upgrade", CHARTS / "k8sjob-jobs")
    did("jobs rollback", tool.run("rollback", JOBS, "1"))
    put("jobs forward", "upgrade", CHARTS / "k8sjob-jobs")


def _run_both_modes(scene: Scene, tool: Helm, seen: Seen) -> None:
    seen.did("jobs test", tool.run("test", JOBS, "--logs", "--timeout", "2m"))
    now = datetime.now(UTC)
    for name in ("credit", "foreign"):
        job = scene.scheduled(name, now)["metadata"]["name"]
        seen.ends[name] = scene.end_of(job)
        seen.pods[name] = scene.pods(job)[0]
        seen.attempts[name] = next(iter(_attempts_of(scene, job)), {})


def _miss(scene: Scene, seen: Seen) -> None:
    """Let a Job that cannot start stand in the way of the next slots, until one is missing."""
    found = f"""SELECT period FROM k8sjob.periods WHERE job = '{scene.namespace}/late'
                   AND state = 'open' AND NOT uncertain ORDER BY period LIMIT 1"""
    (row,) = until("a missing period", lambda: scene.rows(found), seconds=_PASS_S)
    seen.missed = f"{scene.namespace}/late:{row['period']}"
    assert scene.kubectl("set", "image", "cronjob/late", f"main={scene.images.entrypoint}").good
    scene.patch("cronjob/late", '{"spec": {"suspend": true}}')
    gone = [one["metadata"]["name"] for one in scene.made_by("late")]
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
    names = ("k8sjob-reconciler", "k8sjob-control", "k8sjob-exporter", _account(scene))
    seen.rights = {
        part: audit.rights(scene.cluster, scene.namespace, name)
        for part, name in zip(("reconciler", "control", "exporter", "jobs"), names, strict=True)
    }


def _account(scene: Scene) -> str:
    cron = scene.cluster.get(f"/apis/batch/v1/namespaces/{scene.namespace}/cronjobs/credit")
    return str(value(cron, "spec", "jobTemplate", "spec", "template", "spec", "serviceAccountName"))


def _lose_the_database(scene: Scene, tool: Helm, seen: Seen) -> None:
    """Upgrade while the owner's DSN leads nowhere; jobs go on. Then roll back."""
    dead = "postgresql://k8sjob_owner@127.0.0.1:1/nowhere"
    scene.patch("secret/k8sjob-ledger", json.dumps({"stringData": {"owner": dead}}))
    values = _control_values(scene) | {
        "migrate": {"wait": "1s", "backoffLimit": 0},
        "reconciler": {"schedule": "*/2 * * * *"},
        "podAnnotations": {"example.com/release": "next"},
    }
    scene.wait_for_work()
    held = scene.made_by("held")[0]["metadata"]["name"]
    seen.before = _specs(scene)
    flags = ("--timeout", "2m")
    seen.steps["upgrade in vain"] = tool.put("upgrade", CONTROL, CHARTS / "k8sjob", values, *flags)
    seen.after = _specs(scene)
    seen.held_meanwhile = _attempts_of(scene, held)
    job = scene.scheduled("credit", datetime.now(UTC))
    seen.ends["with the database away"] = scene.end_of(job["metadata"]["name"])
    scene.let_go()
    seen.ends["held"] = scene.end_of(held)
    seen.held = _attempts_of(scene, held)
    seen.steps["rollback"] = tool.run("rollback", CONTROL, "2", "--wait", "--timeout", "2m")


def _attempts_of(scene: Scene, job: str) -> list[Object]:
    return [row for row in scene.attempts() if row["job_name"] == job]


def _specs(scene: Scene) -> Object:
    """Return what would run next: the Deployments' templates, and the CronJobs."""
    space = f"namespaces/{scene.namespace}"
    found = {
        one["metadata"]["name"]: one["spec"]["template"]
        for one in scene.cluster.items(f"/apis/apps/v1/{space}/deployments")
    }
    for one in scene.cluster.items(f"/apis/batch/v1/{space}/cronjobs"):
        found[one["metadata"]["name"]] = one["spec"]
    return found


def _uninstall(scene: Scene, tool: Helm, seen: Seen) -> None:
    seen.steps["jobs uninstall"] = tool.run("uninstall", JOBS, "--wait", "--timeout", "2m")
    seen.steps["uninstall"] = tool.run("uninstall", CONTROL, "--wait", "--timeout", "2m")
    # Helm waits for Deployments, not for their last Pods.
    seen.gone = until("the end of what was installed", lambda: not releases.installed(scene))
    seen.left = int(scene.rows("SELECT count(*) AS n FROM k8sjob.periods")[0]["n"])
