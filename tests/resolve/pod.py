"""``k8sjob`` as a Pod runs it: with the Pod's environment, and an API server over real TLS."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from k8sjob.kube.names import slot_name
from k8sjob.ledger import settings
from k8sjob.ledger.contract import drive
from k8sjob.ledger.open import open_ledger
from tests.inside.apiserver import answer
from tests.resolve.world import CRONJOB, JOB, SLOT_NAME, UID, job
from tests.run.commandline import CREDIT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from k8sjob.ledger.contract import Ledger
    from tests.inside.apiserver import ApiServer
    from tests.run.commandline import CommandLine, Told


def ago(**time: float) -> datetime:
    """Return the minute so long before now: runs go by the database's clock."""
    return datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(**time)


def text(at: datetime) -> str:
    """Return the instant as a period."""
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


def slot_job(at: datetime, **more: Any) -> dict[str, Any]:
    """Return the Job that the controller makes for the slot."""
    return job(slot_name(CRONJOB, at), TIMESTAMP=text(at), **more)


class Pod:
    """One Pod, and what its runs leave behind."""

    def __init__(self, cli: CommandLine, api: ApiServer) -> None:
        """Set what the chart gives to every Pod."""
        self.cli, self.api = cli, api
        self.env = api.env | {
            "K8SJOB_LOG_FORMAT": "text",
            "K8SJOB_DSN": cli.store.dsn,
            "K8SJOB_NAMESPACE": "billing",
            "K8SJOB_CRONJOB": CRONJOB,
            "K8SJOB_JOB_NAME": SLOT_NAME,
            "K8SJOB_JOB_UID": UID,
        }

    def has(self, job: Mapping[str, Any]) -> None:
        """Let the cluster have the Job that this Pod belongs to."""
        self.env |= {"K8SJOB_JOB_NAME": job["metadata"]["name"]}
        self.api.script = [answer(200, job)]

    def run(self, *flags: str, target: str | None = None, **env: str) -> Told:
        """Run a credit, or another target."""
        return self.call("run", target or self.cli.file(CREDIT), *flags, **env)

    def call(self, *args: str, **env: str) -> Told:
        """Call ``k8sjob`` with the Pod's environment."""
        for name, value in (self.env | env).items():
            self.cli.patch.setenv(name, value)
        return self.cli.call(*args)

    def query(self, text: str) -> list[tuple[Any, ...]]:
        """Ask or change the ledger as nobody but its owner may."""
        return self.cli.query(text)

    def track(self, expr: str = "* * * * *", **job: Any) -> None:
        """Let the reconciler have seen the job's schedule, from some days ago on."""
        track(self.cli, expr, **job)

    def kept(self) -> list[tuple[str, str, str]]:
        """Return what is kept of Jobs: period and source by UID."""
        table = self.cli.store.table("resolutions")
        return [
            (str(uid), str(period), str(source))
            for uid, period, source in self.query(f"SELECT job_uid, period, source FROM {table}")
        ]

    def ledger(self) -> Ledger:
        """Return the ledger, connected as the runner."""
        address = settings.parse(self.cli.store.dsn, "test")
        ledger = open_ledger(address, application_name="test", lock_timeout_s=5)
        drive(ledger.open())
        return ledger


def track(
    cli: CommandLine, expr: str, *, zone: str | None = "Etc/UTC", limits: object = None
) -> None:
    """Write what the reconciler writes of a job whose schedule it has seen for five days."""
    cli.query(
        f"""INSERT INTO k8sjob.jobs (job) VALUES ('{JOB}') ON CONFLICT DO NOTHING;
                UPDATE k8sjob.jobs SET limits = '{json.dumps(limits or {})}', cronjob = '{CRONJOB}',
                       tracked_since = now() - interval '5 days',
                       done_until = now() - interval '5 days'
                 WHERE job = '{JOB}';
                INSERT INTO k8sjob.schedule_versions (job, n, expr, zone, earliest_from, valid_from)
                VALUES ('{JOB}', 1, '{expr}', {_sql(zone)}, now() - interval '5 days',
                        now() - interval '5 days')"""
    )


def _sql(value: object) -> str:
    return "NULL" if value is None else f"'{value}'"
