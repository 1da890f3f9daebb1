"""What the reconciler knows of a job, and how fresh that is. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from k8sjob.policy import CATCH_UP_MAX_AGE_S, CATCH_UP_MAX_COUNT, CatchUp
from k8sjob.view.words import one_line, span, utc

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from k8sjob.expect import Version
    from k8sjob.ledger.read import JobRow, PassRow

#: Versions that are shown, the newest of them.
_MOST = 10
#: A pass may be so late before it is worth a word: so many times the usual gap, else so long.
_GAPS, _LATE = 3, timedelta(minutes=15)


def version_lines(versions: Sequence[Version]) -> Iterator[str]:
    """Yield each version of a schedule, the newest last: from when to when it was in force."""
    if len(versions) > _MOST:
        yield f"({len(versions) - _MOST} before these)"
    for one in versions[-_MOST:]:
        zone = f" {one.zone}" if one.zone else ""
        idle = ", suspended" if one.suspended else ""
        yield f"{one.n}  {one.expr}{zone}{idle}  from {_start(one)}{_end(one)}"


def _start(version: Version) -> str:
    return _between(version.earliest_from, version.valid_from)


def _end(version: Version) -> str:
    if version.valid_to is None:
        return ", in force"
    return f" to {_between(version.earliest_to or version.valid_to, version.valid_to)}"


def _between(low: datetime, high: datetime) -> str:
    """Return an instant, or the two that it lies between."""
    return utc(high) if low == high else f"between {utc(low)} and {utc(high)}"


def tracked_lines(job: JobRow) -> Iterator[str]:
    """Yield since when the job is tracked, and up to where what is due is stored."""
    if job.tracked_since is None:
        return
    mark = f", what was due is stored up to {utc(job.done_until)}" if job.done_until else ""
    name = f" CronJob {job.cronjob}," if job.cronjob and job.cronjob != job.job.name else ""
    yield f"{name} since {utc(job.tracked_since)}{mark}".strip()
    if job.gone_at is not None:
        yield f"its CronJob was gone when it was listed at {utc(job.gone_at)}"
    if job.blind_since is not None:
        yield (
            f"its CronJob could not be read since {utc(job.blind_since)}, so what its schedule is "
            "by now is not known: k8sjob reconcile --dry-run says why"
        )
    if job.unstarted_since is not None:
        yield f"a Job of it stands since {utc(job.unstarted_since)} and has started nothing"


# ------------------------------------------------------------------------------------- passes


@dataclass(frozen=True, slots=True)
class Freshness:
    """The last pass, the last complete one, and the usual gap between those; None: not known."""

    last: PassRow | None
    complete: PassRow | None
    usual: timedelta | None

    def is_stale(self, now: datetime) -> bool:
        """Whether the last complete pass is so old that nobody may be looking any more."""
        late = _GAPS * self.usual if self.usual else _LATE
        return self.complete is None or now - self.complete.started_at > late


def freshness(passes: Sequence[PassRow]) -> Freshness:
    """Return what the last passes tell, the newest first."""
    complete = [one for one in passes if is_complete(one)]
    gaps = [
        (late.started_at - early.started_at).total_seconds() for late, early in pairwise(complete)
    ]
    return Freshness(
        last=passes[0] if passes else None,
        complete=complete[0] if complete else None,
        usual=timedelta(seconds=median(gaps)) if gaps else None,
    )


def is_complete(one: PassRow) -> bool:
    """Whether all was looked at, be it that something could not be done for some jobs."""
    return one.ended_at is not None and bool(one.ok or one.failing)


def pass_lines(job: JobRow, now: datetime) -> Iterator[str]:
    """Yield the last pass over the job, and a warning where nobody seems to look any more."""
    if not job.is_tracked:
        return
    fresh = freshness(job.passes)
    if fresh.last is not None:
        yield f"{_age(fresh.last, now)}: {_how(fresh.last)}"
    if not fresh.is_stale(now):
        return
    usual = f", usually one every {span(fresh.usual)}" if fresh.usual else ""
    last = f"the last complete pass was {_age(fresh.complete, now)}" if fresh.complete else (
        "no complete pass is known"
    )  # fmt: skip
    yield f"WARNING: {last}{usual}. What came since is worked out here; nothing of it is"
    yield "stored, caught up or closed. See to the reconciler: k8sjob reconcile --dry-run"


def _age(one: PassRow, now: datetime) -> str:
    return f"{utc(one.started_at)} ({span(now - one.started_at)} ago)"


def _how(one: PassRow) -> str:
    if one.ended_at is None:
        return "under way, or it was killed"
    if one.ok:
        return "ok"
    return one_line(one.message) or "not complete"


# ------------------------------------------------------------------------------------- limits


def limit_lines(job: JobRow) -> Iterator[str]:
    """Yield what the CronJob's annotations say of the job, under their names."""
    if job.is_tracked:
        told = [text for text in (_grace(job), *_limits(job), _catch_up(job)) if text]
        yield ", ".join(told)
        people = [("owner", job.owner), ("severity", job.severity), ("runbook", job.runbook)]
        if named := [f"{name} {one_line(text)}" for name, text in people if text]:
            yield ", ".join(named)


def _grace(job: JobRow) -> str:
    if job.grace_s is None:
        return "grace half the gap (1m to 1h)"
    return f"grace {span(timedelta(seconds=job.grace_s))}"


def _limits(job: JobRow) -> Iterator[str]:
    times = {
        "max-lateness": job.limits.get("max_lateness_s"),
        "max-duration": job.max_duration_s,
        "retention": job.retention_s,
    }
    for name, seconds in times.items():
        if seconds is not None:
            yield f"{name} {span(timedelta(seconds=seconds))}"
    if manual := job.limits.get("manual_runs"):
        yield f"manual-runs {manual}"


def _catch_up(job: JobRow) -> str:
    word = job.catch_up or CatchUp.FLAG
    if word not in (CatchUp.EVERY, CatchUp.LATEST):
        return f"catch-up {word}"
    count = job.limits.get("catch_up_max_count", CATCH_UP_MAX_COUNT)
    age = timedelta(seconds=job.limits.get("catch_up_max_age_s", CATCH_UP_MAX_AGE_S))
    return f"catch-up {word} (at most {count} Jobs in {span(age)}, none for older periods)"
