"""``k8sjob prune``."""

from __future__ import annotations

import json
import os
from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from k8sjob.cli.people import DRY_RUN, EVERYTHING, LEDGER, ask, lock_timeout_s
from k8sjob.duration import parse_duration
from k8sjob.errors import ConfigError, UsageError
from k8sjob.key import JobName
from k8sjob.ledger import settings
from k8sjob.ledger.operate import Scope
from k8sjob.ledger.settings import Kind
from k8sjob.people.prune import PruneOrder, line, prune
from k8sjob.period import Period

if TYPE_CHECKING:
    from k8sjob.people.prune import JobPlan, Pruned


@click.command("prune", short_help="Delete old finished periods and old attempts.")
@click.argument("jobs", nargs=-1)
@EVERYTHING
@click.option(
    "-n",
    "--namespace",
    "namespaces",
    metavar="NS",
    multiple=True,
    help="The namespace of jobs named without one; where nothing is named, all of its jobs, and it "
    "may be given more than once.",
)
@click.option("--older-than", metavar="D", help="Periods that ended before then, e.g. 400d.")
@click.option("--before", metavar="PERIOD", help="Periods before this one, which stays.")
@click.option("--attempts-older-than", metavar="D", default="90d", help="Attempts. Default 90d.")
@click.option(
    "--batch",
    type=click.IntRange(1, 100_000),
    default=1000,
    metavar="N",
    help="Rows in a transaction. Default 1000.",
)
@DRY_RUN
@click.option("--yes", is_flag=True, help="Do not ask; needed for a time beyond one job.")
@click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "json"]),
    default="table",
    help="How to tell what went.",
)
@LEDGER
def command(jobs: tuple[str, ...], **flags: Any) -> int:
    """Delete old finished periods and old attempts of JOBS (NS/NAME), of -n NS or of -A.

    Periods go only where a job has a retention, or --older-than or --before says so. Only done and
    skipped ones go, never once, and never past the mark up to which the reconciler has looked. A
    period that went is expired: it is never done again. Attempts without an end stay, and so do
    those of unfinished periods. Events and counters stay.

    \b
      k8sjob prune -A
      k8sjob prune billing/daily-credit --older-than 400d --dry-run

    It works beside running jobs, a batch a transaction; started again it goes on. Postgres only.
    """
    scopes = _scopes(jobs, flags["namespaces"], everything=flags["everything"])
    order = _order(scopes, flags)
    address = settings.find(ledger=flags["ledger"])
    if address.kind is Kind.SQLITE:
        raise ConfigError(
            "a SQLite ledger is not pruned. Nothing was changed.\n"
            "  It is for a laptop or a single node, where old rows cost little."
        )
    # The other driver is not imported.
    from k8sjob.ledger.postgres.operate import PostgresOperator  # noqa: PLC0415

    def agree(plans: list[JobPlan]) -> None:
        wide = len(plans) > 1 and (order.older_than or order.before)
        if wide and not flags["yes"]:
            ask("prune", [f"{len(plans)} jobs"], [f"{p.job}  up to {p.upto}" for p in plans])

    with closing(PostgresOperator(address.dsn, lock_timeout_s=lock_timeout_s())) as pruner:
        gone = list(_told(prune(pruner, order, dry_run=flags["dry_run"], agree=agree), flags))
    if flags["output"] == "json":
        click.echo(json.dumps([_json(p) for p in gone], indent=2, ensure_ascii=False))
    if flags["dry_run"]:
        click.echo("dry run: nothing was changed", err=True)
    elif not any(p.periods or p.attempts for p in gone):
        click.echo("there is nothing to prune", err=True)
    return int(any(p.error for p in gone))


def _scopes(jobs: tuple[str, ...], namespaces: tuple[str, ...], *, everything: bool) -> list[Scope]:
    spaces = sorted(set(filter(None, namespaces)))
    if everything + bool(jobs) > 1 or (everything and spaces):
        raise UsageError(
            "-A means all jobs, and something else is named too. Nothing was changed.\n"
            "  Name one or the other."
        )
    if jobs and len(spaces) > 1:
        raise UsageError(
            f"jobs are named, and {len(spaces)} namespaces to look for them. Nothing was changed.\n"
            "  Write NAMESPACE/NAME for each job, or give -n once."
        )
    if everything:
        return [Scope()]
    if jobs:
        space = spaces[0] if spaces else os.environ.get("K8SJOB_NAMESPACE")
        names = [f"{space}/{job}" if space and "/" not in job else job for job in jobs]
        return [Scope.of_job(_whole(JobName.parse(name))) for name in names]
    if spaces:
        return [Scope(space) for space in spaces]
    raise UsageError(
        "no job is named to prune. Nothing was changed.\n"
        "  Write NAMESPACE/NAME, -n NAMESPACE or -A."
    )


def _whole(job: JobName) -> JobName:
    if job.part is not None:
        raise UsageError(
            f"{job} is a part, and parts are pruned with their job. Nothing was changed.\n"
            f"  Write {job.job}."
        )
    return job


def _order(scopes: list[Scope], flags: dict[str, Any]) -> PruneOrder:
    before, older_than = flags["before"], flags["older_than"]
    if before and older_than:
        raise UsageError("--before and --older-than say two things. Nothing was changed.")
    if before and any(scope.job is None for scope in scopes):
        raise UsageError(
            "--before is of one kind of period, so it needs its jobs named. Nothing was changed.\n"
            "  Write NAMESPACE/NAME, or --older-than for all of them."
        )
    return PruneOrder(
        scopes=scopes,
        older_than=_age(older_than) if older_than else None,
        before=Period.parse(before) if before else None,
        attempts_older_than=_age(flags["attempts_older_than"]),
        batch=flags["batch"],
    )


def _age(text: str) -> timedelta:
    return timedelta(seconds=parse_duration(text))


def _told(gone: Any, flags: dict[str, Any]) -> Any:
    """Tell each job when it is through: the next may take long."""
    for pruned in gone:
        if flags["output"] == "table" and (pruned.periods or pruned.attempts or pruned.error):
            click.echo(line(pruned))
        if pruned.error:
            click.echo(f"k8sjob: {pruned.error}", err=True)
        yield pruned


def _json(pruned: Pruned) -> dict[str, Any]:
    plan = pruned.plan
    return {
        "job": str(plan.job),
        "periods": pruned.periods,
        "upto": plan.upto,
        "why": plan.why,
        "attempts": pruned.attempts,
        "attempts_before": f"{plan.attempts_before:%Y-%m-%dT%H:%M:%SZ}",
        "attempts_without_end": pruned.endless,
        "error": pruned.error,
    }
