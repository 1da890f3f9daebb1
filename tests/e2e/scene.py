"""What one play has: a namespace and a ledger of its own, hands to act with, eyes to look with."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from k8sjob.reconcile.seen import SKEW
from tests.e2e import manifests
from tests.e2e.cluster import TIMEOUT, Told, until, value
from tests.e2e.images import ROOT
from tests.e2e.postgres import Postgres

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.e2e.cluster import Cluster, Object
    from tests.e2e.images import Images

TIMESTAMP = "batch.kubernetes.io/cronjob-scheduled-timestamp"
END_S = 120  # a Job's: two tries, ten seconds between them, on a busy node
MINUTE_S = 100  # the next slot of a minute schedule, and what it takes to start it


@dataclass(frozen=True)
class Scene:
    """A namespace ``namespace``, the ledger ``database``, and what is needed in both."""

    cluster: Cluster
    images: Images
    postgres: Postgres
    namespace: str

    @property
    def database(self) -> str:
        """The name of this scene's database."""
        return self.namespace

    def build(self) -> None:
        """Make the namespace, the database, and what each job needs."""
        self.cluster.apply(manifests.namespace(self.namespace))
        self.postgres.clone(self.database)
        self.cluster.apply(
            *manifests.account(self.namespace, "runner", *manifests.RUNNER_RULES),
            *manifests.account(self.namespace, "operator", *manifests.OPERATOR_RULES),
            manifests.app(self.namespace),
            self.secret_for(self.postgres),
        )

    def with_own_postgres(self) -> Scene:
        """Return the same scene with a server that nobody else uses."""
        space = f"{self.namespace}-server"
        self.cluster.apply(manifests.namespace(space, restricted=False))
        server = Postgres.start(self.cluster, space, self.images)
        server.clone(self.database)
        self.apply(self.secret_for(server))
        return replace(self, postgres=server)

    def secret_for(self, postgres: Postgres) -> Object:
        """Return the Secret through which Pods find the scene's ledger."""
        roles = ("operator", "runner", "reader")
        dsns = {role: postgres.dsn(role, self.database) for role in roles}
        return manifests.ledger_secret(self.namespace, dsns)

    # --------------------------------------------------------------------------------- hands

    def apply(self, *objects: Object) -> None:
        """Create or change objects."""
        self.cluster.apply(*objects)

    def kubectl(self, *words: str) -> Told:
        """Run kubectl in the namespace."""
        return self.cluster.kubectl("-n", self.namespace, *words)

    def start_job(self, name: str, *args: str, env: dict[str, str] | None = None) -> None:
        """Start a plain Job that runs ``k8sjob ARGS``."""
        container = manifests.runner(self.images.entrypoint, args, env)
        self.apply(manifests.job(self.namespace, name, manifests.job_spec(container)))

    def start_cronjob(
        self,
        name: str,
        *args: str,
        env: dict[str, str] | None = None,
        container: Object | None = None,
        pod: Object | None = None,
        **more: Any,
    ) -> None:
        """Start a CronJob that runs ``k8sjob ARGS`` each minute; ``more`` as manifests.cronjob."""
        env = {"K8SJOB_CRONJOB": name} if env is None else env
        main = manifests.runner(self.images.entrypoint, args, env) | (container or {})
        spec = manifests.job_spec(main, **(pod or {}))
        self.apply(manifests.cronjob(self.namespace, name, spec, **more))

    def patch(self, what: str, change: str) -> None:
        """Merge JSON into an object, e.g. ``cronjob/credit``."""
        assert self.kubectl("patch", what, "--type=merge", "-p", change).good

    def delete(self, what: str, name: str) -> None:
        """Delete an object and see it gone."""
        assert self.kubectl("delete", what, name, "--wait").good

    def k8sjob(self, *words: str) -> Told:
        """Run ``k8sjob WORDS`` inside the cluster, as an operator with an operator's rights."""
        path = self._path("pods/desk")
        if self.cluster.find(path) is None:
            self.apply(manifests.desk(self.namespace, self.images.control))
        until("the desk", lambda: value(self.cluster.get(path), "status", "phase") == "Running")
        return self.kubectl("exec", "desk", "--", "k8sjob", *words)

    @contextmanager
    def from_here(self) -> Iterator[Callable[..., Told]]:
        """Give what runs ``k8sjob WORDS`` on this machine, by the kubeconfig."""
        with self.postgres.reached_from_here("operator", self.database) as dsn:
            yield partial(run_k8sjob, self.cluster.kubeconfig, dsn)

    def start_reconciler(self) -> None:
        """Let the namespace be looked after from now on, every few seconds."""
        self.apply(manifests.reconciler(self.namespace, self.images.control))

    def wait_for_pass(self, seconds: float = TIMEOUT) -> datetime:
        """Return once a pass is over that began after this call; its beginning, for the slots."""
        (clock,) = self.rows("SELECT clock_timestamp()::text AS now")
        later = f"""SELECT started_at FROM k8sjob.passes WHERE started_at > '{clock["now"]}'
                       AND ended_at IS NOT NULL AND ok ORDER BY started_at LIMIT 1"""
        (found,) = until("a pass", lambda: self.rows(later), seconds=seconds)
        return datetime.fromisoformat(found["started_at"])

    def let_go(self) -> None:
        """Let the attempts work on that are held."""
        self.postgres.execute(self.database, "SELECT nextval('app.gate')")

    # ---------------------------------------------------------------------------------- eyes

    def _path(self, rest: str, api: str = "/api/v1") -> str:
        return f"{api}/namespaces/{self.namespace}/{rest}"

    def jobs(self) -> list[Object]:
        """Return the Jobs, oldest first."""
        jobs = self.cluster.items(self._path("jobs", "/apis/batch/v1"))
        return sorted(jobs, key=lambda job: str(job["metadata"]["creationTimestamp"]))

    def job(self, name: str) -> Object:
        """Return a Job."""
        return self.cluster.get(self._path(f"jobs/{name}", "/apis/batch/v1"))

    def pods(self, job: str) -> list[Object]:
        """Return the Pods of a Job, oldest first."""
        pods = self.cluster.items(self._path(f"pods?labelSelector=job-name%3D{job}"))
        return sorted(pods, key=lambda pod: str(pod["metadata"]["creationTimestamp"]))

    def end_of(self, job: str, seconds: float = END_S) -> str:
        """Wait for a Job's end; return ``Complete``, or ``Failed`` and why."""
        return until(f"the end of Job {job}", lambda: _end(self.job(job)), seconds=seconds)

    def scheduled(self, cronjob: str, after: datetime, seconds: float = MINUTE_S) -> Object:
        """Wait for the first Job that the controller makes for a slot after an instant."""
        what = f"a Job of {cronjob} for a slot after {after}"

        def later() -> list[Object]:
            return [job for job in self.made_by(cronjob) if slot(job) > after]

        return until(what, later, seconds=seconds)[0]

    def scheduled_and_tracked(self, cronjob: str, seconds: float = TIMEOUT) -> Object:
        """Wait ``seconds`` for a pass, then for the first Job of a slot that it makes sure of.

        Near its first list it is not: clocks may lie apart, so the slot may be of a time before.
        """
        after = self.wait_for_pass(seconds) + SKEW
        return self.scheduled(cronjob, after, seconds=SKEW.total_seconds() + MINUTE_S)

    def made_by(self, cronjob: str) -> list[Object]:
        """Return the Jobs that the controller has made for slots, the oldest slot first."""
        jobs = [job for job in self.jobs() if value(job, "metadata", "annotations", TIMESTAMP)]
        return sorted((job for job in jobs if _owner(job) == cronjob), key=slot)

    def rows(self, text: str) -> list[Object]:
        """Return the rows of a query on the scene's database."""
        return self.postgres.rows(self.database, text)

    @property
    def balance(self) -> int:
        """What alice has: ten for each effect."""
        return int(self.rows("SELECT balance FROM app.accounts")[0]["balance"])

    def attempts(self) -> list[Object]:
        """Return the attempts, oldest first."""
        return self.rows("SELECT * FROM k8sjob.attempts ORDER BY started_at, id")

    def states(self) -> dict[str, str]:
        """Return the state of each period that has a row."""
        rows = self.rows("SELECT job || ':' || period AS key, state FROM k8sjob.periods ORDER BY 1")
        return {row["key"]: row["state"] for row in rows}

    def listed(self, *states: str) -> list[str]:
        """Return the periods that people are shown in these states."""
        shown = self.k8sjob("get", "periods", "--state", ",".join(states), "-o", "name")
        return shown.good.split()

    def row(self, job: str, at: datetime) -> Object | None:
        """Return the row of a scheduled period."""
        wanted = f"job = '{self.namespace}/{job}' AND period = '{period(at)}'"
        return next(iter(self.rows(f"SELECT * FROM k8sjob.periods WHERE {wanted}")), None)

    def wait_for_work(self, seconds: float = TIMEOUT) -> None:
        """Return once an attempt is in the middle of its transaction."""
        asleep = f"""SELECT pid FROM pg_stat_activity WHERE datname = '{self.database}'
                        AND wait_event = 'PgSleep'"""
        until("an attempt at work", lambda: self.rows(asleep), seconds=seconds)

    def story(self) -> str:
        """Tell what is in the namespace, for the reader of a failure."""
        told = [
            self.kubectl("get", "cronjobs,jobs,pods", "-o", "wide"),
            self.kubectl("get", "events", "--sort-by=.metadata.creationTimestamp"),
            self.kubectl("logs", "-l", "job-name", "--all-containers", "--prefix", "--tail=20"),
            self.kubectl("logs", "reconciler", "--tail=40"),
        ]
        said = [f"{each.out}{each.err}" for each in told]
        with suppress(AssertionError):  # there may be no ledger yet
            said += [str(row) for row in self.attempts()] + [str(self.states())]
        return "\n".join(said)


def slot(job: Object) -> datetime:
    """Return the instant that the controller made a Job for."""
    return datetime.fromisoformat(job["metadata"]["annotations"][TIMESTAMP])


def run_k8sjob(kubeconfig: Path, dsn: str, *words: str) -> Told:
    """Run this checkout's ``k8sjob WORDS`` on this machine."""
    done = subprocess.run(
        [sys.executable, "-m", "k8sjob", *words],
        cwd=ROOT,
        env={**os.environ, "KUBECONFIG": str(kubeconfig), "K8SJOB_DSN": dsn},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    return Told(done.returncode, done.stdout, done.stderr)


def period(at: datetime) -> str:
    """Return a slot as the text of its period."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def wait_until(at: datetime) -> None:
    """Return once the clock has come to ``at``."""
    seconds = (at - datetime.now(UTC)).total_seconds()
    until(f"{at}", lambda: datetime.now(UTC) >= at, seconds=seconds + 5)


def message(pod: Object, container: str = "main") -> str:
    """Return what a container left in its termination message."""
    statuses = value(pod, "status", "containerStatuses") or []
    ended = [value(each, "state", "terminated") for each in statuses if each["name"] == container]
    return str(((ended and ended[0]) or {}).get("message", ""))


def _owner(job: Object) -> str | None:
    owners = job["metadata"].get("ownerReferences") or [{}]
    name: str | None = owners[0].get("name")
    return name


def _end(job: Object) -> str:
    for condition in value(job, "status", "conditions") or []:
        if condition["status"] == "True" and condition["type"] == "Complete":
            return "Complete"
        if condition["status"] == "True" and condition["type"] == "Failed":
            return f"Failed: {condition.get('reason')}: {condition.get('message')}"
    return ""
