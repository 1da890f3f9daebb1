"""What a job's page is made of: what is asked for, and what the ledger has of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, timedelta
from typing import TYPE_CHECKING

from k8sjob.errors import ConfigError
from k8sjob.key import JobName, Key
from k8sjob.ledger.read import Where
from k8sjob.serve.layout import fires_of, last_fire, plan_of, schedule_of
from k8sjob.serve.web import NotThere
from k8sjob.serve.window import Wish, text_of, window_of
from k8sjob.view.asked import Asked, known_names, read_asked, unknown
from k8sjob.view.portrait import line_of
from k8sjob.zones import zone

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from k8sjob.ledger.read import AttemptRow, JobRow, Reader, Snapshot
    from k8sjob.serve.web import Request
    from k8sjob.serve.window import Window

#: Unfinished periods that are shown, the oldest; the rest is counted.
UNFINISHED = 20
#: Attempts that are shown, the newest: of the job, and of these periods.
ATTEMPTS, _ATTEMPTS_OF_PERIODS = 20, 200

#: Periods of one window, parts among them.
_MOST = 2000
_SECOND = timedelta(seconds=1)
_PARAMETERS = ("ledger", "until", "span", "period", "part")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which job, which window of its calendar, and which period of it is looked at closely."""

    job: JobName
    ledger: str | None = None
    wish: Wish = field(default_factory=Wish)
    period: Key | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the ledger has. ``window`` is None for a job whose periods have no time."""

    portrait: Snapshot
    attempts: Sequence[AttemptRow]
    zone: str
    fires: Sequence[datetime]
    window: Window | None = None
    calendar: Snapshot | None = None
    story: Snapshot | None = None

    @property
    def now(self) -> datetime:
        """The moment that all is told for."""
        return self.portrait.now


def read_wanted(request: Request, namespace: str, name: str) -> Wanted:
    """Read what is asked for. Raises UsageError, InvalidKey."""
    request.check(*_PARAMETERS)
    job = JobName(namespace, name)
    period, part = request.one("period"), request.one("part")
    span = request.number("span", 1, 1000) if request.one("span") else None
    return Wanted(
        job=job,
        ledger=request.one("ledger"),
        wish=Wish(until=request.one("until"), span=span),
        period=Key.of(replace(job, part=part), period) if period else None,
    )


def look(reader: Reader, wanted: Wanted, now: datetime) -> Found:
    """Read a job. Raises NotThere, UsageError and what the reader raises."""
    portrait = replace(reader.portrait(wanted.job, ATTEMPTS, now), now=now)
    if wanted.job not in portrait.jobs:
        raise NotThere(str(_unknown(portrait, wanted)))
    job = portrait.jobs[wanted.job]
    schedule = schedule_of(job)
    fires = fires_of(schedule, now) if schedule else _times_of(portrait)
    window, calendar = _calendar(reader, wanted, portrait, fires)
    return Found(
        portrait=portrait,
        attempts=_attempts(reader, portrait, wanted.job),
        zone=_zone_of(job),
        fires=fires,
        window=window,
        calendar=calendar,
        story=_story(reader, wanted.period, now) if wanted.period else None,
    )


def _unknown(seen: Snapshot, wanted: Wanted) -> Exception:
    return unknown("job", str(wanted.job), sorted(known_names(seen)), "k8sjob get jobs -A")


def _zone_of(job: JobRow) -> str:
    try:
        return zone(job.schedule_zone or job.zone or "Etc/UTC").key
    except ConfigError:  # a zone that another version of the data knows
        return "Etc/UTC"


def _times_of(seen: Snapshot) -> list[datetime]:
    """Return when the newest periods were, where no schedule says when they are."""
    rows = [row for row in seen.rows.values() if row is not None and row.scheduled_for]
    return sorted({row.scheduled_for for row in rows if row.scheduled_for})


def _calendar(
    reader: Reader, wanted: Wanted, seen: Snapshot, fires: Sequence[datetime]
) -> tuple[Window | None, Snapshot | None]:
    job = seen.jobs[wanted.job]
    if job.kind is None or not (fires or job.kind.on_calendar):
        return None, None
    window = _window(wanted, job, fires, seen.now)
    return window, replace(reader.periods(_where(job, window, seen.now)), now=seen.now)


def _window(wanted: Wanted, job: JobRow, fires: Sequence[datetime], now: datetime) -> Window:
    there, schedule = zone(_zone_of(job)), schedule_of(job)
    plan = plan_of(job.kind, fires, there)
    window = window_of(plan, wanted.wish, there, now)
    if wanted.wish.until or schedule is None:
        return window
    # Where the present window is empty, as on a Sunday, the last one with a fire says more.
    last = last_fire(schedule, now)
    if last is None or last >= window.start or fires[0] < window.end:
        return window
    until = text_of(plan.unit, last.astimezone(there))
    return window_of(plan, replace(wanted.wish, until=until), there, now)


def _where(job: JobRow, window: Window, now: datetime) -> Where:
    start, end = window.start.astimezone(UTC), window.end.astimezone(UTC) - _SECOND
    asked = Asked(words=[str(job.job)], start=start.isoformat(), end=end.isoformat(), limit=_MOST)
    where, _ = read_asked(asked, now)
    return replace(where, upto=max(now, end))  # what is to come stands in the calendar too


def _attempts(reader: Reader, seen: Snapshot, name: JobName) -> Sequence[AttemptRow]:
    """Return the newest attempts at the unfinished periods that are shown."""
    keys = [line.key for line in line_of(seen, name).unfinished[:UNFINISHED]]
    if not keys:
        return ()
    return reader.attempts(Where(keys=keys, limit=_ATTEMPTS_OF_PERIODS)).attempts


def _story(reader: Reader, key: Key, now: datetime) -> Snapshot:
    seen = replace(reader.story(key, now), now=now)
    if key in seen.rows:
        return seen
    if seen.attempts:  # all that was tried came to nothing: too early, expired, pruned
        return replace(seen, rows={key: None})
    raise NotThere(
        f"there is neither a row nor an attempt of {key}, and no schedule names it.\n"
        f"  See the calendar of {key.job.job} for those that there are."
    )
