"""``k8sjob preview``."""

from __future__ import annotations

import json
import os
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import click

from k8sjob.cycle import FIRST_YEAR, LAST_YEAR
from k8sjob.errors import ExitCode, UsageError
from k8sjob.period import Period
from k8sjob.schedule import parse
from k8sjob.schedule.explain import Kind, Remark, remarks
from k8sjob.zones import start_of, zone

if TYPE_CHECKING:
    from k8sjob.schedule import Schedule

_THE_END = datetime(2999, 12, 31, tzinfo=UTC)
_DATE = "2026-10-23"

#: What is said beside a fire, by the remark that names it.
_NOTES = {
    Kind.TWICE: "the hour happens twice, so does the job",
    Kind.ASTRAY: "not a time of the schedule: clocks change",
}


class Row(NamedTuple):
    """A period that is to come."""

    instant: datetime
    local: datetime
    note: str | None


@click.command("preview", short_help="Show when a schedule fires, and what surprises.")
@click.argument("schedule")
@click.option(
    "--time-zone",
    metavar="ZONE",
    help="The CronJob's timeZone. Else K8SJOB_TIME_ZONE, else Etc/UTC.",
)
@click.option(
    "--from",
    "start",
    metavar="T",
    help="A day of the zone or an instant: 2026-10-23, 2026-10-23T00:00:00Z. Default now.",
)
@click.option(
    "--count", type=click.IntRange(1, 10_000), default=10, metavar="N", help="Default 10."
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "json"]),
    default="table",
    help="Default table.",
)
def command(
    *, schedule: str, time_zone: str | None, start: str | None, count: int, output: str
) -> int:
    """Show the next periods of SCHEDULE, a CronJob's, in UTC and in the zone's time.

    The rules are those of the CronJob controller. Below, in words: hours that happen twice or not
    at all within a year, day fields that are joined by OR, and what to do instead.

    \b
      k8sjob preview "30 2 * * *" --time-zone Europe/Berlin --from 2026-10-23 --count 4

    Ends with 0, or with 1 if the schedule never fires.
    """
    name = time_zone or os.environ.get("K8SJOB_TIME_ZONE") or "Etc/UTC"
    read = parse(schedule, name)
    begin = _instant(start, name) if start else datetime.now(UTC)
    rows, found = _rows(read, begin, count), remarks(read, begin)
    if output == "json":
        click.echo(_as_json(read, rows, found))
    else:
        _print_table(read, rows, found)
    return 0 if rows else int(ExitCode.FAILED)


def _instant(text: str, zone_name: str) -> datetime:
    """Return the instant that ``--from`` tells."""
    try:
        day = len(text) == len(_DATE)
        instant = (
            start_of(date.fromisoformat(text), zone_name) if day else datetime.fromisoformat(text)
        )
    except (ValueError, OverflowError):
        wrong = "is neither a day nor an instant"
    else:
        if instant.tzinfo is None:
            wrong = "has no time zone"
        elif not FIRST_YEAR <= instant.year <= LAST_YEAR:
            wrong = f"is not in the years {FIRST_YEAR} to {LAST_YEAR}"
        else:
            return instant
    raise UsageError(
        f"--from {text!r} {wrong}, so nothing was previewed: write {_DATE} or {_DATE}T00:00:00Z."
    )


def _rows(schedule: Schedule, begin: datetime, count: int) -> list[Row]:
    """Return the first periods at or after ``begin``."""
    just_before = begin - timedelta(microseconds=1)
    instants = list(islice(schedule.between(just_before, _THE_END), count))
    if not instants:
        return []
    years = (instants[-1] - begin).days // 366 + 1
    notes = {
        instant: _NOTES.get(remark.kind)
        for remark in remarks(schedule, begin, years)
        for instant in remark.periods
    }
    there = zone(schedule.zone)
    return [Row(instant, instant.astimezone(there), notes.get(instant)) for instant in instants]


def _print_table(schedule: Schedule, rows: list[Row], found: list[Remark]) -> None:
    lines = [("#", "UTC", schedule.zone.upper())] if rows else []
    for number, row in enumerate(rows, 1):
        lines.append((str(number), Period.at(row.instant).text, _local(row.local)))
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    notes = [None, *(row.note for row in rows)]
    for line, note in zip(lines, notes, strict=False):
        text = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        mark = click.style(f"  ← {note}", fg="yellow") if note else ""
        click.echo((text if note else text.rstrip()) + mark)
    for sentence in dict.fromkeys([r.text for r in found] + [r.advice for r in found]):
        click.echo(sentence)


def _local(instant: datetime) -> str:
    offset = f"{instant:%z}"
    return f"{instant:%a} {instant.day:2} {instant:%b %H:%M} {offset[:3]}:{offset[3:]}"


def _as_json(schedule: Schedule, rows: list[Row], found: list[Remark]) -> str:
    return json.dumps(
        {
            "schedule": schedule.text,
            "timeZone": schedule.zone,
            "periods": [
                {
                    "period": Period.at(row.instant).text,
                    "local": row.local.isoformat(),
                    "note": row.note,
                }
                for row in rows
            ],
            "remarks": [
                {
                    "kind": str(remark.kind),
                    "text": remark.text,
                    "advice": remark.advice,
                    "periods": [Period.at(instant).text for instant in remark.periods],
                }
                for remark in found
            ],
        },
        indent=2,
        ensure_ascii=False,
    )
