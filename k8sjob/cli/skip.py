"""``k8sjob skip``."""

from __future__ import annotations

from typing import Any

import click

from k8sjob.cli.people import NAMESPACE, common, decide
from k8sjob.people.order import Verb


@click.command("skip", short_help="Say that a period need not be done.")
@click.argument("targets", nargs=-1, required=True)
@NAMESPACE
@common()
def command(targets: tuple[str, ...], **flags: Any) -> int:
    """Say that a period need not be done, and why.

    TARGETS are NS/NAME:PERIOD, NS/NAME/PART:PERIOD or ranges NS/NAME:FIRST..LAST. A period without
    a row or an open one is moved to skipped; a time to come too, with --yes. All or nothing.

    \b
      k8sjob skip billing/daily-credit:2026-12-25 --reason "bank holiday" --yes
      k8sjob skip billing/daily-credit:2026-09-01..2026-09-13 --reason "before the launch" --yes

    A range of days, weeks or months is counted by the calendar; a range of scheduled periods means
    those that the ledger has a row of.
    """
    return decide(Verb.SKIP, targets, flags)
