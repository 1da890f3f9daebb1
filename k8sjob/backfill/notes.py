"""What is worth a word beside the lines: changes of clocks, ends that are no periods. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from k8sjob.backfill.span import read_span
from k8sjob.kube import words
from k8sjob.period import Cycle, Period
from k8sjob.schedule.changes import changes
from k8sjob.schedule.clock import EPOCH
from k8sjob.schedule.remark import Kind
from k8sjob.schedule.wording import of_changes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from k8sjob.backfill.asked import Asked
    from k8sjob.backfill.basis import Basis
    from k8sjob.backfill.candidates import Candidate
    from k8sjob.expect import Version
    from k8sjob.schedule.remark import Remark

_BESIDE = {
    Kind.TWICE: "the hour happens twice, so does the job",
    Kind.ASTRAY: "not a time of the schedule: clocks change",
}
#: What leaves no line of its own.
_BELOW = (Kind.LEFT_OUT, Kind.PASSED_OVER)


class Notes(NamedTuple):
    """``beside``: a note by a period's text. ``below``: sentences."""

    beside: dict[str, str]
    below: list[str]


def notes(asked: Asked, basis: Basis, candidates: Sequence[Candidate]) -> Notes:
    """Return the notes on a plan. Raises InvalidSchedule, ConfigError."""
    beside: dict[str, str] = {}
    below: list[str] = []
    if basis.cycle is Cycle.SCHEDULED:
        for remark in _of_clocks(asked, basis, candidates):
            if remark.kind in _BESIDE:
                texts = [f"{at:%Y-%m-%dT%H:%M:%SZ}" for at in remark.periods]
                beside |= dict.fromkeys(texts, _BESIDE[remark.kind])
            elif remark.kind in _BELOW:
                below.append(remark.text)
    below += _of_ends(asked, candidates)
    below += _of_ledger(asked, basis)
    if basis.edited:
        below.append(
            "The job is not tracked, and its CronJob has been edited since it was created: today's "
            "schedule is taken for all of its life."
        )
    if asked.missing and not basis.tracked:
        below.append(
            "The job is not tracked, so nobody has looked for periods without a row: only open "
            "ones are known to be missing."
        )
    return Notes(beside, list(dict.fromkeys(below)))


def _of_clocks(asked: Asked, basis: Basis, candidates: Sequence[Candidate]) -> Iterator[Remark]:
    """Yield what changes of clocks do between the ends, or else the first and the last period."""
    if asked.missing:
        instants = [c.expected.first_fire for c in candidates if c.expected is not None]
        low, high = min(instants, default=basis.now), max(instants, default=basis.now)
    else:
        low, high, *_ = read_span(asked, Cycle.SCHEDULED, basis.place)
    for version in basis.versions:
        start = max(low, version.earliest_from)
        end = min(high, version.valid_to or high)
        if start < end and version.schedule.fields is not None:
            yield from _of_version(version, start, end)


def _of_version(version: Version, start: datetime, end: datetime) -> list[Remark]:
    schedule = version.schedule
    assert schedule.fields is not None  # noqa: S101  # @every has been left out
    first, last = (int((at - EPOCH).total_seconds()) for at in (start, end))
    found = changes(schedule.fields, schedule.clock, first, last)
    return of_changes(found, len(schedule.fields.times))


def _of_ends(asked: Asked, candidates: Sequence[Candidate]) -> Iterator[str]:
    """Say of an end that looks like a period that it is none: another one may be meant."""
    labels = {candidate.label for candidate in candidates}
    kinds = {c.period.cycle for c in candidates if c.period is not None}
    for flag, end in (("--from", asked.start), ("--to", asked.end)):
        if end is None or end in labels or not kinds:
            continue
        if Period.parse(end).cycle in kinds:
            yield f"{flag} {end} is not on the schedule: it bounds the range, and is not done."


def _of_ledger(asked: Asked, basis: Basis) -> Iterator[str]:
    """Say that the CronJob keeps its periods elsewhere, if that is what it says."""
    said = basis.cronjob.annotations.get(words.LEDGER) if basis.cronjob else None
    if said and said != asked.ledger:
        here = f"ledger {asked.ledger}" if asked.ledger else "default ledger"
        yield f"The CronJob says that its ledger is {said}, and this looks at the {here}."
