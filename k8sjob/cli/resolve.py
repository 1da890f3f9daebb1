"""``k8sjob resolve``."""

from __future__ import annotations

import json
import logging
import os
from functools import partial
from typing import TYPE_CHECKING

import click

from k8sjob import log
from k8sjob.duration import parse_duration
from k8sjob.errors import K8sjobError
from k8sjob.ledger import settings
from k8sjob.run.entry import redactor, tell_failure_to_start
from k8sjob.run.origin.context_file import as_dict, write_context
from k8sjob.run.origin.init import resolve_once
from k8sjob.run.request import Flags

if TYPE_CHECKING:
    from k8sjob.ledger.settings import Address
    from k8sjob.run.origin.context_file import Context
    from k8sjob.run.result import Result

logger = logging.getLogger("k8sjob")


@click.command("resolve", short_help="Find a Job's period and leave it for other containers.")
@click.option(
    "--write", metavar="DIR", help="Leave context.json and env in this folder, an emptyDir."
)
@click.option("--job", metavar="NS/NAME", help="The job. Else K8SJOB_JOB; the Job tells it too.")
@click.option("--period", metavar="P", help="The period. Else K8SJOB_PERIOD.")
@click.option(
    "--off-schedule",
    is_flag=True,
    help="With --period and --reason: though it is not on the job's schedule.",
)
@click.option("--reason", metavar="TEXT", help="Why --off-schedule.")
@click.option("-n", "--namespace", metavar="NS", help="The namespace of a job named without one.")
@click.option(
    "--time-zone",
    metavar="ZONE",
    help="The job's zone, for natural periods. Else K8SJOB_TIME_ZONE, or what the ledger knows.",
)
@click.option(
    "--ledger-wait",
    metavar="D",
    default="10s",
    show_default=True,
    help="How long to wait for a ledger that is not there yet.",
)
@click.option(
    "--ledger", metavar="NAME", help="A ledger of K8SJOB_LEDGERS_DIR instead of the default one."
)
@click.option(
    "-o", "--output", type=click.Choice(["key", "json"]), default="key", help="Default key."
)
def command(
    write: str | None,
    *,
    ledger_wait: str,
    ledger: str | None,
    output: str,
    off_schedule: bool,
    **flags: str | None,
) -> int:
    """Find out which period this Job is for, and print its key.

    For an init container: with --write the main container, of any image and under any user, gets
    the period from a folder that they share. It then needs no token of the Kubernetes API.

    \b
      k8sjob resolve --write /k8sjob
      . /k8sjob/env && psql -c "SELECT k8sjob.claim('$K8SJOB_JOB', '$K8SJOB_PERIOD',
                                attempt => '$K8SJOB_ATTEMPT')" …

    A retry of a Job gets the period that its first Pod got; that takes a ledger. Without one the
    flags, the Job and its name tell the period, and what is not looked up is said on standard
    error. Ends as run does: with 66 where nothing tells the period, with 75 or 77 where the
    Kubernetes API should have, with 69 where only the ledger could.
    """
    as_json = log.wants_json()
    log.set_up(str, as_json=as_json)  # until the secrets are known
    try:
        wait_s = parse_duration(ledger_wait)
        context, late = resolve_once(
            Flags(off_schedule=off_schedule, **flags),
            os.environ,
            find=partial(_address, ledger, as_json=as_json)
            if settings.is_set(ledger=ledger)
            else None,
            wait_s=wait_s,
        )
        return _tell(context, late, write, output)
    except K8sjobError as error:
        tell_failure_to_start(error, as_json=as_json)
        if as_json:
            return int(error.exit_code)
        raise


def _address(ledger: str | None, *, as_json: bool) -> Address:
    address = settings.find(ledger=ledger)
    log.set_up(redactor(address, os.environ), as_json=as_json)
    return address


def _tell(context: Context, late: Result | None, folder: str | None, output: str) -> int:
    code = late.exit_code if late else 0
    if late:
        logger.warning("%s", late.message, extra={"event": "resolved_too_late"})
    if folder and not code:
        write_context(folder, context)
    click.echo(json.dumps(as_dict(context), indent=2) if output == "json" else str(context.key))
    return code
