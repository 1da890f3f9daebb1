"""Versions of a job's schedule, from lists of CronJobs that lie some time apart. Pure.

A list shows what is, never since when. The start of what is new lies between the list before and
this one; Kubernetes' own `marks` (creation, generation, managedFields) only narrow that. They are
by the clock that starts Jobs, the lists by the ledger's: `SKEW` goes between the two.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from k8sjob.cycle import Cycle
from k8sjob.errors import ConfigError
from k8sjob.expect import Version
from k8sjob.ledger.watch import VersionChange
from k8sjob.reconcile.marks import (
    Between,
    created,
    edited,
    enabled,
    exactly,
    latest,
    may_have_been_edited,
)
from k8sjob.reconcile.seen import SKEW

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from k8sjob.kube.objects import CronJob
    from k8sjob.ledger.watch import Tracked
    from k8sjob.reconcile.seen import Named, Span

#: kubectl apply writes it in one go with what it applies, so it says nothing of its own.
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPlan:
    """What a list changes of one job, and what is known of it then. None: nothing to write."""

    kind: Cycle
    settings: Mapping[str, Any] | None = None
    change: VersionChange | None = None
    versions: Sequence[Version] = ()
    words: str | None = None


def plan_seen(known: Tracked | None, named: Named, span: Span) -> JobPlan:
    """Return what changes for a job whose CronJob was listed.

    Raises:
        ConfigError: the schedule cannot be tracked, or the kind of its periods would change.
    """
    cron = named.cron
    _check_schedule(cron)
    kind = _kind(known, named)
    settings = _settings(named, cron)
    old = known.current if known else None
    change, what = None, None
    if old is None:
        change, what = _begin(known, cron, named, span), "tracked"
    elif known is not None and known.settings.get("cronjob_uid") not in (None, cron.uid):
        change, what = _replace(known, old, cron, named, span), "another CronJob"
    elif known is not None:
        change, what = _edit(known, old, cron, named, span)
    same = known is not None and known.blind_since is None and dict(known.settings) == settings
    return JobPlan(
        kind=kind,
        settings=None if same and change is None else settings,
        change=change,
        versions=_after(known, change),
        words=what if change else None,
    )


def plan_gone(known: Tracked, span: Span) -> JobPlan | None:
    """Return what changes for a job that no CronJob stands for any more; None: nothing."""
    old = known.current
    if old is None or known.kind is None:
        return None
    end = _since_seen(known, old, span)
    change = VersionChange(job=known.job, known_n=old.n, earliest_to=end.low, valid_to=end.high)
    return JobPlan(kind=known.kind, change=change, versions=_after(known, change), words="gone")


def _check_schedule(cron: CronJob) -> None:
    probe = _version(0, cron, Between(cron.created, cron.created))
    if probe.schedule.every is not None:
        raise ConfigError(
            f"schedule {cron.schedule!r} has no fixed instants, so its periods cannot be expected "
            "and it is not tracked: write five fields; claims work all the same"
        )


def _kind(known: Tracked | None, named: Named) -> Cycle:
    wanted = named.policy.cycle
    if known is None or known.kind is None:
        return wanted or Cycle.SCHEDULED
    if wanted is not None and wanted is not known.kind:
        raise ConfigError(
            f"its periods are of kind {known.kind} and the CronJob now says {wanted}: the kind is "
            "fixed, give the job a new name (annotation k8sjob.io/job)"
        )
    return known.kind


# --------------------------------------------------------------------------------------- changes


def _begin(known: Tracked | None, cron: CronJob, named: Named, span: Span) -> VersionChange:
    """Return the first version of a job, or the next after its CronJob was gone."""
    # Nothing is known of what was before the first list of all: tracking begins with it.
    first = Between(span.began, span.began + SKEW)
    last = (known.blind_since if known else None) or span.last
    start = first if last is None else _start_of(cron, last - SKEW, span)
    return VersionChange(
        job=named.job,
        known_n=0,
        begins=_version((known.last_n if known else 0) + 1, cron, start),
        cronjob_uid=cron.uid,
    )


def _start_of(cron: CronJob, low: datetime, span: Span) -> Between:
    return enabled(cron, low, span) if cron.created <= low else created(cron, span)


def _replace(
    known: Tracked, old: Version, cron: CronJob, named: Named, span: Span
) -> VersionChange:
    """Return the change where another CronJob stands for the job: made anew, or renamed."""
    end = _since_seen(known, old, span)
    start = _start_of(cron, end.low, span)
    # Two of one name are never there at once, and so the old one ended before the new one began.
    upto = start.high if known.settings.get("cronjob") == cron.name else end.high
    return VersionChange(
        job=named.job,
        known_n=old.n,
        earliest_to=end.low,
        valid_to=max(upto, old.valid_from),
        begins=_version(known.last_n + 1, cron, start),
        cronjob_uid=cron.uid,
    )


def _edit(
    known: Tracked, old: Version, cron: CronJob, named: Named, span: Span
) -> tuple[VersionChange | None, str | None]:
    """Return the change where the same CronJob was written to, and what it is called."""
    steps = cron.generation - (known.settings.get("spec_generation") or 0)
    same = (old.expr, old.zone, old.suspended) == (cron.schedule, cron.zone, cron.suspended)
    low = _since_seen(known, old, span).low
    if same and (steps <= 1 or not may_have_been_edited(cron, low)):
        return None, None  # one write that left the schedule as it was, or none to it
    when = edited(cron, low, span, zone_was=old.zone, steps=steps)
    if not same and steps == 1 and known.settings.get("metadata_sha") == _metadata(cron):
        when = exactly(cron, when) or when
    change = VersionChange(
        job=named.job,
        known_n=old.n,
        earliest_to=when.low,
        valid_to=max(when.high, old.valid_from),
        begins=replace(_version(known.last_n + 1, cron, when), direct=steps == 1),
        cronjob_uid=cron.uid,
    )
    return change, _name_of(old, cron, same=same)


def _name_of(old: Version, cron: CronJob, *, same: bool) -> str:
    if same:
        return "written to more than once, perhaps suspended meanwhile"
    if old.suspended != cron.suspended:
        return "suspended" if cron.suspended else "resumed"
    return f"{old.expr} {old.place} → {cron.schedule} {cron.zone or 'Etc/UTC'}"


def _since_seen(known: Tracked, old: Version, span: Span) -> Between:
    """Return the time since the last list that has shown the job as it is known."""
    last = known.blind_since or span.last or known.observed_at
    low = max(last - SKEW, old.earliest_from) if last else old.earliest_from
    return Between(low, max(latest(span, low), old.valid_from))


# -------------------------------------------------------------------------------------- settings


def _version(n: int, cron: CronJob, when: Between) -> Version:
    return Version(
        n=n,
        expr=cron.schedule,
        zone=cron.zone,
        suspended=cron.suspended,
        earliest_from=when.low,
        valid_from=when.high,
    )


def _settings(named: Named, cron: CronJob) -> dict[str, Any]:
    """Return the job's row as the CronJob has it, in the form that the ledger gives it back."""
    policy = named.policy
    limits = {
        "cycle": policy.cycle and str(policy.cycle),
        "manual_runs": policy.manual_runs and str(policy.manual_runs),
        "max_lateness_s": policy.max_lateness_s,
        "catch_up_max_count": policy.catch_up_max_count,
        "catch_up_max_age_s": policy.catch_up_max_age_s,
    }
    return {
        "cronjob": cron.name,
        "cronjob_uid": cron.uid,
        "spec_generation": cron.generation,
        "metadata_sha": _metadata(cron),
        "zone": cron.zone,
        "suspended": cron.suspended,
        "catch_up": str(policy.catch_up),
        "limits": {name: value for name, value in limits.items() if value is not None},
        "grace_s": _whole(policy.grace_s),
        "max_duration_s": _whole(policy.max_duration_s),
        "retention_s": _whole(policy.retention_s),
        "owner": policy.owner,
        "severity": policy.severity,
        "runbook": policy.runbook,
    }


def _whole(seconds: float | None) -> int | None:
    return None if seconds is None else int(seconds)


def _metadata(cron: CronJob) -> str:
    """Return a digest of what a write can change without a new generation."""
    shown = (
        sorted(cron.labels.items()),
        sorted((name, text) for name, text in cron.annotations.items() if name != _APPLIED),
    )
    return sha256(repr(shown).encode()).hexdigest()[:16]


def _after(known: Tracked | None, change: VersionChange | None) -> Sequence[Version]:
    """Return the versions as they are once the change is made."""
    before = list(known.versions) if known else []
    if change is None:
        return before
    if change.known_n and before:
        last = before[-1]
        before[-1] = replace(last, earliest_to=change.earliest_to, valid_to=change.valid_to)
    return [*before, change.begins] if change.begins else before
