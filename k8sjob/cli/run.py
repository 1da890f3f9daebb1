"""``k8sjob run``."""

from __future__ import annotations

import os

import click

from k8sjob import log
from k8sjob.errors import K8sjobError
from k8sjob.ledger import settings
from k8sjob.run.entry import run, tell_failure_to_start, with_secrets_hidden
from k8sjob.run.request import Flags, make_request


@click.command("run", short_help="Run a function or an SQL file once for a period.")
@click.argument("target")
@click.option("--job", metavar="NS/NAME", help="The job. Else K8SJOB_JOB.")
@click.option(
    "--period",
    metavar="P",
    help="The period, e.g. 2026-09-13T00:00:00Z or 2026-09-13. Else K8SJOB_PERIOD.",
)
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
    "--ledger", metavar="NAME", help="A ledger of K8SJOB_LEDGERS_DIR instead of the default one."
)
def command(target: str, ledger: str | None, **flags: str | None) -> int:
    """Run TARGET once for a period: its work commits together with the claim, or not at all.

    TARGET is module:function (called with one argument, the run; def or async def) or a file that
    ends in .sql. The ledger is the database in K8SJOB_DSN (postgresql://… or sqlite:///file).

    \b
      k8sjob run app.credit:credit --job billing/daily-credit --period 2026-09-13T00:00:00Z
      k8sjob run credit.sql --job billing/daily-credit --period 2026-09-13

    Ends with 0 if the period is done, whoever did it; with 1 or 69, 75 where another try may help;
    with another code where it cannot (see the table in the README).
    """
    as_json = log.wants_json()
    log.set_up(str, as_json=as_json)  # until the secrets are known
    try:
        request = make_request(target, Flags(**flags))
        address = settings.find(ledger=ledger)
        request = with_secrets_hidden(request, address, os.environ)
        log.set_up(request.redact, as_json=as_json)
        return run(request, address, as_json=as_json)
    except K8sjobError as error:
        tell_failure_to_start(error, as_json=as_json)
        if as_json:
            return int(error.exit_code)
        raise
