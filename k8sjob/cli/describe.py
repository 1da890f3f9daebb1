"""``k8sjob describe``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from k8sjob.cli import looking
from k8sjob.cli.people import LEDGER, NAMESPACE
from k8sjob.key import Key
from k8sjob.view.asked import known_names, read_name, unknown
from k8sjob.view.portrait import portrait
from k8sjob.view.story import not_there, story

if TYPE_CHECKING:
    from collections.abc import Iterator

    from k8sjob.key import JobName
    from k8sjob.ledger.read import Reader

#: The last attempts of a job that are shown.
_ATTEMPTS = 10


@click.command("describe", short_help="Tell the whole story of a period or a job.")
@click.argument("name", metavar="NS/NAME[:PERIOD]")
@NAMESPACE
@LEDGER
def command(*, name: str, namespace: str | None, ledger: str | None) -> None:
    """Tell the whole story of a period, or of a job. Nothing is changed.

    Of a period: its state, each attempt with the end of its output, each decision with who and
    why, what holds it, what in its rows cannot be right, and what to do now.

    \b
      k8sjob describe billing/daily-credit:2026-09-13T00:00:00Z
      k8sjob describe billing/daily-credit
    """
    named = read_name(name, namespace or looking.namespace())
    with looking.reader_of(ledger) as reader:
        told = _story(reader, named) if isinstance(named, Key) else _portrait(reader, named)
    for line in told:
        click.echo(line)


def _story(reader: Reader, key: Key) -> Iterator[str]:
    now = looking.now(reader)
    seen = replace(reader.story(key), now=now)
    if key not in seen.rows and not seen.attempts:
        raise not_there(seen, key)
    if key not in seen.rows:  # all that was tried came to nothing: too early, expired, pruned
        seen = replace(seen, rows={key: None})
    return story(seen, key, colour=looking.colour())


def _portrait(reader: Reader, name: JobName) -> Iterator[str]:
    now = looking.now(reader)
    seen = replace(reader.portrait(name, _ATTEMPTS), now=now)
    if name.job not in seen.jobs or str(name) not in known_names(seen):
        raise unknown("job", str(name), sorted(known_names(seen)), "k8sjob get jobs -A")
    return portrait(seen, name)
