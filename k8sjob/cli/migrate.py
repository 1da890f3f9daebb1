"""``k8sjob migrate``."""

from __future__ import annotations

import click

from k8sjob.duration import parse_duration
from k8sjob.ledger import migrate as steps
from k8sjob.ledger import settings
from k8sjob.ledger.settings import Kind


@click.command("migrate", short_help="Bring the ledger to this version's schema.")
@click.option("--dry-run", is_flag=True, help="Say what would be applied, and change nothing.")
@click.option("--sql", is_flag=True, help="Print the SQL of all steps, and connect to nothing.")
@click.option(
    "--wait", metavar="D", help="Keep trying for so long while the database is away, e.g. 5m."
)
@click.option(
    "--grant-operator",
    metavar="ROLE",
    multiple=True,
    help="Let ROLE change states, reconcile and prune.",
)
@click.option(
    "--grant-runner", metavar="ROLE", multiple=True, help="Let ROLE claim and write attempts."
)
@click.option("--grant-reader", metavar="ROLE", multiple=True, help="Let ROLE read.")
@click.option(
    "--ledger", metavar="NAME", help="A ledger of K8SJOB_LEDGERS_DIR instead of the default one."
)
def command(
    *, dry_run: bool, sql: bool, wait: str | None, ledger: str | None, **grants: tuple[str, ...]
) -> int:
    r"""Bring the ledger to this version's schema, as the role that shall own it.

    Safe to run again, and from many places at once. Clients of older versions go on working, unless
    a step says that it ends with them.

    \b
      K8SJOB_DSN=postgresql://owner@db/shop k8sjob migrate --grant-runner shop_app
    """
    if sql:
        for step in steps.migrations():
            click.echo(step.script)
        return 0
    address = settings.find(ledger=ledger)
    if address.kind is Kind.SQLITE:
        return _sqlite(address.sqlite_file, dry_run=dry_run)
    if dry_run:
        for step in steps.pending(address.dsn):
            click.echo(f"would apply {step}")
        click.echo("dry run: nothing was changed", err=True)
        return 0
    seconds = parse_duration(wait) if wait else 0.0
    applied = steps.migrate_when_there(
        address.dsn, seconds, done=lambda step: click.echo(f"applied {step}")
    )
    if not applied:
        click.echo("the ledger is up to date", err=True)
    for name, roles in grants.items():
        capability = name.removeprefix("grant_")
        for role in roles:
            steps.grant(address.dsn, capability, role)
            click.echo(f"granted {capability} to {role}")
    return 0


def _sqlite(file: str, *, dry_run: bool) -> int:
    if dry_run:
        click.echo(
            "a SQLite ledger is made at its first use; dry run: nothing was changed", err=True
        )
        return 0
    from k8sjob.ledger.sqlite.store import migrate  # noqa: PLC0415  # for SQLite only

    click.echo("applied 0001 ledger" if migrate(file) else "the ledger is up to date")
    return 0
