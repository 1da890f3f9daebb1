"""``k8sjob migrate``."""

from __future__ import annotations

import click

from k8sjob.duration import parse_duration
from k8sjob.errors import K8sjobError, Unavailable, UsageError
from k8sjob.ledger import migrate as steps
from k8sjob.ledger import settings
from k8sjob.ledger.settings import Kind


@click.command("migrate", short_help="Bring the ledger to this version's schema.")
@click.option("--dry-run", is_flag=True, help="Say what would be applied, and change nothing.")
@click.option("--sql", is_flag=True, help="Print the SQL of all steps, and connect to nothing.")
@click.option(
    "--wait",
    metavar="D",
    help="Keep trying for so long while the database is away, or running jobs hold a table that is "
    "to be changed, e.g. 5m.",
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
    "--revoke",
    metavar="ROLE",
    multiple=True,
    help="Take all rights on the ledger from ROLE, before anything is granted. REVOKE by hand does "
    "not last: the next migration would grant again.",
)
@click.option(
    "--ledger", metavar="NAME", help="A ledger of K8SJOB_LEDGERS_DIR instead of the default one."
)
def command(
    *,
    dry_run: bool,
    sql: bool,
    wait: str | None,
    ledger: str | None,
    revoke: tuple[str, ...],
    **grants: tuple[str, ...],
) -> int:
    """Bring the ledger to this version's schema, as the role that shall own it.

    Safe to run again, and from many places at once. Clients of older versions go on working, unless
    a step says that it ends with them.

    \b
      K8SJOB_DSN=postgresql://owner@db/shop k8sjob migrate --grant-runner shop_app
    """
    wanted = [(name.removeprefix("grant_"), role) for name in grants for role in grants[name]]
    if sql:
        return _print_sql(wanted, revoke)
    address = settings.find(ledger=ledger)
    if address.kind is Kind.SQLITE:
        if wanted or revoke:
            raise UsageError(
                "a SQLite file has no roles: who may open it, may do all. Nothing was done.\n"
                "  Leave --grant-… and --revoke out, and see to the file's mode."
            )
        return _sqlite(address.sqlite_file, dry_run=dry_run)
    if dry_run:
        return _say_what_would_be_done(address.dsn, wanted, revoke)
    _migrate(address.dsn, parse_duration(wait) if wait else 0.0)
    for role in revoke:
        steps.revoke(address.dsn, role)
        click.echo(f"took all rights from {role}")
    for capability, role in wanted:
        steps.grant(address.dsn, capability, role)
        click.echo(f"granted {capability} to {role}")
    return 0


def _print_sql(wanted: list[tuple[str, str]], revoke: tuple[str, ...]) -> int:
    for step in steps.migrations():
        click.echo(step.script)
    for role in revoke:
        click.echo(steps.revoke_script(role))
    for capability, role in wanted:
        click.echo(steps.grant_script(capability, role))
    return 0


def _say_what_would_be_done(
    dsn: str, wanted: list[tuple[str, str]], revoke: tuple[str, ...]
) -> int:
    for step in steps.pending(dsn):
        click.echo(f"would apply {step}")
    for role in revoke:
        click.echo(f"would take all rights from {role}")
    for capability, role in wanted:
        click.echo(f"would grant {capability} to {role}")
    click.echo("dry run: nothing was changed", err=True)
    return 0


def _migrate(dsn: str, wait_s: float) -> None:
    told: list[K8sjobError] = []

    def away(error: K8sjobError) -> None:
        if not told:
            click.echo(f"waiting up to {wait_s:g} s: {str(error).splitlines()[0]}", err=True)
        told.append(error)

    def done(step: steps.Migration) -> None:
        click.echo(f"applied {step}")

    try:
        applied = steps.migrate_when_there(dsn, wait_s, done=done, away=away)
    except Unavailable as error:
        if wait_s:
            raise
        raise Unavailable(f"{error}\n  To keep trying: k8sjob migrate --wait 5m") from error
    if not applied:
        newer = steps.newer_version(dsn)
        more = f": its version {newer} is newer than this client, which it still lets in"
        click.echo("the ledger is up to date" + (more if newer else ""), err=True)


def _sqlite(file: str, *, dry_run: bool) -> int:
    if dry_run:
        click.echo(
            "a SQLite ledger is made at its first use; dry run: nothing was changed", err=True
        )
        return 0
    from k8sjob.ledger.sqlite.file import migrate  # noqa: PLC0415  # for SQLite only

    made = migrate(file)
    click.echo("applied 0001 ledger" if made else "the ledger is up to date", err=not made)
    return 0
