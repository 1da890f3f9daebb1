"""What a job's page shows. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from k8sjob.serve import calendar, signs
from k8sjob.serve.cards import Card, Try, a_try, card, story
from k8sjob.serve.one_job import UNFINISHED
from k8sjob.serve.overview import link_to
from k8sjob.serve.shown import When, maybe_when, when
from k8sjob.serve.watching import watches
from k8sjob.states import State
from k8sjob.view import periods as per
from k8sjob.view.gaps import notes
from k8sjob.view.jobs import next_of, schedule
from k8sjob.view.portrait import known, line_of
from k8sjob.view.state import LISTED
from k8sjob.view.story import hold_lines
from k8sjob.view.tracking import limit_lines, tracked_lines
from k8sjob.view.words import one_line, utc

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from k8sjob.expect import Version
    from k8sjob.ledger.read import JobRow, Snapshot
    from k8sjob.serve.calendar import Grid
    from k8sjob.serve.one_job import Found, Wanted
    from k8sjob.serve.signs import Sign
    from k8sjob.serve.watching import Watch
    from k8sjob.view.jobs import JobLine
    from k8sjob.view.periods import Line

#: Fires to come, and versions of the schedule, that are shown.
_NEXT, _VERSIONS = 5, 10


class Link(NamedTuple):
    """A link; without an address it is where one is, or where there is nothing to see."""

    words: str
    address: str = ""


class Past(NamedTuple):
    """A version of the schedule."""

    number: int
    schedule: str
    since: str
    until: str
    suspended: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """The tables of a window, what their signs mean, and the ways to other windows."""

    grids: Sequence[Grid]
    legend: Sequence[Sign]
    spans: Sequence[Link]
    earlier: Link
    later: Link
    notes: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPage:
    """All that the page of one job shows."""

    job: str
    sign: Sign
    schedule: str
    zone: str
    owner: str
    severity: str
    runbook: Link
    now: When
    next: Sequence[When]
    last_done: str
    last_success: When | None
    failures: int
    counters: Sequence[tuple[str, int]]
    tracked: Sequence[str]
    limits: str
    watch: Watch | None
    holds: Sequence[str]
    unfinished: Sequence[Card]
    more: int
    at_once: str
    calendar: Calendar | None
    period: Card | None
    attempts: Sequence[Try]
    versions: Sequence[Past]
    notes: Sequence[str]
    overview: str


def compose(found: Found, wanted: Wanted, root: str) -> JobPage:
    """Return what the page of a job shows."""
    seen, now = found.portrait, found.now
    line = line_of(seen, wanted.job)
    job, shown = line.job, line.unfinished[:UNFINISHED]
    return JobPage(
        job=str(wanted.job),
        sign=signs.of_job(signs.counts(seen, line), job),
        schedule=schedule(job),
        zone=found.zone,
        owner=one_line(job.owner),
        severity=one_line(job.severity),
        runbook=_runbook(job.runbook),
        now=when(now, found.zone, now),
        next=list(_next(found, job)),
        last_done=job.last_done or "",
        last_success=maybe_when(job.last_success_at, found.zone, now),
        failures=job.consecutive_failures,
        counters=sorted(seen.counters.items()),
        tracked=list(tracked_lines(job)),
        limits=next(iter(limit_lines(job)), ""),
        watch=next(iter(watches([job], job.passes, now)), None),
        holds=list(hold_lines(seen, line.holds)),
        unfinished=[card(seen, one, found.attempts, now) for one in shown],
        more=len(line.unfinished) - len(shown),
        at_once=_at_once(seen, line),
        calendar=_calendar(found, wanted, root),
        period=story(found.story, wanted.period) if found.story and wanted.period else None,
        attempts=[a_try(one, found.zone, now) for one in seen.attempts],
        versions=[_past(one) for one in reversed(job.versions[-_VERSIONS:])],
        notes=[*notes(seen), *known(seen)],
        overview=f"{root}/",
    )


def _at_once(seen: Snapshot, line: JobLine) -> str:
    """Return how to have all missing periods done at once, where there are several."""
    missing = [
        one.key.period
        for one in line.unfinished
        if signs.of_line(seen, one).name == State.MISSING and one.key.job.part is None
    ]
    if len(missing) < 2 or not line.job.is_tracked:  # noqa: PLR2004  # several
        return ""
    return f"k8sjob backfill {line.job.job} --from {missing[0]} --to {missing[-1]}"


def _runbook(text: str | None) -> Link:
    """Return a link where it is one: an annotation may hold anything, javascript: too."""
    plain = one_line(text)
    try:
        parts = urlsplit(plain)
    except ValueError:
        return Link(plain)
    return Link(plain, plain if parts.scheme in ("http", "https") and parts.netloc else "")


def _next(found: Found, job: JobRow) -> Iterator[When]:
    if next_of(job, found.now) is not None:
        coming = [at for at in found.fires if at > found.now]
        yield from (when(at, found.zone, found.now) for at in coming[:_NEXT])


def _past(version: Version) -> Past:
    until = ""
    if version.valid_to is not None:
        until = _between(version.earliest_to or version.valid_to, version.valid_to)
    return Past(
        number=version.n,
        schedule=f"{version.expr} {version.zone or ''}".strip(),
        since=_between(version.earliest_from, version.valid_from),
        until=until,
        suspended=version.suspended,
    )


def _between(low: datetime, high: datetime) -> str:
    return utc(high) if low == high else f"between {utc(low)} and {utc(high)}"


# ------------------------------------------------------------------------------- the calendar


def _calendar(found: Found, wanted: Wanted, root: str) -> Calendar | None:
    seen, window = found.calendar, found.window
    if seen is None or window is None:
        return None

    def link(**more: str | int | None) -> str:
        given = {"until": wanted.wish.until, "span": wanted.wish.span} | more
        kept = {name: str(value) for name, value in given.items() if value}
        return link_to(str(wanted.job), wanted.ledger, root, **kept)

    def to_period(line: Line) -> str:
        part = line.key.job.part
        return link(period=str(line.key.period), part=part) + "#period"

    lines = per.lines(seen, frozenset(LISTED))
    grids = calendar.grids(
        calendar.Sheet(
            window=window,
            placed=calendar.place(seen, lines, found.zone),
            zone=found.zone,
            now=found.now,
            link=to_period,
        ),
        found.fires,
    )
    return Calendar(
        grids=grids,
        legend=calendar.legend(grids),
        spans=[
            Link(f"{span} {window.plan.unit}", "" if span == window.span else link(span=span))
            for span in sorted(window.plan.spans)
        ],
        earlier=Link("Earlier", link(until=window.earlier) if window.earlier else ""),
        later=Link("Later", link(until=window.later) if window.later else ""),
        notes=notes(seen),
    )
