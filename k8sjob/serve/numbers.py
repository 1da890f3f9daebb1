"""The numbers of a scrape: what a ledger's facts are, by metric and labels. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from k8sjob.errors import K8sjobError
from k8sjob.ledger.scrape import Owed
from k8sjob.period import Period
from k8sjob.serve.labels import Labels, labels_of
from k8sjob.serve.metrics import OUTCOMES, STATES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from k8sjob.expect import Expected
    from k8sjob.ledger.scrape import Facts, JobFacts
    from k8sjob.serve.tail import Tails

#: One value of a metric (its name without the prefix).
Number = tuple[str, "Labels", float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One ledger at one scrape. ``facts`` None: it did not answer, and ``trouble`` says why."""

    ledger: str
    took_s: float
    facts: Facts | None = None
    tails: Tails | None = None
    trouble: str | None = None


def numbers(reading: Reading) -> Iterator[Number]:
    """Return all values of one ledger."""
    name = labels_of("ledger", reading.ledger)
    yield "up", name, 0 if reading.facts is None else 1
    yield "scrape_duration_seconds", name, reading.took_s
    if reading.facts is None or reading.tails is None:
        return
    facts, tails = reading.facts, reading.tails
    yield "schema_version", name, facts.schema_version
    for state, count in facts.outbox.items():
        yield "outbox_messages", name.plus("state", state), count
    yield "outbox_oldest_pending_timestamp_seconds", name, _unix(facts.outbox_oldest)
    for one in facts.passes:
        scope = name.plus("scope", one.scope)
        yield "reconcile_last_success_timestamp_seconds", scope, _unix(one.last_success_at)
        yield "reconcile_duration_seconds", scope, one.duration_s
        yield "reconcile_failing_jobs", scope, one.failing
    owed = owed_of(facts, tails)
    for job in facts.jobs:
        mine = owed.get(job.job, {})
        if not job.gone or mine:
            yield from _of_job(job, mine, facts, tails, _names(reading.ledger, job.job))


class _Names(NamedTuple):
    """The labels of one job's series."""

    own: Labels
    states: tuple[tuple[str, Labels], ...]
    outcomes: tuple[tuple[str, Labels], ...]


@lru_cache(maxsize=100_000)  # the same at each scrape
def _names(ledger: str, job: str) -> _Names:
    namespace, _, rest = job.partition("/")
    own = labels_of("ledger", ledger, "namespace", namespace, "cronjob", rest)
    return _Names(
        own,
        tuple((state, own.plus("state", state)) for state in STATES),
        tuple((outcome, own.plus("outcome", outcome)) for outcome in OUTCOMES),
    )


def owed_of(facts: Facts, tails: Tails) -> dict[str, dict[str, Owed]]:
    """Return what each job owes by state: what is stored, and what the tail adds."""
    found: dict[str, dict[str, Owed]] = {}
    for one in facts.owed:
        if one.state in STATES:  # what is decided on for a time to come is none yet
            found.setdefault(one.job, {})[one.state] = one
    for job, each in tails.found.items():
        for period in each:
            key = (job, str(period.period))
            if key not in facts.stored:
                state = _state(period, alive=key in facts.alive, now=facts.now)
                _add(found.setdefault(job, {}), job, state, period)
    return found


def _state(period: Expected, *, alive: bool, now: datetime) -> str:
    if alive:
        return "running"
    if period.deadline > now:
        return "due"
    return "uncertain" if period.uncertain else "missing"


def _add(owed: dict[str, Owed], job: str, state: str, period: Expected) -> None:
    at = period.scheduled_for or period.first_fire
    before = owed.get(state)
    if before is None:
        owed[state] = Owed(job=job, state=state, count=1, oldest=at, deadline=period.deadline)
        return
    owed[state] = replace(
        before,
        count=before.count + 1,
        oldest=min(before.oldest or at, at),
        deadline=min(before.deadline or period.deadline, period.deadline),
    )


def _of_job(
    job: JobFacts, owed: Mapping[str, Owed], facts: Facts, tails: Tails, names: _Names
) -> Iterator[Number]:
    name = names.own
    yield "job_info", _info(name, job), 1
    for state, labels in names.states:
        one = owed.get(state)
        yield "unfinished_periods", labels, one.count if one else 0
        oldest, deadline = (one.oldest, one.deadline) if one else (None, None)
        yield "oldest_unfinished_period_timestamp_seconds", labels, _unix(oldest)
        yield "oldest_unfinished_deadline_timestamp_seconds", labels, _unix(deadline)
    blocked, awaiting = owed.get("blocked"), owed.get("awaiting")
    effect = awaiting.await_deadline if awaiting else None
    stopped = [at for at in (job.held_since, blocked and blocked.changed) if at]
    values: tuple[tuple[str, float], ...] = (
        ("job_suspended", job.suspended),
        ("tracked_since_timestamp_seconds", _unix(job.tracked_since)),
        ("tail_truncated", job.job in tails.truncated),
        ("done_until_timestamp_seconds", _unix(job.done_until)),
        ("last_done_period_timestamp_seconds", _unix(_nominal(job))),
        ("last_success_timestamp_seconds", _unix(job.last_success_at)),
        ("next_period_timestamp_seconds", _unix(tails.next_fire(job, facts.now))),
        ("running_since_timestamp_seconds", _unix(job.running_since)),
        ("max_duration_seconds", job.max_duration_s or 0),
        ("created_unstarted_since_timestamp_seconds", _unix(job.unstarted_since)),
        ("last_duration_seconds", job.last_duration_s or 0),
        ("last_start_delay_seconds", job.last_start_delay_s or 0),
        ("consecutive_failures", job.consecutive_failures),
        ("blocked_since_timestamp_seconds", _unix(min(stopped, default=None))),
        (
            "awaiting_deadline_timestamp_seconds",
            _unix(effect),
        ),
    )
    for metric, value in values:
        yield metric, name, value
    for outcome, labels in names.outcomes:
        yield "attempts_total", labels, facts.counters.get((job.job, outcome), 0)


def _info(name: Labels, job: JobFacts) -> Labels:
    return name.plus(
        *("schedule", job.schedule or "", "time_zone", job.zone or "", "cycle", str(job.kind)),
        *("catch_up", job.catch_up or "", "owner", job.owner or ""),
        *("severity", job.severity or ""),
    )


def _nominal(job: JobFacts) -> datetime | None:
    if job.last_done is None:
        return None
    try:
        return Period(job.last_done).scheduled_for(job.zone or "Etc/UTC")
    except K8sjobError:  # a zone that another version of the data knows
        return None


def _unix(at: datetime | None) -> float:
    return at.timestamp() if at else 0
