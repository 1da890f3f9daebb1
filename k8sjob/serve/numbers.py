"""The numbers of a scrape: what a ledger's facts are, by metric and labels. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from k8sjob.serve.labels import Labels, labels_of
from k8sjob.serve.metrics import OUTCOMES, STATES
from k8sjob.serve.owed import nominal, owed_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from k8sjob.ledger.scrape import Facts, JobFacts, PassFacts
    from k8sjob.serve.owed import Owed

#: So far behind another one that covers it, a scope is not in use.
_LEFT_BEHIND = timedelta(minutes=10)

#: One value of a metric (its name without the prefix).
Number = tuple[str, Labels, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One ledger at one scrape. ``facts`` None: it did not answer, and ``trouble`` says why."""

    ledger: str
    took_s: float
    facts: Facts | None = None
    trouble: str | None = None


def numbers(reading: Reading) -> Iterator[Number]:
    """Return all values of one ledger."""
    facts, name = reading.facts, labels_of("ledger", reading.ledger)
    yield "up", name, 0 if facts is None else 1
    yield "scrape_duration_seconds", name, reading.took_s
    if facts is None:
        return
    yield from _of_ledger(facts, name)
    owed = owed_of(facts)
    for job in facts.jobs:
        mine = owed.get(job.job, {})
        if not job.gone or mine:
            yield from _of_job(job, mine, facts, _names(reading.ledger, job.job))


def _of_ledger(facts: Facts, name: Labels) -> Iterator[Number]:
    yield "schema_version", name, facts.schema_version
    for state, count in facts.outbox.items():
        yield "outbox_messages", name.plus("state", state), count
    yield "outbox_oldest_pending_timestamp_seconds", name, _unix(facts.outbox_oldest)
    for one in _in_use(facts.passes):
        scope = name.plus("scope", one.scope)
        yield "reconcile_last_success_timestamp_seconds", scope, _unix(one.last_complete_at)
        yield "reconcile_duration_seconds", scope, one.duration_s
        yield "reconcile_failing_jobs", scope, one.failing


def _in_use(passes: Sequence[PassFacts]) -> Iterator[PassFacts]:
    """Return the scopes that no other one has taken the place of: nobody passes over those again.

    A reconciler that was moved to other namespaces, or to all, leaves one behind.
    """
    for one in passes:
        if not any(_covers(other, one) and _is_ahead(other, one) for other in passes):
            yield one


def _covers(one: PassFacts, other: PassFacts) -> bool:
    if one.scope == "*" or other.scope == "*":
        return one.scope == "*"
    return set(one.scope.split(",")) >= set(other.scope.split(","))


def _is_ahead(one: PassFacts, other: PassFacts) -> bool:
    late = one.last_complete_at and one.last_complete_at - _LEFT_BEHIND
    return late is not None and (other.last_complete_at is None or other.last_complete_at < late)


class _Names(NamedTuple):
    """The labels of one job's series."""

    own: Labels
    states: tuple[tuple[str, Labels], ...]
    outcomes: tuple[tuple[str, Labels], ...]


@lru_cache(maxsize=100_000)  # the same at each scrape
def _names(ledger: str, job: str) -> _Names:
    namespace, _, name = job.partition("/")
    own = labels_of("ledger", ledger, "namespace", namespace, "cronjob", name)
    return _Names(
        own,
        tuple((state, own.plus("state", state)) for state in STATES),
        tuple((outcome, own.plus("outcome", outcome)) for outcome in OUTCOMES),
    )


def _of_job(
    job: JobFacts, owed: Mapping[str, Owed], facts: Facts, names: _Names
) -> Iterator[Number]:
    own = names.own
    yield "job_info", _info(own, job), 1
    for state, labels in names.states:
        one = owed.get(state)
        yield "unfinished_periods", labels, one.count if one else 0
        oldest, deadline = (_unix(one.oldest), _unix(one.deadline)) if one else (0, 0)
        yield "oldest_unfinished_period_timestamp_seconds", labels, oldest
        yield "oldest_unfinished_deadline_timestamp_seconds", labels, deadline
    blocked, awaiting = owed.get("blocked"), owed.get("awaiting")
    stopped = [at for at in (job.held_since, blocked and blocked.changed) if at]
    beyond = facts.beyond
    yield "job_suspended", own, int(job.suspended)
    yield "tracked_since_timestamp_seconds", own, _unix(job.tracked_since)
    yield "tail_truncated", own, int(job.job in beyond.truncated)
    yield "done_until_timestamp_seconds", own, _unix(job.done_until)
    yield "last_done_period_timestamp_seconds", own, _unix(_last_done(job))
    yield "last_success_timestamp_seconds", own, _unix(job.last_success_at)
    yield "next_period_timestamp_seconds", own, _unix(beyond.next_fire.get(job.job))
    yield "running_since_timestamp_seconds", own, _unix(job.running_since)
    yield "max_duration_seconds", own, job.max_duration_s or 0
    yield "created_unstarted_since_timestamp_seconds", own, _unix(job.unstarted_since)
    yield "last_duration_seconds", own, job.last_duration_s or 0
    yield "last_start_delay_seconds", own, job.last_start_delay_s or 0
    yield "last_start_slot_timestamp_seconds", own, _unix(job.last_start_slot)
    yield "consecutive_failures", own, job.consecutive_failures
    yield "blocked_since_timestamp_seconds", own, _unix(min(stopped, default=None))
    effect = awaiting.await_deadline if awaiting else None
    yield "awaiting_deadline_timestamp_seconds", own, _unix(effect)
    for outcome, labels in names.outcomes:
        yield "attempts_total", labels, facts.counters.get((job.job, outcome), 0)


def _info(own: Labels, job: JobFacts) -> Labels:
    return own.plus(
        *("schedule", job.schedule or "", "time_zone", job.zone or "", "cycle", str(job.kind)),
        *("catch_up", job.catch_up or "", "owner", job.owner or ""),
        *("severity", job.severity or "", "kube_cronjob", job.cronjob or ""),
    )


def _last_done(job: JobFacts) -> datetime | None:
    """Return the nominal instant; a job that runs once has none, and shows that it has run."""
    if job.last_done is None or job.last_done_for is not None:
        return job.last_done_for
    return nominal(job.last_done, job.zone) or job.last_done_at


def _unix(at: datetime | None) -> float:
    return at.timestamp() if at else 0
