"""What an exporter reads of a ledger at each scrape: one snapshot, a constant number of queries.

What is unfinished is counted by the database, by job and state; only what no row tells of yet, the
tail beyond the marks, comes as versions of schedules and is worked out by the caller.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from k8sjob.errors import ConfigError
from k8sjob.ledger.settings import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from k8sjob.cycle import Cycle
    from k8sjob.expect import Version
    from k8sjob.ledger.settings import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFacts:
    """One job. Instants are aware UTC, durations seconds; None for what there is not."""

    job: str
    kind: Cycle
    schedule: str | None = None
    zone: str | None = None
    suspended: bool = False
    gone: bool = False
    catch_up: str | None = None
    owner: str | None = None
    severity: str | None = None
    grace_s: float | None = None
    max_duration_s: float | None = None
    tracked_since: datetime | None = None
    done_until: datetime | None = None
    last_done: str | None = None
    last_success_at: datetime | None = None
    consecutive_failures: int = 0
    unstarted_since: datetime | None = None
    running_since: datetime | None = None
    last_duration_s: float | None = None
    last_start_delay_s: float | None = None
    held_since: datetime | None = None
    versions: Sequence[Version] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Owed:
    """How many periods of a job, its parts' among them, are in one state, and the oldest of each.

    ``state`` is missing, uncertain, due, running, blocked or awaiting. ``changed`` is when the
    first of them came to it; ``await_deadline`` the earliest one.
    """

    job: str
    state: str
    count: int
    oldest: datetime | None = None
    deadline: datetime | None = None
    changed: datetime | None = None
    await_deadline: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassFacts:
    """The last passes of a scope; ``duration_s`` and ``failing`` are of the last ended one."""

    scope: str
    last_success_at: datetime | None
    duration_s: float
    failing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A ledger at ``now``, by its own clock. ``counters``: attempts by job and outcome, ever."""

    now: datetime
    schema_version: int
    jobs: Sequence[JobFacts] = ()
    owed: Sequence[Owed] = ()
    counters: Mapping[tuple[str, str], int] = field(default_factory=dict)
    passes: Sequence[PassFacts] = ()
    outbox: Mapping[str, int] = field(default_factory=dict)
    outbox_oldest: datetime | None = None
    #: Of the periods that `Tail` asked for: those that have a row, and those that an attempt is at.
    stored: frozenset[tuple[str, str]] = frozenset()
    alive: frozenset[tuple[str, str]] = frozenset()


class Scraper(Protocol):
    """A connection that an exporter keeps from one scrape to the next."""

    def close(self) -> None:
        """Give the connection back."""

    def read(self, tail: Tail) -> Facts:
        """Return one snapshot. Raises Unavailable, Denied, SchemaAbsent, TryAgain."""


def open_scraper(address: Address) -> Scraper:
    """Connect to the ledger at ``address``. Raises Unavailable, ConfigError."""
    if address.kind is Kind.SQLITE:
        raise ConfigError(
            f"{address.origin} is a SQLite file, and the exporter works on Postgres. Nothing was "
            "done.\n  Give it the ledger that the cluster's jobs use: K8SJOB_DSN=postgresql://…"
        )
    from k8sjob.ledger.postgres.scrape import PostgresScraper  # noqa: PLC0415  # one driver only

    return PostgresScraper(address.dsn)


class Tail(Protocol):
    """Says of which periods, as job and text, a scrape needs to know whether they have a row."""

    def __call__(self, jobs: Sequence[JobFacts], now: datetime, /) -> Sequence[tuple[str, str]]:
        """Return them."""
