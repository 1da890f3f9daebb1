"""What the ledger knows of a job before one of its periods is run."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from k8sjob.cycle import Cycle
from k8sjob.key import JobName

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from k8sjob.expect import Version
    from k8sjob.period import Period

#: A sign of life comes every half minute: after three minutes nobody knows any more.
ALIVE_FOR = timedelta(minutes=3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A job's facts at ``now``, by the ledger's own clock. Instants are aware UTC.

    ``cycle`` is the kind that its periods are bound to; None: it never had one. ``zone`` is that
    of the newest version of its schedule, else what the job's row says. ``limits`` is what its
    CronJob's annotations say, the absent ones left out. ``floor`` is a period's text. ``called``
    is what the job of the CronJob of this name is called, where that is something else.
    """

    job: JobName
    now: datetime
    cycle: Cycle | None = None
    zone: str | None = None
    limits: Mapping[str, Any] = field(default_factory=dict)
    grace_s: float | None = None
    tracked_since: datetime | None = None
    done_until: datetime | None = None
    floor: str | None = None
    versions: Sequence[Version] = ()
    called: JobName | None = None


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a Kubernetes Job stands for, once and for all, and where that came from.

    ``supersedes`` are the older periods that its run makes needless: ``FIRST..LAST``.
    """

    job: JobName
    period: Period
    source: str
    supersedes: str | None = None


def read_known(job: JobName, row: Mapping[str, Any]) -> Known:
    """Read a row of the query ``known``: its times aware, its versions as JSON has them.

    SQLite, for which there is no reconciler, has the first three columns only.
    """
    versions = tuple(map(read_version, row.get("versions") or ()))
    # Where a CronJob names no zone, its schedule is read in Kubernetes' own.
    zone = (versions[-1].zone if versions else None) or row["zone"]
    return Known(
        job=job,
        now=row["now_at"].astimezone(UTC),
        cycle=Cycle(row["kind"]) if row["kind"] else None,
        zone=zone or (versions[-1].place if versions else None),
        limits=row.get("limits") or {},
        grace_s=row.get("grace_s"),
        tracked_since=_utc(row.get("tracked_since")),
        done_until=_utc(row.get("done_until")),
        floor=row["floor"],
        versions=versions,
        called=JobName.parse(row["called"]) if row.get("called") else None,
    )


def read_version(row: Mapping[str, Any]) -> Version:
    """Read a version of a schedule as JSON has it."""
    from k8sjob.expect import Version  # noqa: PLC0415  # only where a schedule is known

    times = ("earliest_from", "valid_from", "earliest_to", "valid_to")
    return Version(
        n=row["n"],
        expr=row["expr"],
        zone=row["zone"],
        suspended=row["suspended"],
        direct=row["direct"],
        **{name: _utc(datetime.fromisoformat(row[name])) for name in times if row[name]},
    )


def _utc(at: datetime | None) -> Any:
    return at.astimezone(UTC) if at else None
