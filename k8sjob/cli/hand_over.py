"""``k8sjob await``."""

from __future__ import annotations

from typing import Any

import click

from k8sjob.cli.people import NAMESPACE, common, decide
from k8sjob.people.order import Verb


@click.command("await", short_help="Say that the effect of a period shows later.")
@click.argument("targets", nargs=-1, required=True)
@NAMESPACE
@click.option(
    "--indicator", metavar="TEXT", help="What will show the effect: of one period at a time."
)
@click.option(
    "--deadline", metavar="T", help="By when it should be seen: 2h, or 2026-09-14T19:00:00Z."
)
@common()
def command(targets: tuple[str, ...], **flags: Any) -> int:
    """Say that a period was handed over by hand and that its effect shows later.

    TARGETS are NS/NAME:PERIOD, NS/NAME/PART:PERIOD or ranges NS/NAME:FIRST..LAST. A period without
    a row or an open one is moved to awaiting: nobody does it meanwhile. All or nothing.

    \b
      k8sjob await billing/daily-credit:2026-09-13 --reason "sent by courier" --deadline 2d

    Once the effect is seen: k8sjob confirm.
    """
    return decide(Verb.AWAIT, targets, flags)
