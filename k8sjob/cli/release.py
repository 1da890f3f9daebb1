"""``k8sjob release``."""

from __future__ import annotations

from typing import Any

import click

from k8sjob.cli.people import EVERYTHING, WIDE_NAMESPACE, common, decide
from k8sjob.people.order import Verb


@click.command("release", short_help="Take a block or a hold away.")
@click.argument("targets", nargs=-1)
@EVERYTHING
@WIDE_NAMESPACE
@common()
def command(targets: tuple[str, ...], **flags: Any) -> int:
    """Take a block away: blocked becomes open, or the hold of a job and more ends.

    TARGETS are NS/NAME:PERIOD, NS/NAME/PART:PERIOD, ranges NS/NAME:FIRST..LAST (the periods that
    the ledger has a row of), or jobs NS/NAME. -n NS alone is the hold of the namespace, -A the one
    of everything: each lifts the holds of exactly that, and says what is blocked still. All or
    nothing.

    \b
      k8sjob release billing/daily-credit:2026-09-13 --reason "the data has come"
      k8sjob release billing/daily-credit --reason "the feed is back"
      k8sjob release -n billing --reason "the upgrade is over" --yes
    """
    return decide(Verb.RELEASE, targets, flags)
