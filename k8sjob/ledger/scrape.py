"""What an exporter reads of a ledger at each scrape: one snapshot, a constant number of queries.

What is unfinished is counted by the database, by job and state. Only what its schedule has to say
something about comes one by one: versions, periods beyond the marks, rows without a deadline.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from k8sjob.errors import ConfigError
from k8sjob.ledger.settings import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from k8sjob.cycle import Cycle
    from k8sjob.expect import Expected, Version
    from k8sjob.ledger.settings import Address

#: Job (or part) and text of a period.
PeriodId = tuple[str, str]


class JobFacts(NamedTuple):
    """One job. Instants are aware UTC, durations seconds; None for what there is not.

    ``cronjob`` is the name of its CronJob, which need not be the job's.
    ``last_done`` is the newest period that is done, ``last_done_for`` its nominal instant and
    ``last_done_at`` when it was. ``last_duration_s`` is of the last attempt that worked at a
    period, ``last_start_delay_s`` from that period's nominal instant to its first start, and
    ``last_start_slot`` when the schedule fired for it. ``versions`` are those that end after
    ``done_until``, in order.
    """

    job: str
    kind: Cycle
    floor: str | None = None
    schedule: str | None = None
    zone: str | None = None
    suspended: bool = False
    gone: bool = False
    catch_up: str | None = None
    owner: str | None = None
    severity: str | None = None
    cronjob: str | None = None
    grace_s: float | None = None
    max_duration_s: float | None = None
    tracked_since: datetime | None = None
    done_until: datetime | None = None
    last_done: str | None = None
    last_done_for: datetime | None = None
    last_done_at: datetime | None = None
    last_success_at: datetime | None = None
    consecutive_failures: int = 0
    unstarted_since: datetime | None = None
    last_duration_s: float | None = None
    last_start_delay_s: float | None = None
    last_start_slot: datetime | None = None
    running_since: datetime | None = None
    held_since: datetime | None = None
    versions: Sequence[Version] = ()


class Counted(NamedTuple):
    """The rows of a job, its parts' among them, that are in one state.

    ``state`` is missing, uncertain, due, running, blocked or awaiting. ``oldest`` is the first
    nominal instant that a row has, ``oldest_text`` the first period that has none in its row.
    ``changed`` is when the first of them came to its state; ``await_deadline`` the earliest one.
    """

    job: str
    state: str
    n: int
    oldest: datetime | None = None
    oldest_text: str | None = None
    deadline: datetime | None = None
    changed: datetime | None = None
    await_deadline: datetime | None = None


class Undated(NamedTuple):
    """An open row without a deadline: released by a person, or blocked until a time that is over.

    ``job`` may be a part; ``whole`` is the job that it belongs to.
    """

    whole: str
    job: str
    period: str


class Alive(NamedTuple):
    """The attempts at a period that show life. ``stored``: the period has a row."""

    whole: str
    job: str
    period: str
    since: datetime
    stored: bool


class PassFacts(NamedTuple):
    """The passes over a scope. ``duration_s`` is of the last one, the rest of the complete one."""

    scope: str
    last_complete_at: datetime | None
    duration_s: float
    failing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Beyond:
    """What the schedules say beyond the marks.

    ``fired`` are the periods that have, by job and in order, with a row or without; of the jobs in
    ``truncated`` not all of them. ``next_fire`` is when a job fires next, where that is known.
    """

    fired: Mapping[str, Sequence[Expected]] = field(default_factory=dict)
    truncated: frozenset[str] = frozenset()
    next_fire: Mapping[str, datetime] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A ledger at ``now``, by its own clock.

    ``counters``: attempts that ended, by job and outcome, since ever. ``stored``: those of the
    periods beyond the marks that have a row.
    """

    now: datetime
    schema_version: int
    jobs: Sequence[JobFacts] = ()
    counted: Sequence[Counted] = ()
    undated: Sequence[Undated] = ()
    alive: Sequence[Alive] = ()
    beyond: Beyond = field(default_factory=Beyond)
    stored: frozenset[PeriodId] = frozenset()
    counters: Mapping[tuple[str, str], int] = field(default_factory=dict)
    passes: Sequence[PassFacts] = ()
    outbox: Mapping[str, int] = field(default_factory=dict)
    outbox_oldest: datetime | None = None


class WorkOut(Protocol):
    """Works out what the schedules say beyond the marks."""

    def __call__(self, jobs: Sequence[JobFacts], now: datetime, /) -> Beyond:
        """Return it."""


class Scraper(Protocol):
    """A connection that an exporter keeps from one scrape to the next."""

    @property
    def is_broken(self) -> bool:
        """Whether the connection is gone, so that only a new one can tell anything."""

    def close(self) -> None:
        """Give the connection back."""

    def read(self, work_out: WorkOut) -> Facts:
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
