"""``k8sjob describe``."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from k8sjob.cli import looking
from k8sjob.cli.people import LEDGER, NAMESPACE
from k8sjob.key import Key
from k8sjob.view.asked import known_names, read_name, unknown
from k8sjob.view.described import of_job, of_period
from k8sjob.view.portrait import portrait
from k8sjob.view.story import not_there, story

if TYPE_CHECKING:
    from collections.abc import Iterator

    from k8sjob.key import JobName
    from k8sjob.ledger.read import Reader, Snapshot

#: The last attempts of a job that are shown.
_ATTEMPTS = 10


@click.command("describe", short_help="Tell the whole story of a period or a job.")
@click.argument("name", metavar="NS/NAME[:PERIOD]")
@NAMESPACE
@click.option(
    "-o", "--output", type=click.Choice(["text", "json"]), default="text", help="Default text."
)
@LEDGER
def command(*, name: str, namespace: str | None, output: str, ledger: str | None) -> None:
    """Tell the whole story of a period, or of a job. Nothing is changed.

    Of a period: its state, each attempt with the end of its output, each Job that was made for it,
    each decision with who and why, what holds it, what in its rows cannot be right, and what to do
    now. Of a job: the versions of its schedule, what the reconciler does for it and when it was
    last there, what is unfinished, its last attempts.

    \b
      k8sjob describe billing/daily-credit:2026-09-13T00:00:00Z
      k8sjob describe billing/daily-credit
    """
    named = read_name(name, namespace or looking.namespace())
    with looking.reader_of(ledger) as reader:
        seen = _period(reader, named) if isinstance(named, Key) else _job(reader, named)
    if output == "json":
        told = of_period(seen, named) if isinstance(named, Key) else of_job(seen, named)
        click.echo(json.dumps(told, indent=2, ensure_ascii=False))
        return
    for line in _lines(seen, named):
        click.echo(line)


def _lines(seen: Snapshot, named: Key | JobName) -> Iterator[str]:
    if isinstance(named, Key):
        return story(seen, named, colour=looking.colour())
    return portrait(seen, named)


def _period(reader: Reader, key: Key) -> Snapshot:
    now = looking.now(reader)
    seen = replace(reader.story(key, now), now=now)
    if key not in seen.rows and not seen.attempts:
        raise not_there(seen, key)
    if key not in seen.rows:  # all that was tried came to nothing: too early, expired, pruned
        seen = replace(seen, rows={key: None})
    return seen


def _job(reader: Reader, name: JobName) -> Snapshot:
    now = looking.now(reader)
    seen = replace(reader.portrait(name, _ATTEMPTS, now), now=now)
    if name.job not in seen.jobs or str(name) not in known_names(seen):
        raise unknown("job", str(name), sorted(known_names(seen)), "k8sjob get jobs -A")
    return seen
