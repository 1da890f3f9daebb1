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
    from k8sjob.key import JobName, Key
    from k8sjob.ledger.settings import Address


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
class JobRow:
    """What is known of a job (never of a part). Of its schedule: the newest version."""

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
    as well, the newest ``limit`` + 1 of them.
    """

    prefixes: Sequence[str] = ()
    keys: Sequence[Key] = ()
    attempts: Sequence[str] = ()
    bounds: Bounds = UNBOUND
    since: datetime | None = None
    finished: Sequence[str] = ("done", "skipped")
    limit: int = 500

    @property
    def everything(self) -> bool:
        """Whether nothing is named."""
        return not (self.prefixes or self.keys or self.attempts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What was seen at ``now``, by the ledger's own clock.

    ``rows`` has None for a period that was tried and has no row. ``names`` are all the jobs and
    parts that the ledger knows. ``counters``: attempts by outcome since ever.
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

    def story(self, key: Key) -> Snapshot:
        """Return all there is of one period."""

    def portrait(self, job: JobName, attempts: int) -> Snapshot:
        """Return a job with its unfinished periods, its counters and its last attempts."""


def open_reader(address: Address) -> Reader:
    """Connect to the ledger at ``address``, to look only. Raises Unavailable, ConfigError."""
    made: Any
    if address.kind is Kind.SQLITE:
        from k8sjob.ledger.sqlite.read import SqliteReader  # noqa: PLC0415  # one driver only

        made = SqliteReader(address.sqlite_file)
    else:
        from k8sjob.ledger.postgres.read import PostgresReader  # noqa: PLC0415  # as above

        made = PostgresReader(address.dsn)
    reader: Reader = made
    return reader
