"""``describe -o json``: a period or a job with all that belongs to it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from k8sjob.view import attempts, jobs, periods
from k8sjob.view.gaps import notes
from k8sjob.view.oddities import oddities
from k8sjob.view.periods import stamp
from k8sjob.view.portrait import known, line_of
from k8sjob.view.story import is_expired, state_in, what_now
from k8sjob.view.tracking import freshness

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from k8sjob.expect import Version
    from k8sjob.key import JobName, Key
    from k8sjob.ledger.launches import Launch
    from k8sjob.ledger.read import EventRow, HoldRow, JobRow, PassRow, Snapshot


def of_period(seen: Snapshot, key: Key) -> dict[str, Any]:
    """Return the stable form; ``docs/reference.md`` lists its fields."""
    line = periods.line_of(seen, key)
    return {
        "period": periods.as_json(seen, line),
        "expired": is_expired(seen, key),
        "launches": [_launch(one) for one in seen.launches],
        "attempts": [attempts.as_json(one, seen.now) for one in seen.attempts],
        "events": [_event(one) for one in seen.events],
        "holds": [_hold(one) for one in seen.holds if one.covers(key.job)],
        "known": list(oddities(seen, key)),
        "what_now": list(what_now(seen, key, state_in(seen, key))),
        "notes": notes(seen),
    }


def of_job(seen: Snapshot, name: JobName) -> dict[str, Any]:
    """Return the stable form; ``docs/reference.md`` lists its fields."""
    line = line_of(seen, name)
    job = line.job
    return {
        "job": jobs.as_json(line),
        "versions": [_version(one) for one in job.versions],
        "reconciler": _reconciler(job, seen.now),
        "limits": _limits(job),
        "holds": [_hold(one) for one in seen.holds if one.covers(name)],
        "counters": dict(sorted(seen.counters.items())),
        "unfinished": [periods.as_json(seen, one) for one in line.unfinished],
        "attempts": [attempts.as_json(one, seen.now) for one in seen.attempts],
        "known": known(seen),
        "notes": notes(seen),
    }


def _launch(launch: Launch) -> dict[str, Any]:
    return {
        "name": launch.name,
        "uid": launch.uid,
        "generation": launch.generation,
        "try": launch.try_,
        "noted_at": stamp(launch.noted_at),
        "reason": launch.reason,
    }


def _event(event: EventRow) -> dict[str, Any]:
    return {
        "at": stamp(event.at),
        "kind": event.kind,
        "generation": event.generation,
        "from": event.from_state,
        "to": event.to_state,
        "by": event.by,
        "db_user": event.db_user,
        "reason": event.reason,
    }


def _hold(hold: HoldRow) -> dict[str, Any]:
    return {
        "id": hold.id,
        "namespace": hold.namespace,
        "job": hold.job,
        "reason": hold.reason,
        "from": stamp(hold.from_at),
        "until": stamp(hold.until),
        "set_by": hold.set_by,
        "set_at": stamp(hold.set_at),
    }


def _version(version: Version) -> dict[str, Any]:
    return {
        "n": version.n,
        "schedule": version.expr,
        "time_zone": version.zone,
        "suspended": version.suspended,
        "earliest_from": stamp(version.earliest_from),
        "from": stamp(version.valid_from),
        "earliest_to": stamp(version.earliest_to),
        "to": stamp(version.valid_to),
    }


def _reconciler(job: JobRow, now: datetime) -> dict[str, Any] | None:
    """Return what is known of the passes over the job; None where it is not tracked."""
    if not job.is_tracked:
        return None
    fresh = freshness(job.passes)
    return {
        "last": _pass(fresh.last),
        "last_complete": _pass(fresh.complete),
        "usual_gap_s": _seconds(fresh.usual),
        "stale": fresh.is_stale(now),
        "blind_since": stamp(job.blind_since),
        "unstarted_since": stamp(job.unstarted_since),
    }


def _pass(one: PassRow | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "scope": one.scope,
        "started_at": stamp(one.started_at),
        "ended_at": stamp(one.ended_at),
        "ok": one.ok,
        "failing": one.failing,
        "message": one.message,
    }


def _limits(job: JobRow) -> dict[str, Any]:
    return {
        "grace_s": job.grace_s,
        "max_duration_s": job.max_duration_s,
        "retention_s": job.retention_s,
        **job.limits,
    }


def _seconds(length: timedelta | None) -> float | None:
    return length.total_seconds() if length else None
