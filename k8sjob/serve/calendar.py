"""The calendar of a job: its periods of a window, as tables of cells. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from k8sjob.period import Cycle
from k8sjob.serve import signs
from k8sjob.serve.layout import Layout, place_in
from k8sjob.serve.shown import name_of
from k8sjob.serve.window import end_of
from k8sjob.view.words import local as local_words
from k8sjob.zones import zone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from k8sjob.ledger.read import Snapshot
    from k8sjob.serve.signs import Sign
    from k8sjob.serve.window import Window
    from k8sjob.view.periods import Line

_DAY, _WEEK, _HOUR = timedelta(days=1), timedelta(days=7), timedelta(hours=1)
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_HALF_A_YEAR = 6
_WEEKS_OF_A_MONTH = ("1st", "2nd", "3rd", "4th", "5th")


class Cell(NamedTuple):
    """One cell. Without a sign no period is known there; ``number`` is a day, or a week's."""

    number: str = ""
    sign: Sign | None = None
    label: str = ""
    link: str = ""
    now: bool = False


class Row(NamedTuple):
    """A row of cells; None stands where there is no such day. ``now``: it is that day, or hour."""

    head: str
    cells: Sequence[Cell | None]
    now: bool = False


class Grid(NamedTuple):
    """A table: its caption, the heads of its columns, and what the rows' heads are."""

    caption: str
    corner: str
    columns: Sequence[str]
    rows: Sequence[Row]


class Placed(NamedTuple):
    """A period, and the time by the zone's clocks that it stands at."""

    local: datetime
    line: Line
    sign: Sign


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """What goes into a calendar: periods at their places, and what time it is there."""

    window: Window
    placed: Sequence[Placed]
    zone: str
    now: datetime
    link: Callable[[Line], str]


def place(seen: Snapshot, lines: Iterable[Line], zone_name: str) -> list[Placed]:
    """Return the periods that have a time, each where the clocks of the zone have it."""
    there = zone(zone_name)
    found = []
    for line in lines:
        period = line.key.period
        # A day is that day in whichever zone, and its instant is not.
        at = line.at if period.cycle is Cycle.SCHEDULED else period.scheduled_for(zone_name)
        if at is not None:
            found.append(Placed(at.astimezone(there), line, signs.of_line(seen, line)))
    return found


def grids(sheet: Sheet, fires: Sequence[datetime]) -> list[Grid]:
    """Return the tables of a window. ``fires`` name columns that no period has filled yet."""
    layout = sheet.window.plan.layout
    if layout is Layout.BLOCKS:
        return [_by_blocks(sheet, fires)]
    by_slot: dict[datetime, list[Placed]] = defaultdict(list)
    for one in sheet.placed:
        by_slot[_slot(layout, one.local)].append(one)
    match layout:
        case Layout.DAYS:
            return list(_by_days(sheet, by_slot))
        case Layout.WEEKS:
            return list(_by_weeks(sheet, by_slot))
        case _:
            return [_by_months(sheet, by_slot)]


def legend(found: Iterable[Grid]) -> list[Sign]:
    """Return the signs that stand in these tables, those of all others left out."""
    there = {
        cell.sign.name
        for grid in found
        for row in grid.rows
        for cell in row.cells
        if cell and cell.sign
    }
    return [sign for name, sign in signs.OF_PERIODS.items() if name in there]


def _slot(layout: Layout, local: datetime) -> datetime:
    """Return the beginning of what a cell stands for, without a zone."""
    day = local.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None, fold=0)
    if layout is Layout.DAYS:
        return day
    return day.replace(day=1) if layout is Layout.MONTHS else day - local.weekday() * _DAY


# ------------------------------------------------------------------------- days, weeks, months


def _by_days(sheet: Sheet, by_slot: Mapping[datetime, Sequence[Placed]]) -> Iterator[Grid]:
    days = _count(sheet.window.first, end_of(sheet.window), _DAY)
    for (year, month), of_month in groupby(days, lambda day: (day.year, day.month)):
        rows = [
            _week_row(sheet, list(week), by_slot)
            for _, week in groupby(of_month, lambda day: day.isocalendar()[:2])
        ]
        yield Grid(f"{datetime(year, month, 1):%B %Y}", "Week", _WEEKDAYS, rows)  # noqa: DTZ001


def _week_row(
    sheet: Sheet, days: Sequence[datetime], by_slot: Mapping[datetime, Sequence[Placed]]
) -> Row:
    cells = {day.weekday(): _cell(sheet, day, by_slot.get(day, ()), str(day.day)) for day in days}
    return Row(f"W{days[0].isocalendar().week:02}", [cells.get(number) for number in range(7)])


def _by_weeks(sheet: Sheet, by_slot: Mapping[datetime, Sequence[Placed]]) -> Iterator[Grid]:
    first = sheet.window.first
    monday = first + (-first.weekday() % 7) * _DAY
    rows = []
    mondays = _count(monday, end_of(sheet.window), _WEEK)
    for _, of_month in groupby(mondays, lambda day: (day.year, day.month)):
        weeks = list(of_month)
        cells: list[Cell | None] = [
            _cell(sheet, week, by_slot.get(week, ()), f"W{week.isocalendar().week:02}")
            for week in weeks
        ]
        rows.append(Row(f"{weeks[0]:%b %Y}", cells + [None] * (5 - len(cells))))
    for start in range(0, len(rows), _HALF_A_YEAR):
        some = rows[start : start + _HALF_A_YEAR]
        caption = f"{some[0].head} to {some[-1].head}"
        yield Grid(caption, "Mondays", _WEEKS_OF_A_MONTH, some)


def _by_months(sheet: Sheet, by_slot: Mapping[datetime, Sequence[Placed]]) -> Grid:
    years = range(sheet.window.first.year, sheet.window.last.year + 1)
    rows = []
    for year in years:
        months = [datetime(year, month, 1) for month in range(1, 13)]  # noqa: DTZ001
        cells = [_cell(sheet, month, by_slot.get(month, ()), "") for month in months]
        if any(cell.sign for cell in cells) or year == years[-1]:
            rows.append(Row(str(year), cells))
    return Grid("Months", "Year", _MONTHS, rows)


def _count(start: datetime, end: datetime, step: timedelta) -> Iterator[datetime]:
    while start < end:
        yield start
        start += step


# -------------------------------------------------------------------------------------- blocks


def _by_blocks(sheet: Sheet, fires: Sequence[datetime]) -> Grid:
    block, there = sheet.window.plan.block, zone(sheet.zone)
    found: dict[tuple[datetime, timedelta], list[Placed]] = defaultdict(list)
    for one in sheet.placed:
        found[place_in(block, one.local)].append(one)
    columns = {column for _, column in found}
    # Columns that no period has filled yet.
    columns |= {place_in(block, at.astimezone(there))[1] for at in fires}
    form, here = "%a %d %b" if block == _DAY else "%a %d %b %H:%M", _here(sheet)
    rows = [
        Row(
            f"{start:{form}}",
            [_cell(sheet, None, found.get((start, one), ()), "") for one in sorted(columns)],
            now=start == here,
        )
        for start in _count(sheet.window.first, end_of(sheet.window), block)
    ]
    caption, corner = ("Days and times", "Day") if block == _DAY else ("Times", "From")
    names = [_column_name(block, one) for one in sorted(columns)]
    return Grid(caption, corner, names, [row for row in rows if _is_shown(row, block)])


def _is_shown(row: Row, block: timedelta) -> bool:
    return block == _DAY or row.now or any(cell and cell.sign for cell in row.cells)


def _column_name(block: timedelta, into: timedelta) -> str:
    """Return ``02:30`` of a day, ``:05`` of an hour, else ``+1:30``: how far into the block."""
    minutes, seconds = divmod(int(into.total_seconds()), 60)
    rest = f":{seconds:02}" if seconds else ""
    if block == _DAY:
        return f"{minutes // 60:02}:{minutes % 60:02}{rest}"
    if block == _HOUR:
        return f":{minutes:02}{rest}"
    return f"+{minutes // 60}:{minutes % 60:02}{rest}"


# -------------------------------------------------------------------------------------- a cell


def _cell(sheet: Sheet, start: datetime | None, found: Sequence[Placed], number: str) -> Cell:
    now = start == _here(sheet)
    if not found:
        return Cell(number, now=now)
    sign = signs.worst(one.sign for one in found)
    first = next(one for one in found if one.sign is sign)
    label = _label(first, sheet.zone) if len(found) == 1 else _of_several(found, first, sheet.zone)
    return Cell(number, sign, label, sheet.link(first.line), now)


def _here(sheet: Sheet) -> datetime:
    """Return the slot, or where these are rows the row, that it is now."""
    plan, local = sheet.window.plan, sheet.now.astimezone(zone(sheet.zone))
    if plan.layout is Layout.BLOCKS:
        return place_in(plan.block, local)[0]
    return _slot(plan.layout, local)


def _label(one: Placed, zone_name: str) -> str:
    line = one.line
    scheduled = line.key.period.cycle is Cycle.SCHEDULED and line.at
    there = f" ({local_words(line.at, zone_name)} {zone_name})" if scheduled and line.at else ""
    reason = f": {line.reason}" if line.reason else ""
    return f"{name_of(line)}{there} {one.sign.word}{reason}"


def _of_several(found: Sequence[Placed], first: Placed, zone_name: str) -> str:
    counts = Counter(one.sign.word for one in found)
    words = ", ".join(f"{n} {word}" for word, n in counts.items())
    return f"{len(found)} periods: {words}; {_label(first, zone_name)}"
