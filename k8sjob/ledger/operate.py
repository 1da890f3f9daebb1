"""What people ask of a ledger and change in it; Postgres and SQLite keep it alike.

A decision is planned on what was seen (`Sight`) and made only if that still holds (`change`): both
stores compare state and generation of each row and make all of a `Changes` or nothing.
Always blocking: there is one person, and one transaction.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from k8sjob.ledger.settings import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from k8sjob.cycle import Cycle
    from k8sjob.key import JobName, Key, KeyRange
    from k8sjob.ledger.settings import Address
    from k8sjob.states import State


@dataclass(frozen=True, slots=True)
class Scope:
    """What a hold stops: a job, a namespace (no job), or all (neither)."""

    namespace: str | None = None
    job: JobName | None = None

    @classmethod
    def of_job(cls, job: JobName) -> Scope:
        """Return the scope of one job."""
        return cls(job.namespace, job)

    def __str__(self) -> str:
        if self.job is not None:
            return str(self.job)
        return "all jobs" if self.namespace is None else f"namespace {self.namespace}"

    def covers(self, job: JobName) -> bool:
        """Whether a hold of this scope stops ``job``."""
        if self.job is not None:
            return job.job == self.job
        return self.namespace in (None, job.namespace)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A period's row. Times are aware UTC; ``zone`` is the one that its claim came with."""

    key: Key
    state: State
    generation: int
    reason: str | None = None
    until: datetime | None = None
    done_at: datetime | None = None
    changed_at: datetime | None = None
    attempt: UUID | None = None
    zone: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFacts:
    """What the ledger knows of a job (never of a part). Times are aware UTC.

    ``cycle``: the kind of its periods; None while it has none. ``floor``: up to this text, both
    ends in, a period without a row is expired. ``done_until``: up to here the reconciler has
    looked; None with ``tracked`` means that it has not begun.
    """

    job: JobName
    cycle: Cycle | None = None
    floor: str | None = None
    zone: str | None = None
    tracked: bool = False
    done_until: datetime | None = None
    retention_s: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A hold in force."""

    id: int
    scope: Scope
    reason: str
    until: datetime | None
    set_by: str
    set_at: datetime


@dataclass(frozen=True, slots=True)
class Flight:
    """An attempt without an end: under way, or dead without a word."""

    attempt: UUID
    key: Key
    started_at: datetime
    pod: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What to look at."""

    keys: Sequence[Key] = ()
    ranges: Sequence[KeyRange] = ()
    scopes: Sequence[Scope] = ()
    indicator: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What was seen at ``now``, by the ledger's own clock.

    ``rows`` are those of the keys and ranges, ``holds`` those in force that have to do with any of
    them, ``flights`` the attempts at them, ``blocked`` how many periods of each scope are blocked
    by themselves, ``jobs`` what is known of them. ``awaited``: who awaits the indicator.
    """

    now: datetime
    rows: Mapping[Key, Row] = field(default_factory=dict)
    jobs: Mapping[JobName, JobFacts] = field(default_factory=dict)
    holds: Sequence[Hold] = ()
    flights: Sequence[Flight] = ()
    blocked: Mapping[Scope, int] = field(default_factory=dict)
    awaited: Key | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """One period to move: ``before`` (None: no row) and ``generation`` must still hold."""

    verb: str
    key: Key
    before: State | None
    generation: int
    after: State


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """All of one command: it is made whole or not at all. Times are aware UTC."""

    decisions: Sequence[Decision] = ()
    holds: Sequence[Scope] = ()
    lifts: Sequence[Hold] = ()
    reason: str
    by: str
    until: datetime | None = None
    indicator: str | None = None
    deadline: datetime | None = None


class ChangedMeanwhile(Exception):  # the caller looks again and plans anew
    """Something is not as the plan says; nothing was changed."""


class Operator(Protocol):
    """One connection of a person to a ledger."""

    def close(self) -> None:
        """Give the connection back."""

    def look(self, wanted: Wanted) -> Sight:
        """Return what there is of it. Raises Unavailable, Denied, SchemaAbsent."""

    def change(self, changes: Changes) -> None:
        """Make all of it in one transaction.

        Raises ChangedMeanwhile; TryAgain where a key is held too long; and what `look` raises.
        """


def open_operator(address: Address, *, lock_timeout_s: float) -> Operator:
    """Connect to the ledger at ``address``. Raises Unavailable, ConfigError."""
    if address.kind is Kind.SQLITE:
        from k8sjob.ledger.sqlite.operate import SqliteOperator  # noqa: PLC0415  # one driver only

        return SqliteOperator(address.sqlite_file, lock_timeout_s=lock_timeout_s)
    from k8sjob.ledger.postgres.operate import PostgresOperator  # noqa: PLC0415  # as above

    return PostgresOperator(address.dsn, lock_timeout_s=lock_timeout_s)
