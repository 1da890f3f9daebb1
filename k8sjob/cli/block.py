"""``k8sjob block``."""

from __future__ import annotations

from typing import Any

import click

from k8sjob.cli.people import EVERYTHING, UNTIL, WIDE_NAMESPACE, common, decide
from k8sjob.people.order import Verb


@click.command("block", short_help="Say that a period, a job or more cannot be done for now.")
@click.argument("targets", nargs=-1)
@EVERYTHING
@WIDE_NAMESPACE
@UNTIL
@common()
def command(targets: tuple[str, ...], **flags: Any) -> int:
    """Say that a period, a job or more cannot be done for now, and why.

    TARGETS are NS/NAME:PERIOD, NS/NAME/PART:PERIOD, ranges NS/NAME:FIRST..LAST, or jobs NS/NAME.
    -n NS alone is the whole namespace, -A everything. A period is moved to blocked. A job, a
    namespace or all get a hold: attempts that begin from now on come to blocked. What is under way
    is listed and not stopped.

    \b
      k8sjob block billing/daily-credit:2026-09-13 --reason "the bank has no data yet" --until 2h
      k8sjob block billing/daily-credit --reason "bank holiday, no feed" --until 1d
      k8sjob block -n billing --reason "database upgrade" --yes
      k8sjob block -A --reason "cluster upgrade" --until 4h --yes

    A range of days, weeks or months is counted by the calendar; a range of scheduled periods means
    those that the ledger has a row of. All is changed or nothing. --yes is needed beyond one
    period, beyond a job, for a time to come and for a job that the ledger does not know.
    """
    return decide(Verb.BLOCK, targets, flags)
