"""What people look up in a ledger; Postgres and SQLite keep it alike.

Each method reads one snapshot and changes nothing: SELECT on the tables is all that it needs. What
is computed from the rows (running, missing …) is worked out elsewhere, from the snapshot's ``now``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from k8sjob.ledger.settings import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from k8sjob.cycle import Cycle
    from k8sjob.expect import Version
    from k8sjob.key import JobName, Key
    from k8sjob.ledger.known import Known
    from k8sjob.ledger.launches import Launch
    from k8sjob.ledger.settings import Address
    from k8sjob.ledger.tail import Slot


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodRow:
    """A period's row as it is stored. Times are aware UTC; SQLite has no deadline and no user."""

    key: Key
    state: str
    generation: int
    scheduled_for: datetime | None
    zone: str | None
    deadline_at: datetime | None
    uncertain: bool
    origin: str
    reason: str | None
    until: datetime | None
    attempt: UUID | None
    payload_sha256: bytes | None
    done_at: datetime | None
    changed_at: datetime
    db_user: str | None
    indicator: str | None
    await_deadline: datetime | None
    superseded_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRow:
    """An attempt as it is stored. ``outcome`` is None where no end was written."""

    id: UUID
    key: Key
    generation: int
    mode: str
    source: str
    pod_name: str | None
    node: str | None
    db_user: str | None
    started_at: datetime
    heartbeat_at: datetime | None
    ended_at: datetime | None
    outcome: str | None
    exit_code: int | None
    message: str | None
    tail: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRow:
    """A change of a period's state. ``from_state`` is None where there was no row."""

    kind: str
    generation: int
    from_state: str | None
    to_state: str
    by: str
    db_user: str | None
    at: datetime
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldRow:
    """A hold that nobody has lifted, be its time up or not."""

    id: int
    namespace: str | None
    job: str | None
    reason: str
    from_at: datetime
    until: datetime | None
    set_by: str
    set_at: datetime

    def covers(self, job: JobName) -> bool:
        """Whether it is a hold of ``job``, its namespace or all."""
        if self.job is not None:
            return self.job == str(job.job)
        return self.namespace in (None, job.namespace)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRow:
    """A pass of the reconciler over a scope that the job is in. ``ok`` is None without an end."""

    scope: str
    started_at: datetime
    ended_at: datetime | None
    ok: bool | None
    failing: int | None
    message: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRow:
    """What is known of a job (never of a part). ``schedule`` is that of its newest version.

    ``versions`` are those that end after ``done_until``, and those that ``Where.versions_since``
    asks for, in order; ``passes`` the last ones, the newest first, where they are asked for. From
    ``cronjob`` on all is the reconciler's, and SQLite has none of it.
    """

    job: JobName
    kind: Cycle | None
    floor: str | None
    zone: str | None
    grace_s: int | None
    suspended: bool
    tracked_since: datetime | None
    done_until: datetime | None
    gone_at: datetime | None
    last_success_at: datetime | None
    consecutive_failures: int
    schedule: str | None
    schedule_zone: str | None
    last_done: str | None
    cronjob: str | None = None
    catch_up: str | None = None
    limits: Mapping[str, Any] = field(default_factory=dict)
    max_duration_s: int | None = None
    retention_s: int | None = None
    owner: str | None = None
    severity: str | None = None
    runbook: str | None = None
    blind_since: datetime | None = None
    unstarted_since: datetime | None = None
    versions: Sequence[Version] = ()
    passes: Sequence[PassRow] = ()

    @property
    def is_tracked(self) -> bool:
        """Whether a reconciler expects its periods, or did."""
        return self.tracked_since is not None


@dataclass(frozen=True, slots=True)
class Tries:
    """The attempts at one period: how many, the last one, and those without an end."""

    count: int = 0
    last: AttemptRow | None = None
    endless: Sequence[AttemptRow] = ()


#: The lowest and the highest text of each length of a period's text: 20, 10, 8 and 7 characters.
Bounds = tuple[tuple[str, str, str, str], tuple[str, str, str, str]]
UNBOUND: Bounds = (("", "", "", ""), ("~", "~", "~", "~"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """What to look at. All empty: everything.

    ``prefixes``: a namespace, a job with its parts, or a part. ``attempts``: how their ids begin.
    ``since``: for attempts, when they started. ``finished``: which of done and skipped periods
    as well, the newest ``limit`` + 1 of them. ``upto``: work the tail out up to then (aware UTC);
    None: only what is stored. ``suspended``: the slots of suspended versions too.
    ``versions_since``: versions that ended after that too. ``passes``: the reconciler's too.
    """

    prefixes: Sequence[str] = ()
    keys: Sequence[Key] = ()
    attempts: Sequence[str] = ()
    bounds: Bounds = UNBOUND
    since: datetime | None = None
    finished: Sequence[str] = ("done", "skipped")
    limit: int = 500
    upto: datetime | None = None
    suspended: bool = False
    versions_since: datetime | None = None
    passes: bool = False

    @property
    def everything(self) -> bool:
        """Whether nothing is named."""
        return not (self.prefixes or self.keys or self.attempts)

    @property
    def has_all_of_its_keys(self) -> bool:
        """Whether nothing but keys is named, and the rows are those of all that have one."""
        whole = self.bounds == UNBOUND and set(self.finished) >= {"done", "skipped"}
        return whole and not self.prefixes and 0 < len(self.keys) <= self.limit

    def covers(self, job: JobName) -> bool:
        """Whether all periods of ``job`` itself are meant."""
        return self.everything or job.namespace in self.prefixes or str(job) in self.prefixes

    def touches(self, job: JobName) -> bool:
        """Whether periods of ``job`` itself are meant, and not its parts' alone."""
        return self.covers(job) or any(key.job == job for key in self.keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What was seen at ``now``, by the ledger's own clock.

    ``rows`` has None for a period without a row that was tried, or that stands in ``slots``: what
    the schedules name beyond the marks, with a row or without; ``gaps`` says of a job why that is
    not all. ``names`` are all the jobs and parts that the ledger knows. ``counters``: attempts by
    outcome since ever.
    """

    now: datetime
    jobs: Mapping[JobName, JobRow] = field(default_factory=dict)
    rows: Mapping[Key, PeriodRow | None] = field(default_factory=dict)
    tries: Mapping[Key, Tries] = field(default_factory=dict)
    attempts: Sequence[AttemptRow] = ()
    events: Sequence[EventRow] = ()
    holds: Sequence[HoldRow] = ()
    counters: Mapping[str, int] = field(default_factory=dict)
    names: Sequence[str] = ()
    slots: Mapping[Key, Slot] = field(default_factory=dict)
    gaps: Mapping[JobName, str] = field(default_factory=dict)
    launches: Sequence[Launch] = ()


class Reader(Protocol):
    """One connection of somebody who looks. All methods raise Unavailable, Denied, SchemaAbsent."""

    def close(self) -> None:
        """Give the connection back."""

    def now(self) -> datetime:
        """Return the time by the ledger's own clock, aware UTC."""

    def jobs(self, where: Where) -> Snapshot:
        """Return jobs, their unfinished periods and the holds."""

    def periods(self, where: Where) -> Snapshot:
        """Return periods and the attempts at them."""

    def attempts(self, where: Where) -> Snapshot:
        """Return attempts, the newest first, one more than the limit."""

    def story(self, key: Key, upto: datetime) -> Snapshot:
        """Return all there is of one period; its slot as of ``upto``."""

    def portrait(self, job: JobName, attempts: int, upto: datetime) -> Snapshot:
        """Return a job with its unfinished periods up to then, counters, last attempts, passes."""

    def known(self, job: JobName) -> Known:
        """Return what is known of a job's schedule and settings; a part is known by its job."""

    def passes(self) -> list[PassRow]:
        """Return the last passes of each scope of the reconciler, the newest first."""


def open_reader(address: Address, *, timeout_s: float | None = None) -> Reader:
    """Connect to the ledger at ``address``, to look only. Raises Unavailable, ConfigError.

    ``timeout_s`` bounds each query on Postgres; None leaves that to the server's settings.
    """
    made: Any
    if address.kind is Kind.SQLITE:
        from k8sjob.ledger.sqlite.read import SqliteReader  # noqa: PLC0415  # one driver only

        made = SqliteReader(address.sqlite_file)
    else:
        from k8sjob.ledger.postgres.read import PostgresReader  # noqa: PLC0415  # as above

        made = PostgresReader(address.dsn, timeout_s=timeout_s)
    reader: Reader = made
    return reader
