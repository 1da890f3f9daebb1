"""Which Jobs were made for a period, by backfill and catch-up. Postgres only.

A Job is noted before it is created, without its uid, and again once it is there. A note without a
uid whose Job is nowhere is a create that never came about: the same number is used again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from k8sjob.errors import ConfigError
from k8sjob.ledger.settings import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from k8sjob.key import JobName, Key
    from k8sjob.ledger.settings import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A Job that was, or was going to be, created. ``noted_at`` is aware UTC.

    ``uid`` is None until it is known to have been created.
    """

    key: Key
    generation: int
    try_: int
    name: str
    reason: str | None = None
    uid: str | None = None
    noted_at: datetime | None = None


class Launches(Protocol):
    """One connection. All methods raise Unavailable, Denied, SchemaAbsent."""

    def close(self) -> None:
        """Give the connection back."""

    def cronjob(self, job: JobName) -> str | None:
        """Return the name of the job's CronJob, as the reconciler saw it last."""

    def launched(self, keys: Sequence[Key]) -> Mapping[Key, Sequence[Launch]]:
        """Return the Jobs noted for these keys, by generation and try."""

    def note(self, launch: Launch) -> None:
        """Note a Job, for good when this returns; harmless where it is noted. Operators only."""


def open_launches(address: Address) -> Launches:
    """Connect to the ledger at ``address``. Raises Unavailable, ConfigError."""
    if address.kind is Kind.SQLITE:
        raise ConfigError(
            f"{address.origin} is a SQLite file, which no Job in a cluster can reach. Nothing was "
            "created.\n  Run the periods here instead: k8sjob backfill … --local TARGET"
        )
    from k8sjob.ledger.postgres.launches import PostgresLaunches  # noqa: PLC0415  # one driver only

    return PostgresLaunches(address.dsn)
