"""``k8sjob get``."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from k8sjob.cli import looking
from k8sjob.cli.people import LEDGER
from k8sjob.errors import ExitCode, UsageError
from k8sjob.view import attempts, jobs, periods
from k8sjob.view.asked import Asked, check_known, read_asked
from k8sjob.view.gaps import notes
from k8sjob.view.selecting import read_selector, selected
from k8sjob.view.state import UNFINISHED
from k8sjob.view.table import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from k8sjob.ledger.read import Reader, Snapshot, Where
    from k8sjob.states import State
    from k8sjob.view.selecting import Term


#: A name that no namespace can have: nothing is found under it, and nothing is missed.
_NOBODY = ""


class Listed(NamedTuple):
    """What is to be shown, in each of the forms."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: Sequence[str]
    json: Sequence[dict[str, Any]]
    cut: bool
    unfinished: bool
    notes: Sequence[str] = ()


@click.command("get", short_help="List jobs, periods or attempts.")
@click.argument("what", type=click.Choice(["jobs", "periods", "attempts"]))
@click.argument("words", metavar="[NAME]...", nargs=-1)
@click.option("-A", "--all-namespaces", "everything", is_flag=True, help="All namespaces.")
@click.option(
    "-n", "--namespace", metavar="NS", help="This namespace; it goes before names without one."
)
@click.option(
    "-l",
    "--selector",
    metavar="K=V,…",
    help="Jobs by what their CronJobs say: owner, severity, cycle, catch-up, cronjob; also K!=V.",
)
@click.option("--state", "states", metavar="S,…", help="Only these, e.g. missing,blocked.")
@click.option("--since", metavar="D|T", help="Periods of, or attempts since, 3d ago or an instant.")
@click.option("--from", "start", metavar="P|T", help="The first period, or an instant.")
@click.option("--to", "end", metavar="P|T", help="The last period, itself included.")
@click.option(
    "--limit", type=click.IntRange(1, 100_000), default=200, metavar="N", help="Default 200."
)
@click.option("--exit-code", is_flag=True, help="End with 1 if an unfinished period is listed.")
@click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "wide", "json", "name"]),
    default="table",
    help="Default table.",
)
@LEDGER
def command(
    *, output: str, exit_code: bool, ledger: str | None, selector: str | None, **flags: Any
) -> int:
    """List jobs, periods or attempts. Nothing is changed.

    NAME is NS/NAME, NS/NAME/PART, NS/NAME:PERIOD or NS/NAME:FIRST..LAST; for attempts also how an
    attempt's id begins. Without a name: K8SJOB_NAMESPACE, else all.

    \b
      k8sjob get jobs -A
      k8sjob get periods billing/daily-credit --since 3d
      k8sjob get periods -A -l owner=payments --state missing,blocked --exit-code
      k8sjob get attempts billing/daily-credit:2026-09-13 -o wide

    A period that was tried and that nobody has done is listed too. So is one of a tracked job that
    no row tells of yet: what the schedule names since the reconciler was there is worked out.
    Slots of a suspended CronJob are listed within --since, --from and --to.
    """
    asked = Asked(space=looking.namespace(), **flags)
    terms = read_selector(selector) if selector is not None else []
    with looking.reader_of(ledger) as reader:
        now = looking.now(reader)
        where, states = read_asked(asked, now)
        if terms:
            where = _select(reader, asked, where, terms)
        seen = replace(_look(reader, asked.what, where), now=now)
    check_known(where, seen)
    listed = _SHOW[asked.what](seen, asked, where, states, output == "wide")
    _print(listed, asked, output)
    return int(ExitCode.FAILED) if exit_code and listed.unfinished else 0


def _select(reader: Reader, asked: Asked, where: Where, terms: Sequence[Term]) -> Where:
    """Narrow it down to the jobs that are selected. Raises UsageError beside names."""
    if asked.words:
        raise UsageError(
            "-l selects jobs, and some are named too. Nothing was read.\n  Leave one of them out."
        )
    found = selected([*reader.jobs(where).jobs.values()], terms)
    return replace(where, prefixes=found or [_NOBODY])


def _look(reader: Reader, what: str, where: Where) -> Snapshot:
    if what == "jobs":
        return reader.jobs(where)
    return reader.periods(where) if what == "periods" else reader.attempts(where)


def _jobs(
    seen: Snapshot,
    asked: Asked,
    _where: Where,
    states: frozenset[State],
    wide: bool,  # noqa: FBT001  # one of three alike
) -> Listed:
    found = jobs.lines(seen, states if asked.states else None)
    header, rows = jobs.cells(seen, found[: asked.limit], wide=wide)
    return Listed(
        header,
        rows,
        [str(line.job.job) for line in found[: asked.limit]],
        [jobs.as_json(line) for line in found[: asked.limit]],
        cut=len(found) > asked.limit,
        unfinished=any(line.unfinished for line in found),
        notes=notes(seen),
    )


def _periods(
    seen: Snapshot,
    asked: Asked,
    where: Where,
    states: frozenset[State],
    wide: bool,  # noqa: FBT001  # as above
) -> Listed:
    found = periods.lines(seen, states)
    kept = periods.cut(seen, found, asked.limit)
    header, rows = periods.cells(seen, kept, wide=wide, with_job=not _is_one_job(where))
    return Listed(
        header,
        rows,
        [str(line.key) for line in kept],
        [periods.as_json(seen, line) for line in kept],
        cut=len(found) > len(kept),
        unfinished=any(line.state in UNFINISHED for line in found),
        notes=notes(seen),
    )


def _attempts(
    seen: Snapshot,
    asked: Asked,
    where: Where,
    _states: frozenset[State],
    wide: bool,  # noqa: FBT001  # as above
) -> Listed:
    kept = seen.attempts[: asked.limit]
    header, rows = attempts.cells(kept, seen.now, wide=wide, with_job=not _is_one_job(where))
    return Listed(
        header,
        rows,
        [str(attempt.id) for attempt in kept],
        [attempts.as_json(attempt, seen.now) for attempt in kept],
        cut=len(seen.attempts) > len(kept),
        unfinished=False,
    )


_SHOW = {"jobs": _jobs, "periods": _periods, "attempts": _attempts}


def _is_one_job(where: Where) -> bool:
    names = {*where.prefixes, *(str(key.job) for key in where.keys)}
    return len(names) == 1 and "/" in next(iter(names)) and not where.attempts


def _print(listed: Listed, asked: Asked, output: str) -> None:
    if output == "json":
        told = {asked.what: listed.json, "cut": listed.cut, "notes": listed.notes}
        click.echo(json.dumps(told, indent=2, ensure_ascii=False))
    elif output == "name":
        for name in listed.names:
            click.echo(name)
    elif listed.rows:
        for line in table(listed.header, listed.rows, colour=looking.colour()):
            click.echo(line)
    else:
        click.echo(f"no {asked.what} found", err=True)
    for note in listed.notes:
        click.echo(note, err=True)
    if listed.cut:
        click.echo(
            f"there are more: only {asked.limit} are shown. Raise --limit, or ask for less.",
            err=True,
        )
