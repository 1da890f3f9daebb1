"""Which period a run is for: the first source that answers; the others are not asked.

=== ================================== =====================================================
 1  what was passed                    ``--period``, ``K8SJOB_PERIOD``
 2  the context file                   ``K8SJOB_CONTEXT``, written by ``k8sjob resolve``
 3  the ledger                         what this Job's UID stood for before
 4  the Job's annotation               ``k8sjob.io/period``, of a Job that backfill has made
 5  the Job's annotation               ``batch.kubernetes.io/cronjob-scheduled-timestamp``
 6  the job's policy for manual runs   where the Job is neither
 7  the downward API                   ``K8SJOB_SCHEDULED_TIMESTAMP``, as 5
 8  the Job's name                     ``<cronjob>-<minutes since 1970>``
=== ================================== =====================================================

Never now, never a Pod's name, never the time at which something was made. Pure: whatever has to be
asked is behind :class:`k8sjob.run.origin.case.Facts`. docs/periods.md tells it to users.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from k8sjob.key import Key
from k8sjob.ledger.known import Resolution
from k8sjob.run.lateness import lateness
from k8sjob.run.origin.case import Case, Facts, Found
from k8sjob.run.origin.from_cluster import FIRED, from_api, from_downward_api, from_name
from k8sjob.run.origin.on_schedule import check_on_schedule, window_end
from k8sjob.run.origin.passed_on import as_kept, from_context, from_flags, from_ledger, origin
from k8sjob.run.origin.refusal import unresolved
from k8sjob.run.origin.sources import Asked, Resolved

if TYPE_CHECKING:
    from k8sjob.errors import K8sjobError
    from k8sjob.ledger.known import Known

log = logging.getLogger("k8sjob")

__all__ = ["Asked", "Facts", "Resolved", "resolve"]


def resolve(asked: Asked, facts: Facts) -> Resolved:
    """Return the period of this run.

    Raises NoPeriod where no source has one, or what the trouble with a source means for another
    try (Denied, TryAgain, Unavailable); ConfigError, InvalidKey, UsageError for wrong settings.
    """
    case = Case(asked, facts)
    found = (
        from_flags(case)
        or from_context(case)
        or from_ledger(case, asked.job_uid)
        or from_api(case)
        or from_downward_api(case)
        or from_name(case)
    )
    if found is None:
        raise unresolved(case)
    if case.trouble is not None:
        _warn(case.trouble, found)
    return _complete(case, _kept(case, found))


def _warn(trouble: K8sjobError, found: Found) -> None:
    """Say what is broken though this run does without it: the next one may not."""
    what, advice = getattr(trouble, "what", str(trouble)), getattr(trouble, "advice", "")
    log.warning(
        "the period is from %s, since the Kubernetes API did not tell: %s\n  %s",
        *(found.source, what, advice),
        extra={"event": "api_trouble", "source": found.source},
    )


def _kept(case: Case, found: Found) -> Found:
    """Keep the answer for this Job's other Pods, and take theirs if one was faster."""
    if found.kept or case.job_uid is None:
        return found
    older = found.supersedes
    text = f"{older.first}..{older.last}" if older else None
    mine = Resolution(found.job.job, found.period, origin(found.source), text)
    kept = case.facts.remember(case.job_uid, mine)
    if kept is None or (kept.job, kept.period) == (mine.job, mine.period):
        return found
    return as_kept(case, kept)


def _complete(case: Case, found: Found) -> Resolved:
    known = case.known(found.job)
    zone = case.asked.zone or found.zone or (known.zone if known else None)
    if found.passed and known and not case.asked.off_schedule:
        check_on_schedule(Key(found.job, found.period), known)
    end = window_end(found.period, known) if known else None
    if zone and found.period.cycle.on_calendar:
        end = found.period.window(zone).end
    return Resolved(
        job=found.job,
        period=found.period,
        source=found.source,
        zone=zone,
        fire=found.fire,
        window_end=end or found.window_end,
        cronjob=found.cronjob or case.asked.cronjob,
        job_uid=case.job_uid,
        job_name=case.asked.job_name,
        supersedes=found.supersedes,
        late=_late(case, found, zone, known),
        at=known.now if known else None,
    )


def _late(case: Case, found: Found, zone: str | None, known: Known | None) -> str | None:
    """Say that it is too late, by the ledger's clock; without a ledger nobody can tell."""
    if known is None or origin(found.source) not in FIRED:
        return None
    longest = case.asked.max_lateness_s
    longest = known.limits.get("max_lateness_s") if longest is None else longest
    if longest is None:
        return None
    return lateness(found.period, zone, found.fire, known.now, float(longest))
