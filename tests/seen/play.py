"""What happens once per server: a real Prometheus sees a period go missing, and be done.

Three jobs at once, since what takes the time is waiting. Nobody waits for a length of time: each
wait is for something that a program says.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from tests.kube.apiserver import serving
from tests.seen import files
from tests.seen.jobs import Job, Ledger, missing_each_minute, missing_soon
from tests.seen.programs import (
    Told,
    answering,
    free_port,
    k8sjob,
    k8sjob_env,
    logs,
    running,
    to_its_end,
    until,
)
from tests.seen.prometheus import Prometheus
from tests.seen.took import ALERT, Took, take_apart
from tests.seen.webhook import listening

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.fix_stores import Database
    from tests.kube.apiserver import ApiServer
    from tests.seen.prometheus import Alert
    from tests.seen.webhook import Notice, Webhook

#: Looked after by a reconciler, by nobody, and by nobody with several periods missing.
WATCHED, UNWATCHED, BUSY = "billing/credit", "payments/settle", "ops/rollup"
#: Of all its periods, none is missing.
DONE = "billing/report"
#: Until the deadline, once the jobs are there (long enough to be scraped before).
LEAD = timedelta(seconds=2)


@dataclass(slots=True)
class Seen:
    """What was seen, by jobs: what came first as firing, what came first as resolved."""

    jobs: dict[str, Job] = field(default_factory=dict)
    firing: dict[str, Notice] = field(default_factory=dict)
    resolved: dict[str, Notice] = field(default_factory=dict)
    #: The rows that periods had when the alert came, and their states.
    stored: dict[str, dict[str, str]] = field(default_factory=dict)
    #: The alerts while the exporter was away; what was resolved before anything was done.
    away: dict[str, Alert] = field(default_factory=dict)
    too_early: list[Notice] = field(default_factory=list)
    #: Before older periods of `BUSY` were done, and after.
    older: list[Alert] = field(default_factory=list)
    backfill: Told = field(default_factory=lambda: Told(-1, "not run"))
    #: All that came of the alert.
    notices: list[Notice] = field(default_factory=list)
    #: What Prometheus has counted of its own troubles.
    troubles: dict[str, float] = field(default_factory=dict)
    took: dict[str, Took] = field(default_factory=dict)


@dataclass(slots=True)
class Play:
    """Everything that runs, and what is seen of it."""

    ledger: Ledger
    folder: Path
    api: ApiServer
    webhook: Webhook
    exporter_port: int = field(default_factory=free_port)
    alertmanager_port: int = field(default_factory=free_port)
    prometheus: Prometheus = field(default_factory=lambda: Prometheus(free_port()))
    seen: Seen = field(default_factory=Seen)

    # ---------------------------------------------------------------------------- what runs

    @contextmanager
    def exporter(self) -> Iterator[None]:
        """Run ``k8sjob serve``, as somebody who may only read."""
        listen = f"127.0.0.1:{self.exporter_port}"
        ready = (self.exporter_port, "/readyz")
        env = k8sjob_env(self.ledger.db.dsn("reader"))
        with answering(self.folder, "exporter", k8sjob("serve", "--listen", listen), ready, env):
            yield

    @contextmanager
    def watchers(self) -> Iterator[None]:
        """Run Alertmanager and Prometheus, with data and configuration in the folder."""
        exporter, alertmanager = self.exporter_port, self.alertmanager_port
        files.write(
            self.folder,
            f"127.0.0.1:{exporter}",
            f"127.0.0.1:{alertmanager}",
            f"http://127.0.0.1:{self.webhook.port}",
        )
        one = [
            "prometheus-alertmanager",
            "--config.file=alertmanager.yaml",
            "--storage.path=alertmanager",
            f"--web.listen-address=127.0.0.1:{alertmanager}",
            "--cluster.listen-address=",
        ]
        other = [
            "prometheus",
            "--config.file=prometheus.yaml",
            "--storage.tsdb.path=prometheus",
            f"--web.listen-address=127.0.0.1:{self.prometheus.port}",
        ]
        with (
            answering(self.folder, "alertmanager", one, (alertmanager, "/-/ready")),
            answering(self.folder, "prometheus", other, (self.prometheus.port, "/-/ready")),
        ):
            yield

    @contextmanager
    def reconciler(self) -> Iterator[None]:
        """Run passes over the namespace ``billing``, and over no other."""
        kubeconfig = self.api.kubeconfig(self.folder)
        words = k8sjob("reconcile", "-n", "billing", "--every", "1s", "--kubeconfig", kubeconfig)
        env = k8sjob_env(self.ledger.db.dsn("operator"))
        with running(self.folder, "reconciler", words, env):
            yield

    # ------------------------------------------------------------------------- what happens

    def go(self) -> Seen:
        """Play it from the beginning to the end."""
        with ExitStack() as stack:
            stack.enter_context(self.watchers())
            with self.exporter():
                until("Prometheus scrapes the exporter", lambda: self.scraped("k8sjob_up"))
                until("Prometheus has found Alertmanager", self.prometheus.knows_alertmanager)
                self.make_jobs()
                stack.enter_context(self.reconciler())
                self.see_them_missing()
            self.see_the_exporter_gone()
            with self.exporter():
                until("the exporter is back", lambda: self.scraped("k8sjob_up"))
                until("nothing is unseen", lambda: self.scraped("k8sjob:unseen") is None)
                self.seen.too_early = self.webhook.of(ALERT, status="resolved")
                self.do_older_ones()
                self.do_the_rest()
                self.see_them_resolved()
        return self.seen

    def make_jobs(self) -> None:
        """Let the ledger know the jobs; their periods become missing."""
        now = self.ledger.now()
        soon = [missing_soon(name, now, LEAD) for name in (WATCHED, UNWATCHED, DONE)]
        jobs = [*soon, missing_each_minute(BUSY, now)]
        for job in jobs:
            self.seen.jobs[job.name] = job
            self.api.add(job.cronjob)
            self.ledger.track(job)
        done = self.job(DONE)
        self.ledger.claim(done, *done.fired(now))

    def see_them_missing(self) -> None:
        """Wait until people have been told."""
        watched = self.job(WATCHED)
        stored = {watched.period(): "open"}
        until("it is stored", lambda: self.ledger.states(watched) == stored)
        for name in (WATCHED, UNWATCHED, BUSY):
            self.seen.firing[name] = self.webhook.first(ALERT, name, "firing")
            self.seen.stored[name] = self.ledger.states(self.job(name))
        for name in (WATCHED, UNWATCHED):
            came = self.seen.firing[name].at
            deadline = self.job(name).deadline
            self.seen.took[name] = take_apart(self.prometheus, name, deadline, came)

    def see_the_exporter_gone(self) -> None:
        """Wait until the rules have been evaluated without it."""
        until("the exporter is down", lambda: self.scraped('up{job="k8sjob"}') == 0)
        until("its jobs are unseen", lambda: self.scraped("absent(k8sjob_unfinished_periods)"))
        since = self.scraped("vector(time())")
        twice = f"timestamp(k8sjob:unseen) > {since} + 1"
        until("two evaluations without it", lambda: self.scraped(twice))
        self.seen.away = self.prometheus.alerts(ALERT)

    def do_older_ones(self) -> None:
        """Do the oldest missing period, and one from before all that was expected."""
        busy = self.job(BUSY)
        self.seen.older.append(self.prometheus.alerts(ALERT)[BUSY])
        self.ledger.claim(busy, busy.period(-60), busy.period(0))

        def next_one() -> Alert | None:
            alert = self.prometheus.alerts(ALERT).get(BUSY)
            return alert if alert is None or busy.period(1) in str(alert.annotations) else None

        self.seen.older.append(until("the alert names the next one", next_one))

    def do_the_rest(self) -> None:
        """Do what is missing: twice in SQL, once by the command that the alert names."""
        watched, busy, now = self.job(WATCHED), self.job(BUSY), self.ledger.now()
        self.ledger.claim(watched, watched.period())
        self.ledger.claim(busy, *(p for p in busy.fired(now) if p != busy.period(0)))
        self.seen.backfill = self.run_the_line_of(self.seen.firing[UNWATCHED])

    def see_them_resolved(self) -> None:
        """Wait until people have been told."""
        for name in (WATCHED, UNWATCHED, BUSY):
            self.seen.resolved[name] = self.webhook.first(ALERT, name, "resolved")
        self.seen.notices = self.webhook.of(ALERT)
        self.seen.troubles = self.prometheus.troubles()

    # ---------------------------------------------------------------------------- by the way

    def job(self, name: str) -> Job:
        """Return a job by its name."""
        return self.seen.jobs[name]

    def scraped(self, query: str) -> float | None:
        """Return what Prometheus has of something of which there is one."""
        return self.prometheus.value(query)

    def run_the_line_of(self, notice: Notice) -> Told:
        """Run the command of an alert as it stands there, with a file of SQL to run here."""
        _, _, line = notice.annotations["description"].partition("\nDo it: kubectl k8sjob ")
        (self.folder / "settle.sql").write_text(
            "UPDATE app.accounts SET balance = balance + 10 WHERE name = 'alice';\n", "utf-8"
        )
        words = k8sjob(*line.split(), "--local", "settle.sql")
        env = k8sjob_env(self.ledger.db.dsn("runner"))
        return to_its_end(self.folder, words, env)


def play(db: Database, folder: Path) -> Seen:
    """Play it, and return what was seen; what goes wrong tells what the programs said."""
    with listening() as webhook, serving() as api:
        one = Play(Ledger(db), folder, api, webhook)
        try:
            return one.go()
        except Exception as error:
            error.add_note("\n".join(["--- told", *map(str, webhook.notices), logs(folder)]))
            raise
