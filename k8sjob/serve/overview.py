"""What the overview shows: filters, order, counts, one page of jobs. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urlencode

from k8sjob.errors import UsageError
from k8sjob.period import Cycle, Period
from k8sjob.serve import signs
from k8sjob.serve.shown import When, lateness, maybe_when, name_of, short, when
from k8sjob.view import state as st
from k8sjob.view.jobs import schedule
from k8sjob.view.words import count, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from k8sjob.ledger.read import Snapshot
    from k8sjob.serve.board import Seen
    from k8sjob.serve.signs import Sign
    from k8sjob.serve.web import Request
    from k8sjob.view.jobs import JobLine

#: Jobs of one page.
A_PAGE = 100
#: All that are not finished, whatever they are.
UNFINISHED = "unfinished"

_PARAMETERS = ("text", "namespace", "state", "owner", "ledger")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which jobs are to be shown; None for all."""

    text: str | None = None
    namespace: str | None = None
    state: str | None = None
    owner: str | None = None
    ledger: str | None = None
    page: int = 1

    def link(self, root: str, **changes: str | int | None) -> str:
        """Return the address of the overview with these filters, changed ones on page 1."""
        changed = replace(self, **{"page": 1} | changes)  # type: ignore[arg-type]  # by name
        values = {name: getattr(changed, name) for name in _PARAMETERS}
        given = {name: value for name, value in values.items() if value}
        if changed.page > 1:
            given["page"] = str(changed.page)
        return f"{root}/" + (f"?{urlencode(given)}" if given else "")

    @property
    def any(self) -> bool:
        """Whether something is left out."""
        return any(getattr(self, name) for name in _PARAMETERS)


def read_filters(request: Request) -> Filters:
    """Read the filters of a request. Raises UsageError."""
    request.check(*_PARAMETERS, "page")
    state = request.one("state")
    if state is not None and state not in (UNFINISHED, *signs.OF_JOBS):
        raise UsageError(
            f"state={state!r} is no state of a job. Nothing was read.\n"
            f"  The states are {UNFINISHED}, {', '.join(signs.OF_JOBS)}."
        )
    return Filters(
        text=request.one("text"),
        namespace=request.one("namespace"),
        state=state,
        owner=request.one("owner"),
        ledger=request.one("ledger"),
        page=request.number("page", 1, 1_000_000),
    )


class Entry(NamedTuple):
    """A job as far as filters and order need it."""

    ledger: str
    seen: Snapshot
    line: JobLine
    counts: Mapping[str, int]
    sign: Sign

    @property
    def names(self) -> frozenset[str]:
        """The states that it is found under: its sign, and those of its unfinished periods."""
        return frozenset({self.sign.name, *self.counts, *([UNFINISHED] if self.counts else ())})


def entries(ledgers: Mapping[str, Seen]) -> list[Entry]:
    """Return all jobs, those with the oldest unfinished period first, the others by name."""
    found = []
    for name, seen in ledgers.items():
        for line in seen.lines:
            counts = signs.counts(seen.snapshot, line)
            sign = signs.of_job(counts, line.job)
            found.append(Entry(name, seen.snapshot, line, counts, sign))
    return sorted(found, key=_oldest_first)


def _oldest_first(entry: Entry) -> tuple[bool, float, str, str]:
    first = entry.line.unfinished[0] if entry.line.unfinished else None
    at = st.age_from(entry.seen, first.key).timestamp() if first else 0.0
    return first is None, at, str(entry.line.job.job), entry.ledger


def chosen(found: Iterable[Entry], filters: Filters) -> list[Entry]:
    """Return the entries that the filters let through."""
    return [entry for entry in found if _matches(entry, filters)]


def _matches(entry: Entry, filters: Filters) -> bool:
    job = entry.line.job
    return (
        filters.ledger in (None, entry.ledger)
        and filters.namespace in (None, job.job.namespace)
        and filters.owner in (None, one_line(job.owner))
        and (filters.state is None or filters.state in entry.names)
        and (filters.text is None or filters.text.casefold() in _text_of(entry))
    )


def _text_of(entry: Entry) -> str:
    job = entry.line.job
    reasons = (one.reason for one in entry.line.unfinished)
    words = (str(job.job), job.schedule, job.schedule_zone, job.owner, job.severity, *reasons)
    return "\n".join(word for word in words if word).casefold()


# --------------------------------------------------------------------------------- on top of it


class Tile(NamedTuple):
    """How many jobs are in a state, and how many periods: a link to them."""

    sign: Sign
    jobs: int
    periods: int


def tiles(found: Sequence[Entry]) -> list[Tile]:
    """Return the states with how often they are; of the rare ones only those that there are."""
    jobs = Counter(name for entry in found for name in entry.names)
    periods: Counter[str] = Counter()
    for entry in found:
        periods.update(entry.counts)
    always = {*st.UNFINISHED, "done"}
    return [
        Tile(sign, jobs[name], periods[name])
        for name, sign in signs.OF_JOBS.items()
        if name in always or jobs[name]
    ]


class Choices(NamedTuple):
    """What can be chosen from."""

    namespaces: Sequence[str]
    owners: Sequence[str]
    ledgers: Sequence[str]
    states: Sequence[Sign]


def choices(found: Sequence[Entry], ledgers: Iterable[str]) -> Choices:
    """Return what the filters offer."""
    jobs = [entry.line.job for entry in found]
    return Choices(
        namespaces=sorted({job.job.namespace for job in jobs}),
        owners=sorted({one_line(job.owner) for job in jobs} - {""}),
        ledgers=list(ledgers),
        states=list(signs.OF_JOBS.values()),
    )


# ------------------------------------------------------------------------------------- the rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A job as it is shown. ``counts`` has the numbers beyond the sign's own word."""

    ledger: str
    namespace: str
    name: str
    link: str
    sign: Sign
    counts: str
    schedule: str
    oldest: str
    oldest_at: When | None
    lateness: str
    reason: str
    held: str
    owner: str
    severity: str
    last_done: str
    last_done_at: When | None
    next: When | None


def page_of(found: Sequence[Entry], filters: Filters) -> tuple[list[Entry], int]:
    """Return the entries of the page that is asked for, and how many pages there are."""
    pages = max(-(-len(found) // A_PAGE), 1)
    page = min(filters.page, pages)
    return list(found[(page - 1) * A_PAGE : page * A_PAGE]), pages


def row(entry: Entry, root: str, *, with_ledger: bool) -> Row:
    """Return how a job is shown."""
    line, job, now = entry.line, entry.line.job, entry.seen.now
    first = line.unfinished[0] if line.unfinished else None
    zone = job.schedule_zone or job.zone
    return Row(
        ledger=entry.ledger,
        namespace=job.job.namespace,
        name=job.job.name,
        link=link_to(str(job.job), entry.ledger if with_ledger else None, root),
        sign=entry.sign,
        counts=", ".join(f"{n} {name}" for name, n in entry.counts.items()),
        schedule=schedule(job),
        oldest=name_of(first) if first else "",
        oldest_at=maybe_when(first.at, first.zone, now) if first else None,
        lateness=lateness(first) if first else "",
        reason=short(first.reason) if first else "",
        held=short(line.holds[0].reason) if line.holds else "",
        owner=one_line(job.owner),
        severity=one_line(job.severity),
        last_done=job.last_done or "",
        last_done_at=_instant(job.last_done, zone, now),
        next=when(line.next, zone, now) if line.next else None,
    )


def _instant(text: str | None, zone: str | None, now: datetime) -> When | None:
    """Return the instant of a scheduled period; the others name days, and say enough."""
    if text is None:
        return None
    period = Period(text)
    at = period.scheduled_for(zone) if period.cycle is Cycle.SCHEDULED else None
    return maybe_when(at, zone, now)


def link_to(job: str, ledger: str | None, root: str, **more: str) -> str:
    """Return the address of a job's page."""
    given = {"ledger": ledger, **more} if ledger else more
    return f"{root}/jobs/{quote(job)}" + (f"?{urlencode(given)}" if given else "")


def told(shown: int, all_of_them: int) -> str:
    """Return how many jobs are shown of how many."""
    jobs = count(all_of_them, "job")
    return jobs if shown == all_of_them else f"{shown} of {jobs}"
