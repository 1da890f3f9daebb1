"""``k8sjob backfill --local``: the periods run in this process."""

from __future__ import annotations

import os
import signal
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import click

from k8sjob import log
from k8sjob.backfill import local
from k8sjob.backfill.basis import basis_of, check_cronjob
from k8sjob.backfill.plan import Action
from k8sjob.cli.run import read_command, read_target
from k8sjob.errors import ExitCode, K8sjobError
from k8sjob.kube.client import Cluster
from k8sjob.ledger.contract import drive
from k8sjob.ledger.open import open_ledger
from k8sjob.ledger.settings import Kind
from k8sjob.period import Cycle, Period
from k8sjob.run.entry import run, with_secrets_hidden
from k8sjob.run.request import Flags, make_request

if TYPE_CHECKING:
    from collections.abc import Iterator

    from k8sjob.backfill.asked import Asked
    from k8sjob.backfill.basis import Basis
    from k8sjob.backfill.gather import Survey
    from k8sjob.backfill.plan import Line
    from k8sjob.kube.objects import CronJob
    from k8sjob.ledger.known import Known
    from k8sjob.ledger.read import Reader
    from k8sjob.ledger.settings import Address


def make_file(address: Address) -> None:
    """Make a SQLite ledger that is not there yet, as the first run of a period does."""
    if address.kind is Kind.SQLITE:
        ledger = open_ledger(address, application_name="k8sjob backfill", lock_timeout_s=30)
        drive(ledger.open())
        drive(ledger.close())


def local_basis(reader: Reader, asked: Asked, flags: dict[str, Any]) -> Basis:
    """Return what is known of the job, with its CronJob only where nothing else tells the schedule.

    Raises what the ledger raises. A cluster that cannot be asked is no trouble of this command's:
    what needs it says so.
    """
    known = reader.known(asked.job)
    cycle = os.environ.get("K8SJOB_CYCLE")
    return basis_of(
        known,
        _cronjob(known, flags) if _needs_cronjob(asked, known, flags) else None,
        zone=os.environ.get("K8SJOB_TIME_ZONE") or None,
        cycle=Cycle(cycle) if cycle else None,
    )


def _needs_cronjob(asked: Asked, known: Known, flags: dict[str, Any]) -> bool:
    """Whether there are periods to count and no schedule to count them by.

    Days, weeks and months are counted by the calendar, unless a cluster is named.
    """
    if known.versions or asked.missing:
        return False
    if flags["context"] or flags["kubeconfig"]:
        return True
    if asked.start == asked.end and Period.parse(asked.start or "").cycle is Cycle.SCHEDULED:
        return False
    return Cycle.SCHEDULED in (known.cycle, Period.parse(asked.start or "").cycle)


def _cronjob(known: Known, flags: dict[str, Any]) -> CronJob | None:
    try:
        connected = Cluster.connect(context=flags["context"], kubeconfig=flags["kubeconfig"])
        with closing(connected) as cluster:
            found = cluster.get_cronjob(known.job.namespace, known.job.name)
    except K8sjobError as error:
        click.echo(f"the CronJob of {known.job} was not read: {error}", err=True)
        return None
    check_cronjob(known.job, found)
    return found


def run_here(
    found: Survey,
    asked: Asked,
    address: Address,
    flags: dict[str, Any],
    argv: tuple[str, ...] | None,
) -> int:
    """Run the periods of a plan, tell how it went, and return the code of the first failure."""
    as_json = log.wants_json()
    log.set_up(str, as_json=as_json)  # until the secrets are known
    record = flags["record_on_success"]
    target = read_target(flags["local"] or None, argv, record_on_success=record)
    reason = asked.reason if asked.off_schedule else None

    def run_one(line: Line) -> int:
        resolved = local.resolved(found.basis, line, reason)
        request = make_request(target, Flags(), resolve=lambda _asked: resolved)
        request = with_secrets_hidden(request, address, os.environ)
        log.set_up(request.redact, as_json=as_json)
        child = read_command(target.argv, record_on_success=record, grace=None)
        return run(request, address, as_json=as_json, command=child)

    ran: list[local.Ran] = []
    with _same_signals():
        for one in local.run_all(found.plan, run_one, keep_going=flags["keep_going"]):
            if one.error is not None:
                click.echo(f"k8sjob: {one.line.label}: {one.error}", err=True)
            ran.append(one)
        click.echo(local.closing(found.plan, ran), err=True)
    code = local.exit_code(ran)
    if code or not found.plan.of(Action.REFUSE):
        return code
    return int(ExitCode.FAILED)


@contextmanager
def _same_signals() -> Iterator[None]:
    """Unblock at the end what the commands have blocked; a stop signal that waits comes then."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
