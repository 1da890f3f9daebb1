"""What the reconciler asks of a ledger and writes into it. Postgres only.

Reading is one snapshot, and its cost is that of what is unfinished, never of what is history.
Writing goes job by job, each in a transaction of its own, so that one broken job stops no other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from k8sjob.errors import ConfigError
from k8sjob.ledger.settings import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime
    from uuid import UUID

    from k8sjob.cycle import Cycle
    from k8sjob.expect import Version
    from k8sjob.key import JobName, Key
    from k8sjob.ledger.operate import Scope
    from k8sjob.ledger.settings import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracked:
    """A job as the ledger knows it. Instants are aware UTC.

    ``settings`` is what `Watcher.track` wrote last; ``versions`` are those that end after
    ``done_until``, in order, and ``last_n`` is the number of the newest of all (0: none).
    ``launches`` are the catch-up Jobs that it got within its ``catch_up_max_age_s``.
    ``observed_at`` is when the list began that was last written of it; ``blind_since`` is that of
    the last one that showed it, where those since could not be read, or not be written.
    """

    job: JobName
    kind: Cycle | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    done_until: datetime | None = None
    gone: bool = False
    observed_at: datetime | None = None
    blind_since: datetime | None = None
    unstarted_since: datetime | None = None
    versions: Sequence[Version] = ()
    last_n: int = 0
    launches: Sequence[datetime] = ()

    @property
    def current(self) -> Version | None:
        """The version in force; None where there is none."""
        return self.versions[-1] if self.versions and self.versions[-1].valid_to is None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished:
    """A period's row that is open, blocked or awaiting.

    ``tries`` are the Jobs made for it. One that was noted and perhaps not made is not counted: to
    make it again comes to the same Job.
    """

    key: Key
    state: str
    generation: int
    scheduled_for: datetime | None
    deadline_at: datetime | None
    uncertain: bool
    origin: str
    reason_code: str | None
    reason: str | None
    until: datetime | None
    await_deadline: datetime | None
    tries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAttempt:
    """An attempt without an end.

    ``came_to``: applied or awaiting, where its period's row is its own and says so.
    """

    id: UUID
    key: Key
    mode: str
    job_uid: str | None
    job_name: str | None
    pod_uid: str | None
    pod_name: str | None
    started_at: datetime
    heartbeat_at: datetime | None
    came_to: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LastTry:
    """How the last attempt at a period ended, for the words that say why it is not done."""

    outcome: str | None
    exit_code: int | None
    message: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """One snapshot of what is unfinished, at ``now`` by the ledger's own clock.

    ``last_list`` is when the last complete list of CronJobs of this scope began; ``holds`` are in
    force.
    """

    now: datetime
    last_list: datetime | None
    jobs: Mapping[JobName, Tracked] = field(default_factory=dict)
    unfinished: Sequence[Unfinished] = ()
    attempts: Sequence[OpenAttempt] = ()
    holds: Sequence[Scope] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionChange:
    """The version in force ends (``known_n`` > 0), another begins (``begins``), or both."""

    job: JobName
    known_n: int
    earliest_to: datetime | None = None
    valid_to: datetime | None = None
    begins: Version | None = None
    cronjob_uid: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """A period to be stored as open."""

    key: Key
    scheduled_for: datetime | None
    window_end: datetime | None
    zone: str | None
    version: int
    deadline: datetime
    uncertain: bool
    code: str
    reason: str


class Watcher(Protocol):
    """One connection of the reconciler's, as the operator.

    All methods raise Unavailable, Denied, SchemaAbsent.
    """

    def close(self) -> None:
        """Give the connection back."""

    def now(self) -> datetime:
        """Return the time by the ledger's own clock, aware UTC."""

    def look(self, scope: str, namespaces: Sequence[str] | None) -> Watched:
        """Return what there is of the jobs in these namespaces (None: in all)."""

    def states(self, keys: Sequence[Key]) -> Mapping[Key, str]:
        """Return the stored states of those that have a row."""

    def done_at(self, keys: Sequence[Key]) -> Mapping[Key, datetime]:
        """Return when those that are done were done."""

    def last_tries(self, keys: Sequence[Key]) -> Mapping[Key, LastTry]:
        """Return how the last attempt at each of them ended."""

    def is_connected(self, key: Key) -> bool:
        """Whether a connection that bears the key's name stands."""

    def listing(
        self, scope: str, seen: datetime | None, began: datetime
    ) -> AbstractContextManager[str]:
        """Take a complete list in, in one transaction: ``ok``, ``stale`` or ``changed``.

        Each `track` and `change_version` inside of it stands alone: one that fails undoes no other.
        """

    def track(
        self, job: JobName, began: datetime, kind: Cycle, settings: Mapping[str, Any]
    ) -> bool:
        """Write what the CronJob says of its job; False where a later list has been here."""

    def change_version(self, change: VersionChange, began: datetime) -> bool:
        """End and begin versions; False where others did meanwhile."""

    def note_blind(self, job: JobName, since: datetime) -> None:
        """Say that lists after this one do not tell what its schedule is."""

    def expect(
        self, job: JobName, kind: Cycle, due: Sequence[Due], mark: datetime | None, by: str
    ) -> Mapping[Key, str]:
        """Store what is due and move the mark; return ``made``, ``busy``, or the state found.

        The mark stops before the first period that is busy.
        """

    def explain(self, key: Key, generation: int, code: str, reason: str) -> None:
        """Say anew why an open period is not done."""

    def note_unstarted(self, job: JobName, since: datetime | None) -> None:
        """Say since when a Job of it stands without having started anything."""

    def skip(self, key: Key, generation: int, reason: str, by: str) -> bool:
        """Skip an open period; False where it is not open in this generation any more."""

    def note_launch(  # noqa: PLR0913, PLR0917  # what a launch is
        self,
        key: Key,
        generation: int,
        try_: int,
        name: str,
        reason: str,
        uid: str | None = None,
    ) -> None:
        """Note that a Job of this name is about to be made for the period; ``uid``: is there."""

    def close_attempt(self, attempt: UUID, message: str, exit_code: int | None) -> str | None:
        """End an attempt; return its outcome, or None where it has an end."""

    def overdue(self, key: Key, generation: int, reason: str, by: str) -> str | None:
        """Move an awaiting period whose deadline has passed; return its state, None: not so."""

    def start_pass(self, scope: str) -> int:
        """Note that a pass has begun."""

    def end_pass(self, number: int, *, ok: bool, failing: int, message: str | None) -> None:
        """Note how it ended."""

    def scopes(self) -> Mapping[str, int]:
        """Return the scopes that are known, and how many passes over each."""

    def forget_scope(self, scope: str) -> None:
        """Forget the passes over a scope, and its last complete list."""


def open_watcher(address: Address, *, lock_timeout_s: float = 30.0) -> Watcher:
    """Connect to the ledger at ``address``. Raises Unavailable, ConfigError."""
    if address.kind is Kind.SQLITE:
        raise ConfigError(
            f"{address.origin} is a SQLite file, and the reconciler works on Postgres. Nothing was "
            "done.\n  Give it the ledger that the cluster's jobs use: K8SJOB_DSN=postgresql://…"
        )
    from k8sjob.ledger.postgres.watch import PostgresWatcher  # noqa: PLC0415  # one driver only

    return PostgresWatcher(address.dsn, lock_timeout_s=lock_timeout_s)
