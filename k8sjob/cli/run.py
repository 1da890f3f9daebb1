"""``k8sjob run``."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

import click

from k8sjob import log
from k8sjob.duration import parse_duration
from k8sjob.errors import K8sjobError
from k8sjob.ledger import settings
from k8sjob.run.entry import find_period, run, tell_failure_to_start, with_secrets_hidden
from k8sjob.run.origin.sources import passed
from k8sjob.run.report import tell_period
from k8sjob.run.request import Flags, make_request
from k8sjob.run.target import Target

if TYPE_CHECKING:
    from k8sjob.run.command import Command
    from k8sjob.run.origin.sources import Asked, Resolved


class RunCommand(click.Command):
    """Takes what follows ``--`` for a command, word by word as it was typed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Set the command aside before click reads the options."""
        if "--" in args:
            at = args.index("--")
            ctx.meta["k8sjob.argv"] = tuple(args[at + 1 :])
            args = args[:at]
        return super().parse_args(ctx, args)


@click.command(
    "run",
    cls=RunCommand,
    short_help="Run a function, an SQL file or a command for a period.",
    options_metavar="[OPTIONS] TARGET | [OPTIONS] -- COMMAND …",
)
@click.argument("target", required=False, metavar="")
@click.option("--job", metavar="NS/NAME", help="The job. Else K8SJOB_JOB.")
@click.option(
    "--period",
    metavar="P",
    help="The period, e.g. 2026-09-13T00:00:00Z or 2026-09-13. Else K8SJOB_PERIOD; in a Pod the "
    "Job tells it.",
)
@click.option(
    "--off-schedule",
    is_flag=True,
    help="With --period and --reason: though it is not on the job's schedule.",
)
@click.option("--reason", metavar="TEXT", help="Why --off-schedule.")
@click.option("-n", "--namespace", metavar="NS", help="The namespace of a job named without one.")
@click.option(
    "--payload", metavar="TEXT|@FILE", help="What must be the same at each try of the period."
)
@click.option(
    "--time-zone",
    metavar="ZONE",
    help="The job's zone, for natural periods. Else K8SJOB_TIME_ZONE.",
)
@click.option(
    "--lock-timeout", metavar="D", help="How long to wait for another attempt. Default 30s."
)
@click.option(
    "--fail-on",
    metavar="OUTCOMES",
    help="Outcomes that end with 83 instead of 0, e.g. blocked,awaiting.",
)
@click.option(
    "--record-on-success",
    is_flag=True,
    help="With a command that cannot claim: record the period when it ends with 0.",
)
@click.option(
    "--stop-grace",
    metavar="D",
    help="From a stop signal to the command's KILL. Else K8SJOB_STOP_GRACE; default 25s.",
)
@click.option(
    "--ledger", metavar="NAME", help="A ledger of K8SJOB_LEDGERS_DIR instead of the default one."
)
def command(  # what the others have in common is in flags
    target: str | None,
    ledger: str | None,
    *,
    record_on_success: bool,
    stop_grace: str | None,
    off_schedule: bool,
    **flags: str | None,
) -> int:
    """Run a target once for a period: its work commits together with the claim, or not at all.

    TARGET is module:function (called with one argument, the run; def or async def) or a file that
    ends in .sql. COMMAND is a program in any language: it claims in its own transaction, with the
    K8SJOB_KEY and K8SJOB_ATTEMPT that it is given, and exit 0 without the row is an error.
    The ledger is the database in K8SJOB_DSN (postgresql://… or sqlite:///file).

    \b
      k8sjob run app.credit:credit --job billing/daily-credit --period 2026-09-13T00:00:00Z
      k8sjob run credit.sql --job billing/daily-credit --period 2026-09-13
      k8sjob run --job billing/daily-credit --period 2026-09-13 -- ./credit.sh --fast

    Ends with 0 if the period is done, whoever did it; with 1 or 69, 75 where another try may help;
    with another code where it cannot (see the table in the README).
    """
    as_json = log.wants_json()
    argv = click.get_current_context().meta.get("k8sjob.argv")
    log.set_up(str, as_json=as_json)  # until the secrets are known
    try:
        what = read_target(target, argv, record_on_success=record_on_success)
        child = read_command(what.argv, record_on_success=record_on_success, grace=stop_grace)
        request = make_request(
            what,
            Flags(off_schedule=off_schedule, **flags),
            resolve=partial(_resolve, ledger, as_json=as_json),
        )
        address = settings.find(ledger=ledger)
        request = with_secrets_hidden(request, address, os.environ)
        log.set_up(request.redact, as_json=as_json)
        return run(request, address, as_json=as_json, command=child)
    except K8sjobError as error:
        tell_failure_to_start(error, as_json=as_json)
        if as_json:
            return int(error.exit_code)
        raise


def _resolve(ledger: str | None, asked: Asked, *, as_json: bool) -> Resolved:
    """Return the period as it was passed; where it was not, ask whoever may know it."""
    if asked.stands_alone or asked.is_bare:
        return passed(asked)
    found = find_period(asked, settings.find(ledger=ledger), os.environ)
    tell_period(found, as_json=as_json)
    return found


def read_target(
    text: str | None, argv: tuple[str, ...] | None, *, record_on_success: bool
) -> Target:
    """Return the one thing that is named to run. Raises click's UsageError, UsageError."""
    if (text is None) == (argv is None) or argv == ():
        raise click.UsageError(
            "Name one thing to run: module:function, a file.sql, or a command after --."
        )
    if argv:
        return Target(argv[0], argv=argv)
    if record_on_success:
        raise click.UsageError("--record-on-success goes with a command: a target's work commits.")
    return Target.parse(text or "")


def read_command(
    argv: tuple[str, ...], *, record_on_success: bool, grace: str | None
) -> Command | None:
    """Return the command with its terms; None where the target is none. Raises UsageError."""
    if not argv:
        return None
    from k8sjob.run.command import Command  # noqa: PLC0415  # not for targets in this process

    seconds = parse_duration(grace or os.environ.get("K8SJOB_STOP_GRACE") or "25s")
    return Command(argv=argv, stop_grace_s=seconds, record_on_success=record_on_success)
