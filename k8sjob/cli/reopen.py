"""``k8sjob reopen``."""

from __future__ import annotations

from typing import Any

import click

from k8sjob.cli.people import NAMESPACE, common, decide
from k8sjob.people.order import Verb


@click.command("reopen", short_help="Let a period be done again.")
@click.argument("targets", nargs=-1, required=True)
@NAMESPACE
@common()
def command(targets: tuple[str, ...], **flags: Any) -> int:
    """Let a period be done again: done, skipped, blocked or awaiting becomes open.

    TARGETS are NS/NAME:PERIOD, NS/NAME/PART:PERIOD or ranges NS/NAME:FIRST..LAST, which mean the
    periods that the ledger has a row of. The next attempt applies the work once more: undo first
    what must not be there twice. The row as it was stays in the event. All or nothing.

    \b
      k8sjob reopen billing/daily-credit:2026-09-13 --reason "credited to the wrong account, undone"
    """
    return decide(Verb.REOPEN, targets, flags)
