"""``k8sjob backfill`` while it creates Jobs and waits: a bar on a terminal, else a line each."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from k8sjob.backfill import words
from k8sjob.backfill.apply import Carrying, Terms
from k8sjob.backfill.launch import Launcher
from k8sjob.backfill.plan import Action
from k8sjob.duration import parse_duration
from k8sjob.errors import ExitCode, K8sjobError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from k8sjob.backfill.apply import Step
    from k8sjob.backfill.asked import Asked
    from k8sjob.backfill.gather import Place, Survey


def carry_out(place: Place, asked: Asked, found: Survey, flags: dict[str, Any], by: str) -> int:
    """Create the Jobs of a plan, tell how it goes, and return the exit code.

    Raises what ledger and cluster raise; click.Abort where somebody has stopped it.
    """
    assert place.cluster is not None  # noqa: S101  # Jobs are made in one
    terms = Terms(
        by=by,
        parallelism=flags["parallelism"],
        wait=flags["wait"],
        timeout_s=parse_duration(flags["timeout"]) if flags["timeout"] else None,
    )
    carrying = Carrying(place, Launcher(place.cluster, place.launches), asked, found, terms)
    try:
        steps = list(_told(carrying, flags["output"]))
    except KeyboardInterrupt:
        _tell_how_to_go_on(carrying, flags)
        raise click.Abort from None
    except K8sjobError:
        _tell_how_to_go_on(carrying, flags)
        raise
    if carrying.launcher.denied:
        click.echo(f"warning: {words.UNNOTED}\n  {carrying.launcher.denied}", err=True)
    click.echo(words.result(found.plan, steps, waited=terms.wait), err=True)
    bad = any(step.bad for step in steps) or found.plan.of(Action.REFUSE)
    return int(ExitCode.FAILED) if bad else 0


def _told(carrying: Carrying, output: str) -> Iterator[Step]:
    """Do it, and tell it meanwhile."""
    plan, wait = carrying.survey.plan, carrying.terms.wait
    length = plan.counts[Action.CREATE] + (plan.counts[Action.WAIT] if wait else 0)
    if not length or not sys.stderr.isatty():
        for step in carrying.steps():
            _tell(step, output)
            yield step
        return
    over = ("ended", "timeout", "changed") if wait else ("created", "exists", "changed")
    kept: list[Step] = []  # a line would tear the bar
    failures = 0
    with click.progressbar(length=length, label="backfill", file=sys.stderr) as bar:
        for step in carrying.steps():
            kept.append(step)
            if step.what == "failing":
                failures += 1
                bar.label = f"backfill, {failures} failed {'try' if failures == 1 else 'tries'}"
                bar.render_progress()
            bar.update(step.what in over)
            yield step
    for step in kept:
        if step.bad or step.what == "changed" or output == "name":
            _tell(step, output)


def _tell(step: Step, output: str) -> None:
    if output == "name" and step.what in ("created", "exists"):
        click.echo(f"job.batch/{step.line.job}")
    else:
        click.echo(f"{step.line.label}  {step.text}", err=True)


def _tell_how_to_go_on(carrying: Carrying, flags: dict[str, Any]) -> None:
    planned = len(carrying.survey.plan.of(Action.CREATE))
    more = ["--wait"] if flags["wait"] else []
    if flags["parallelism"] > 1:
        more.append(f"--parallelism {flags['parallelism']}")
    click.echo(words.stopped(carrying.created, planned), err=True)
    click.echo(words.go_on(carrying.asked, more), err=True)
