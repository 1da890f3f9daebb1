"""``k8sjob backfill``."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

import click

from k8sjob.backfill import words
from k8sjob.backfill.asked import Asked, check
from k8sjob.backfill.basis import basis_of
from k8sjob.backfill.gather import Place, find_cronjob, survey
from k8sjob.backfill.notes import notes
from k8sjob.backfill.plan import Action
from k8sjob.cli import looking
from k8sjob.cli.backfill_local import local_basis, make_file, run_here
from k8sjob.cli.backfill_steps import carry_out
from k8sjob.cli.people import DRY_RUN, LEDGER, NAMESPACE, who
from k8sjob.cli.run import RunCommand
from k8sjob.errors import ExitCode, UsageError
from k8sjob.key import JobName
from k8sjob.kube.client import Cluster
from k8sjob.kube.manifest import backfill_job
from k8sjob.ledger import settings
from k8sjob.ledger.launches import open_launches
from k8sjob.ledger.read import open_reader
from k8sjob.view.table import table

if TYPE_CHECKING:
    from k8sjob.backfill.gather import Survey
    from k8sjob.ledger.settings import Address


@click.command(
    "backfill",
    cls=RunCommand,
    short_help="Run past periods, by Jobs or in this process.",
    options_metavar="[OPTIONS] NS/NAME [-- COMMAND …]",
)
@click.argument("job", metavar="")
@click.option("--from", "start", metavar="P", help="The first period, or a day of a schedule.")
@click.option("--to", "end", metavar="P", help="The last one, itself included.")
@click.option("--missing", is_flag=True, help="Those that should have been done and are not.")
@DRY_RUN
@click.option(
    "--parallelism",
    type=click.IntRange(1, 100),
    default=1,
    metavar="N",
    help="Backfill Jobs of this job under way at once. Default 1.",
)
@click.option(
    "--max",
    "most",
    type=click.IntRange(1, 10_000),
    default=100,
    metavar="N",
    help="Periods to begin in one command. Default 100.",
)
@click.option("--wait", is_flag=True, help="Stay until the last has ended, and tell how each did.")
@click.option("--timeout", metavar="D", help="How long to stay at most, e.g. 2h. No bound else.")
@click.option(
    "--local",
    is_flag=False,
    flag_value="",
    metavar="[TARGET]",
    help="Run TARGET, or the command after --, here; no Jobs.",
)
@click.option("--keep-going", is_flag=True, help="With --local: go on after a failure.")
@click.option("--record-on-success", is_flag=True, help="With --local -- COMMAND: as for run.")
@click.option("--off-schedule", is_flag=True, help="The one period named need not be scheduled.")
@click.option("--reason", metavar="TEXT", help="Why, in one line. Needed with --off-schedule.")
@click.option("--by", metavar="WHO", help="Who asks. Else K8SJOB_BY, else the user and host.")
@click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "json", "name"]),
    default="table",
    help="json: the Jobs, for kubectl apply -f -; none is created.",
)
@NAMESPACE
@LEDGER
@click.option("--context", metavar="NAME", help="The context of the kubeconfig.")
@click.option("--kubeconfig", metavar="FILE", help="Else KUBECONFIG, the Pod's account, or ~.")
def command(job: str, **flags: Any) -> int:
    """Run past periods of the job NS/NAME: by Jobs made from its CronJob's template, or here.

    NS/NAME may bring its periods with it, as a key (NS/NAME:PERIOD) or a range (NS/NAME:A..B).
    A period that is done, skipped, blocked or awaiting is left alone, so the same command can be
    given again at any time. --from and --to are periods, both ends in; for a schedule also days,
    weeks and months of its zone.

    \b
      k8sjob backfill billing/daily-credit --from 2026-09-10 --to 2026-09-14 --dry-run
      k8sjob backfill billing/daily-credit --missing --parallelism 2 --wait
      k8sjob backfill billing/daily-credit --missing -o json | kubectl apply -f -
      k8sjob backfill billing/daily-credit --missing --local app.credit:credit

    Ends with 0 if all of it was created or needs nothing; with 1 if a period was refused, a Job
    failed, or with --wait a period is not done. With --local: the code of the first failure.
    """
    asked = _asked(job, flags)
    check(asked)
    address = settings.find(ledger=flags["ledger"])
    argv = click.get_current_context().meta.get("k8sjob.argv")
    if not asked.local:
        if argv is not None:
            raise UsageError("a command after -- goes with --local. Nothing was done.")
        return _in_cluster(asked, address, flags)
    if not flags["dry_run"]:
        make_file(address)
    with closing(open_reader(address)) as reader:
        found = survey(Place(reader), asked, local_basis(reader, asked, flags))
    _show(found, asked, flags)
    if flags["dry_run"]:
        return _dry(found)
    return run_here(found, asked, address, flags, argv)


def _asked(job: str, flags: dict[str, Any]) -> Asked:
    space = flags["namespace"] or looking.namespace()
    if flags["local"] is not None and flags["output"] != "table":
        raise UsageError("-o is about Jobs, and --local makes none. Nothing was done.")
    if flags["local"] is None and (flags["keep_going"] or flags["record_on_success"]):
        raise UsageError("--keep-going and --record-on-success go with --local. Nothing was done.")
    name, start, end = _ends(job, flags)
    return Asked(
        job=JobName.parse(f"{space}/{name}" if space and "/" not in name else name),
        start=start,
        end=end,
        missing=flags["missing"],
        off_schedule=flags["off_schedule"],
        reason=(flags["reason"] or "").strip() or None,
        most=flags["most"],
        local=flags["local"] is not None,
        ledger=flags["ledger"] or os.environ.get("K8SJOB_LEDGER") or None,
    )


def _ends(job: str, flags: dict[str, Any]) -> tuple[str, str | None, str | None]:
    """Return the job's name and both ends, which a key or a range brings with it."""
    name, colon, periods = job.partition(":")
    if not colon:
        return name, flags["start"], flags["end"]
    if flags["start"] or flags["end"] or flags["missing"]:
        raise UsageError(
            f"{job} says which periods, and --from, --to or --missing says it too. Nothing was "
            f"done.\n  Write {name}, or leave the others out."
        )
    first, _, last = periods.partition("..")
    return name, first, last or first


def _in_cluster(asked: Asked, address: Address, flags: dict[str, Any]) -> int:
    with ExitStack() as stack:
        launches = stack.enter_context(closing(open_launches(address)))
        reader = stack.enter_context(closing(open_reader(address)))
        connected = Cluster.connect(context=flags["context"], kubeconfig=flags["kubeconfig"])
        place = Place(reader, stack.enter_context(closing(connected)), launches)
        cronjob = find_cronjob(place, asked.job)
        basis = basis_of(reader.known(asked.job), cronjob)
        found = survey(place, asked, basis)
        if flags["output"] == "json":
            return _manifests(found)
        _show(found, asked, flags)
        if flags["dry_run"]:
            return _dry(found)
        by = (flags["by"] or "").strip() or who()
        return carry_out(place, asked, found, flags, by)


def _show(found: Survey, asked: Asked, flags: dict[str, Any]) -> None:
    told = notes(asked, found.basis, found.candidates)
    if flags["output"] == "name":
        if flags["dry_run"]:
            for line in found.plan.of(Action.CREATE):
                click.echo(f"job.batch/{line.job}")
    elif found.plan.lines:
        header, rows = words.cells(found.plan, told.beside, local=asked.local)
        for text in table(header, rows, colour=looking.colour()):
            click.echo(text)
    for sentence in told.below:
        click.echo(sentence, err=True)


def _dry(found: Survey) -> int:
    click.echo(words.summary(found.plan.counts, dry_run=True), err=True)
    return _code(found)


def _code(found: Survey) -> int:
    return int(ExitCode.FAILED) if found.plan.of(Action.REFUSE) else 0


def _manifests(found: Survey) -> int:
    """Print the Jobs for kubectl, and on standard error what is not among them."""
    cronjob, job = found.basis.cronjob, found.basis.job
    assert cronjob is not None  # noqa: S101  # Jobs are made from one
    lines = found.plan.of(Action.CREATE)
    items = [backfill_job(cronjob, line.key_of(job), line.generation, line.try_) for line in lines]
    whole = {"apiVersion": "v1", "kind": "List", "items": items}
    click.echo(json.dumps(whole, indent=2, ensure_ascii=False))
    for line in found.plan.lines:
        if line.action is not Action.CREATE:
            click.echo(f"{line.label}  {line.action}: {line.reason}", err=True)
    click.echo(words.summary(found.plan.counts, dry_run=True), err=True)
    return _code(found)
