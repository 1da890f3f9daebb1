"""What changes of clocks do to a schedule, in sentences."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from k8sjob.schedule.clock import DAY, EPOCH, EPOCH_ORDINAL
from k8sjob.schedule.remark import Kind, Remark

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from k8sjob.schedule.changes import Change, Fire

_SECOND = timedelta(seconds=1)
_MINUTE = 60
_LISTED = 4  # more times than these are told by the first, the last and their number


class _Group(NamedTuple):
    """What the days that one sentence is about have in common."""

    kind: Kind
    minutes: tuple[int, ...]
    #: Whether the schedule has no other time on such a day.
    whole: bool


def of_changes(found: list[Change], a_day: int) -> list[Remark]:
    """Return a remark for each thing that changes of clocks do, and all days on which they do it.

    ``a_day`` is how often the schedule fires on a day that it names.
    """
    groups: dict[_Group, list[list[Fire]]] = {}
    for change in found:
        for group, fires in _by_day(change):
            groups.setdefault(group, []).append(fires)
    order = sorted(groups, key=lambda group: list(Kind).index(group.kind))
    return [_remark(group, groups[group], _advice(group.kind, found, a_day)) for group in order]


def _by_day(change: Change) -> Iterator[tuple[_Group, list[Fire]]]:
    kinds = {
        Kind.TWICE: change.again,
        Kind.LEFT_OUT: change.left_out,
        Kind.PASSED_OVER: change.passed_over,
        Kind.ASTRAY: change.astray,
    }
    for kind, all_of_it in kinds.items():
        for day, on_it in groupby(all_of_it, key=lambda fire: fire.reading // DAY):
            fires = list(on_it)
            minutes = tuple(fire.reading % DAY // _MINUTE for fire in fires)
            yield _Group(kind, minutes, change.wanted[day] == len(fires)), fires


def _remark(group: _Group, days: list[list[Fire]], advice: str) -> Remark:
    on = _join([_day(fires[0].reading) for fires in days])
    instants = [fire.instant for fires in days for fire in fires if fire.instant is not None]
    return Remark(
        group.kind,
        _sentence(group, on, " each" if len(days) > 1 else ""),
        advice,
        tuple(EPOCH + instant * _SECOND for instant in instants),
    )


def _sentence(group: _Group, on: str, each: str) -> str:
    one, times = len(group.minutes) == 1, _times(group.minutes)
    when = f"on {on}" if group.whole else f"at {times} on {on}"
    what = times if group.whole else "that time" if one else "those times"
    match group.kind:
        case Kind.TWICE:
            count = f" ({2 * len(group.minutes)} periods{each})" if group.whole else ""
            return f"Fires twice {when}{count}: clocks show {what} twice."
        case Kind.LEFT_OUT:
            none = " at all" if group.whole else ""
            return f"Does not fire{none} {when}: {what} {'does' if one else 'do'} not exist."
        case Kind.PASSED_OVER:
            there = f"though {what} {'exists' if one else 'exist'}"
            return f"Does not fire {when}, {there}: the search steps over it where clocks change."
        case _:
            return (
                f"Fires {when}, a time that it does not name: the search slips where clocks change."
            )


def _advice(kind: Kind, found: list[Change], a_day: int) -> str:
    if kind in {Kind.PASSED_OVER, Kind.ASTRAY}:
        return "The controller does just that. If it matters, set timeZone: Etc/UTC."
    some = [change for change in found if change.again or change.left_out]
    if any(change.high - change.low >= DAY for change in some):
        return "If that matters, set timeZone: Etc/UTC."
    outside = _join(sorted({f"{_time(c.low)} to {_time(c.high)}" for c in some}))
    if a_day == 1:
        return (
            f"If once is meant, choose an hour outside {outside}, or a daily cycle: "
            "k8sjob.io/cycle: day"
        )
    return f"If that matters, choose hours outside {outside}, or set timeZone: Etc/UTC."


def _times(minutes: Sequence[int]) -> str:
    texts = [_time(minute * _MINUTE) for minute in minutes]
    if len(texts) > _LISTED:
        return f"{texts[0]} to {texts[-1]} ({len(texts)} times)"
    return _join(texts)


def _time(reading: int) -> str:
    return "{:02}:{:02}".format(*divmod(reading % DAY // _MINUTE, 60))


def _day(reading: int) -> str:
    day = date.fromordinal(reading // DAY + EPOCH_ORDINAL)
    return f"{day:%a} {day.day} {day:%b %Y}"


def _join(texts: list[str]) -> str:
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)
