"""When a CronJob was written to, as far as Kubernetes' own marks tell. Pure.

An entry of managedFields has one time, its manager's last change of any field: what is looked for
came then or before. What was taken away leaves no time at all, since an entry's moves only when its
manager sets something (measured; apimachinery, managedfields/internal/managedfieldsupdater.go). Of
a schedule only ``timeZone`` can be taken away: ``suspend`` falls back to false.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from k8sjob.reconcile.seen import SKEW

if TYPE_CHECKING:
    from datetime import datetime

    from k8sjob.kube.objects import CronJob, Managed
    from k8sjob.reconcile.seen import Span

#: The marks of the API have whole seconds, rounded down.
SECOND = timedelta(seconds=1)

_OF_SCHEDULE = frozenset({"schedule", "timeZone", "suspend"})
#: What makes it this job's, and lists show it.
_OF_JOB = frozenset({"enabled-label", "annotations"})


@dataclass(frozen=True, slots=True)
class Between:
    """An interval ``(low, high]`` in which something happened."""

    low: datetime
    high: datetime


def created(cron: CronJob, span: Span) -> Between:
    """Return when a new CronJob began to be as it is: at its creation, or at a write since."""
    if cron.generation <= 1 and not _touched_since(cron, cron.created + SECOND):
        return Between(cron.created, cron.created)
    told = not _may_have_lost_its_zone(cron)
    return _between(cron, _OF_SCHEDULE | _OF_JOB, cron.created, span, told=told)


def enabled(cron: CronJob, low: datetime, span: Span) -> Between:
    """Return when one that was there before began to be the job's: its label was written, say.

    Where neither label nor annotation was, it may be by one that was taken away.
    """
    named = any(_is_of(entry, _OF_JOB) and _is_after(entry, low) for entry in cron.managed)
    told = named and not _may_have_lost_its_zone(cron)
    return _between(cron, _OF_SCHEDULE | _OF_JOB, low, span, told=told)


def edited(
    cron: CronJob, low: datetime, span: Span, *, zone_was: str | None, steps: int
) -> Between:
    """Return when the schedule was changed, in one of ``steps`` writes of spec since ``low``."""
    told = cron.zone is not None or (zone_was is None and steps <= 1)
    return _between(cron, _OF_SCHEDULE, low, span, told=told)


def may_have_been_edited(cron: CronJob, low: datetime) -> bool:
    """Whether one of several writes to the spec since ``low`` can have been to its schedule."""
    return cron.zone is None or _touched_since(cron, low, _OF_SCHEDULE)


def exactly(cron: CronJob, when: Between) -> Between | None:
    """Return the instant of the only write to the object since the list before.

    There was one, and it was to the schedule: so the entry's time is that write's, and no later
    one's.
    """
    times = {
        entry.time
        for entry in cron.managed
        if _is_of(entry, _OF_SCHEDULE) and entry.time and when.low < entry.time <= when.high
    }
    return Between(at := times.pop(), at) if len(times) == 1 else None


def latest(span: Span, low: datetime) -> datetime:
    """Return the instant by which all was done that a list shows."""
    return max(span.ended + SKEW, low)


def _between(
    cron: CronJob, owned: frozenset[str], low: datetime, span: Span, *, told: bool
) -> Between:
    """Return when what is ``owned`` was changed; ``told``: entries can tell of it."""
    times = [e.time for e in cron.managed if _is_of(e, owned) and e.time and _is_after(e, low)]
    last = latest(span, low)
    return Between(low, min(last, max(*times, low)) if told and times else last)


def _may_have_lost_its_zone(cron: CronJob) -> bool:
    return cron.zone is None and cron.generation > 1


def _touched_since(cron: CronJob, low: datetime, owned: frozenset[str] | None = None) -> bool:
    """Whether somebody wrote to it after ``low``, as far as managedFields can rule that out."""
    entries = [e for e in cron.managed if not e.subresource and (owned is None or _is_of(e, owned))]
    return not cron.managed or any(_is_after(entry, low) for entry in entries)


def _is_of(entry: Managed, owned: frozenset[str]) -> bool:
    return not entry.subresource and bool(entry.owns & owned)


def _is_after(entry: Managed, low: datetime) -> bool:
    return entry.time is None or entry.time > low - SECOND
