"""``k8sjob confirm``."""

from __future__ import annotations

from typing import Any

import click

from k8sjob.cli.people import NAMESPACE, common, decide
from k8sjob.people.order import Verb


@click.command("confirm", short_help="Say that the effect of a period was seen.")
@click.argument("targets", nargs=-1, required=True)
@NAMESPACE
@click.option(
    "--attempt",
    metavar="ID",
    help="Only if the row is of this attempt; the first characters do.",
)
@common("The evidence, in one line. Needed.")
def command(targets: tuple[str, ...], **flags: Any) -> int:
    """Say that the effect of a period was seen: awaiting or blocked becomes done.

    TARGETS are NS/NAME:PERIOD, NS/NAME/PART:PERIOD or ranges NS/NAME:FIRST..LAST, which mean the
    periods that the ledger has a row of. All or nothing.

    \b
      k8sjob confirm billing/daily-credit:2026-09-13 --reason "statement 4711 shows it"
    """
    return decide(Verb.CONFIRM, targets, flags)
