"""``describe NS/NAME``: one job. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.states import State
from k8sjob.view.gaps import notes
from k8sjob.view.jobs import lines as job_lines
from k8sjob.view.jobs import oldest, schedule, upcoming
from k8sjob.view.oddities import of_attempt
from k8sjob.view.story import attempt_line, hold_lines, output_lines, section
from k8sjob.view.tracking import limit_lines, pass_lines, tracked_lines, version_lines
from k8sjob.view.words import count, local, utc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from k8sjob.key import JobName
    from k8sjob.ledger.read import Snapshot
    from k8sjob.view.jobs import JobLine

#: Unfinished periods that are shown; the rest is counted.
_MOST = 20


def portrait(seen: Snapshot, name: JobName) -> Iterator[str]:
    """Yield the lines of a job's portrait."""
    line = line_of(seen, name)
    job = line.job
    yield from section("Job", [str(name)])
    yield from section("Kind", [str(job.kind or "not known: it has no period yet")])
    yield from section("Zone", [job.zone or "not known"])
    yield from section("Schedule", _schedule(seen, line))
    yield from section("Versions", version_lines(job.versions) if job.is_tracked else ())
    yield from section("Tracked", tracked_lines(job))
    yield from section("Last pass", pass_lines(job, seen.now))
    yield from section("Limits", limit_lines(job))
    if job.floor is not None:
        yield from section("Floor", [f"{job.floor} (what is older and finished may be pruned)"])
    holds = [hold for hold in seen.holds if hold.covers(name)]
    yield from section("Holds", hold_lines(seen, holds))
    yield from section("Last done", [_last_done(seen, name, line) or "never"])
    yield from section("Counters", _counters(seen, line))
    yield from section("Unfinished", [*_unfinished(line), *notes(seen)])
    yield from section("Attempts", _attempts(seen))
    yield from section("Known", known(seen))


def _attempts(seen: Snapshot) -> Iterator[str]:
    """Yield the last attempts, the newest first; of the newest that failed also what it said."""
    told = False
    for attempt in seen.attempts:
        yield attempt_line(attempt, seen)
        if attempt.exit_code and not told:
            yield from output_lines(attempt)
            told = True


def known(seen: Snapshot) -> list[str]:
    """Return what is odd about the job's last attempts."""
    return [text for attempt in seen.attempts for text in of_attempt(attempt, seen.now)]


def line_of(seen: Snapshot, name: JobName) -> JobLine:
    """Return the line of a job that was seen."""
    return next(job for job in job_lines(seen) if job.job.job == name.job)


def _last_done(seen: Snapshot, name: JobName, line: JobLine) -> str | None:
    """Return the newest done period, of the part where one is asked for."""
    if name.part is None:
        return line.job.last_done
    rows = [row for row in seen.rows.values() if row is not None and row.state == State.DONE]
    return max((str(row.key.period) for row in rows), default=None)


def _schedule(seen: Snapshot, line: JobLine) -> Iterator[str]:
    if line.job.schedule is None:
        yield "not known"
        return
    at = f" ({utc(line.next)}" if line.next else ""
    there = local(line.next, line.job.schedule_zone) if line.next else ""
    at += f" = {there}" if there else ""
    first = "next " if line.next else ""
    yield f"{schedule(line.job)}, {first}{upcoming(line, seen.now)}{at}{')' if at else ''}"


def _counters(seen: Snapshot, line: JobLine) -> Iterator[str]:
    told = ", ".join(f"{n} {outcome}" for outcome, n in sorted(seen.counters.items()))
    row = line.job.consecutive_failures
    yield (told or "no attempt has ended") + (f"; {row} failed in a row" if row else "")


def _unfinished(line: JobLine) -> Iterator[str]:
    for period in line.unfinished[:_MOST]:
        yield f"{period.state}  {oldest(period)}"
    if len(line.unfinished) > _MOST:
        yield f"and {count(len(line.unfinished) - _MOST, 'more period')}"
    if not line.unfinished:
        yield "nothing that the ledger knows of"
