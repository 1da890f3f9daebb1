"""``k8sjob reconcile``."""

from __future__ import annotations

import json
import logging
import os
import select
import signal
from functools import partial
from typing import TYPE_CHECKING

import click

from k8sjob import log
from k8sjob.cli import looking
from k8sjob.cli.ledgers import find_each, redactor_of, refuse_twins
from k8sjob.duration import parse_duration
from k8sjob.errors import ExitCode, UsageError
from k8sjob.reconcile.report import as_json, as_rows, summary
from k8sjob.view.table import table

if TYPE_CHECKING:
    from collections.abc import Callable

    from k8sjob.cli.ledgers import Finds
    from k8sjob.kube.client import Cluster
    from k8sjob.reconcile.passes import Orders
    from k8sjob.reconcile.report import Report


@click.command("reconcile", short_help="Find the periods that are missing, and look after them.")
@click.option(
    "-n",
    "--namespace",
    "namespaces",
    metavar="NS",
    multiple=True,
    help="Only this namespace; may be given more than once.",
)
@click.option("-A", "--all-namespaces", "everything", is_flag=True, help="All. The default.")
@click.option(
    "--ledger",
    "ledgers",
    metavar="NAME",
    multiple=True,
    help="Only this ledger; may be given more than once. Default: K8SJOB_DSN's and all of "
    "K8SJOB_LEDGERS_DIR.",
)
@click.option("--every", metavar="D", help="Go on, with a pass every D, e.g. 1m, until stopped.")
@click.option("--dry-run", is_flag=True, help="Say the same, and change nothing.")
@click.option(
    "--max-launches",
    type=click.IntRange(0, 10_000),
    default=50,
    metavar="N",
    help="Jobs that catch-up may start in one pass. Default 50.",
)
@click.option(
    "--forget-scope",
    "forgotten",
    metavar="SCOPE",
    help="No pass: forget a scope that nobody passes over any more, by its name in the metrics.",
)
@click.option("-o", "--output", type=click.Choice(["table", "json"]), default="table")
@click.option("--context", metavar="NAME", help="The context of the kubeconfig.")
@click.option("--kubeconfig", metavar="FILE", help="Else KUBECONFIG, or the Pod's own account.")
def command(  # noqa: PLR0913, PLR0917  # one an option
    namespaces: tuple[str, ...],
    everything: bool,  # noqa: FBT001  # as click calls it
    ledgers: tuple[str, ...],
    every: str | None,
    dry_run: bool,  # noqa: FBT001  # as above
    max_launches: int,
    forgotten: str | None,
    output: str,
    context: str | None,
    kubeconfig: str | None,
) -> int:
    """Find the periods that are missing, and look after them: one pass.

    A pass lists the CronJobs that have the label k8sjob.io/enabled=true, keeps the versions of
    their schedules, stores what was due and is not done, says why, ends attempts whose Pods are
    gone, and starts or skips periods where the annotation k8sjob.io/catch-up says so. It keeps
    nothing for the next pass but what is in the ledger, and two at once do no harm.

    \b
      k8sjob reconcile --dry-run
      k8sjob reconcile -n billing --every 1m
      k8sjob reconcile --forget-scope billing,shop

    It needs an operator of the ledger (Postgres), and in Kubernetes list on cronjobs, jobs, pods
    and events, and create on jobs for catch-up. Ends with 1 if a job, a list or a ledger could not
    be looked after; what could be was.
    """
    _check(namespaces, everything=everything, every=every, forgotten=forgotten)
    from k8sjob.kube.client import Cluster  # noqa: PLC0415  # not for --help
    from k8sjob.reconcile.passes import Orders  # noqa: PLC0415  # as above

    seconds = parse_duration(every) if every else None
    orders = Orders(
        namespaces=namespaces or None,
        dry_run=dry_run,
        budget=max_launches,
        every_ledger=not ledgers,
    )
    known = find_each(ledgers, os.environ)
    refuse_twins(known)
    log.set_up(redactor_of(known), as_json=log.wants_json())
    if forgotten:
        return _forget(known, forgotten, dry_run=dry_run)
    connect = partial(Cluster.connect, context=context, kubeconfig=kubeconfig)
    if seconds is None:
        return _once(known, connect, orders, output)
    return _again_and_again(lambda: _once(known, connect, orders, output), seconds)


def _check(
    namespaces: tuple[str, ...], *, everything: bool, every: str | None, forgotten: str | None
) -> None:
    """Raise UsageError for what does not go together."""
    if everything and namespaces:
        raise UsageError(
            "-A is all namespaces, and -n names some. Nothing was done.\n  Leave one of them out."
        )
    if forgotten and (everything or namespaces or every):
        raise UsageError(
            "--forget-scope makes no pass. Nothing was done.\n  Leave -A, -n and --every out."
        )


def _forget(known: Finds, scope: str, *, dry_run: bool) -> int:
    from k8sjob.reconcile.forgetting import forget_scope  # noqa: PLC0415  # as above

    done = forget_scope(known, scope, dry_run=dry_run)
    more = " (dry run: nothing was changed)" if dry_run else ""
    for name, passes in done.passes.items():
        click.echo(f"ledger {name}: the scope {scope} is forgotten, with its {passes} passes{more}")
    for name, trouble in done.troubles.items():
        click.echo(f"ledger {name}: not looked at: {trouble}", err=True)
    return int(ExitCode.FAILED) if done.troubles else 0


def _once(
    known: Finds,
    connect: Callable[[], Cluster],
    orders: Orders,
    output: str,
) -> int:
    from k8sjob.reconcile.passes import run_pass  # noqa: PLC0415  # as above

    reports = run_pass(known, connect, orders)
    if output == "json":
        told = {"ledgers": [as_json(report) for report in reports]}
        click.echo(json.dumps(told, indent=2, ensure_ascii=False))
    for report in reports:
        _tell(report, output)
    return 0 if all(report.ok for report in reports) else int(ExitCode.FAILED)


def _tell(report: Report, output: str) -> None:
    if output == "table" and report.lines:
        rows = as_rows(report.lines)
        for line in table(("WHAT", "ACTION", "REASON"), rows, colour=looking.colour()):
            click.echo(line)
    if report.lines or not report.trouble:
        click.echo(summary(report), err=True)
    if report.trouble:
        click.echo(f"ledger {report.ledger}: not complete: {report.trouble}", err=True)


def _again_and_again(once: Callable[[], int], seconds: float) -> int:
    """Make passes until a stop signal comes; one that has begun is ended first."""
    # Not an Event: set by a handler while this thread waits for it, it may wait for itself.
    stopped, stop = os.pipe()
    os.set_blocking(stop, False)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os.write(stop, b"."))
    while not select.select([stopped], [], [], 0)[0]:
        try:
            once()
        except Exception:  # a bug that one pass met: the next one may not
            logging.getLogger("k8sjob").exception("the pass was not ended")
        select.select([stopped], [], [], seconds)
    return 0
