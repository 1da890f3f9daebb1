"""What is there to be seen of a ledger by somebody who wants to use it: facts, no judgement.

The facts are filled in one after the other, so that what was seen stays where a server stops
answering. Nothing is changed, not even a setting of the session: behind a pooler it would be
somebody else's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from k8sjob.errors import SchemaAbsent
from k8sjob.ledger.settings import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from k8sjob.errors import K8sjobError
    from k8sjob.ledger.settings import Address


@dataclass(frozen=True, slots=True)
class Login:
    """How the server was reached. ``host`` is empty, or a folder, for a Unix socket."""

    user: str
    host: str
    port: int
    dbname: str
    tls: bool
    took_s: float


@dataclass(frozen=True, slots=True)
class Server:
    """``version`` is Postgres' own number, 150004 for 15.4. ``read_only``: unless it is told."""

    version: int
    in_recovery: bool
    read_only: bool


@dataclass(frozen=True, slots=True)
class Schema:
    """The schema ``k8sjob``: None for what this login may not read."""

    there: bool
    usable: bool
    version: int | None
    oldest_client: str | None
    may_create: bool


@dataclass(frozen=True, slots=True)
class Rights:
    """What a login may do. Functions stand by the least capability that may call them.

    ``is_owner``: it acts as the schema's owner; ``may_be_owner``: it can become that.
    ``unread``, ``written``: tables that it may not read, or may write to by itself.
    """

    user: str
    superuser: bool
    owner: str | None
    is_owner: bool
    may_be_owner: bool
    unread: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    callable: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    refused: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Clock:
    """How far the ledger's clock is ahead of this one, in seconds, give or take ``within_s``."""

    ahead_s: float
    within_s: float


@dataclass(frozen=True, slots=True)
class Pooling:
    """Whether a pooler is between, and whose session this is.

    ``mode`` is ``session``, ``transaction`` or ``statement``, as far as it can be seen; None where
    that was not found out. ``refused`` says why several statements are no transaction.
    """

    between: bool
    mode: str | None = None
    refused: str | None = None


@dataclass(slots=True)
class Survey:
    """A Postgres ledger. ``settings``: durations in milliseconds, keepalives in seconds.

    ``step`` is what is being asked, ``troubles`` what a step met, ``trouble`` why none followed.
    """

    step: str = "login"
    login: Login | None = None
    server: Server | None = None
    clock: Clock | None = None
    schema: Schema | None = None
    rights: Rights | None = None
    settings: Mapping[str, str] | None = None
    pooling: Pooling | None = None
    troubles: dict[str, str] = field(default_factory=dict)
    trouble: K8sjobError | None = None


@dataclass(slots=True)
class FileSurvey:
    """A SQLite ledger. ``size`` is None where there is no file yet."""

    file: str
    step: str = "file"
    library: str = ""
    size: int | None = None
    folder_writable: bool = False
    writable: bool | None = None
    busy: bool = False
    version: int | None = None
    oldest_client: str | None = None
    damage: str | None = None
    trouble: K8sjobError | None = None


def empty_survey(address: Address) -> Survey | FileSurvey:
    """Return one that :func:`look` fills."""
    if address.kind is Kind.SQLITE:
        return FileSurvey(address.sqlite_file)
    return Survey()


def look(address: Address, found: Survey | FileSurvey) -> None:
    """Fill ``found`` with what is seen. Raises what connecting does: Unavailable, ConfigError."""
    if isinstance(found, FileSurvey):
        from k8sjob.ledger.sqlite.survey import look_at_file  # noqa: PLC0415  # one driver alone

        look_at_file(found)
    else:
        from k8sjob.ledger.postgres.survey import look_at_server  # noqa: PLC0415  # as above

        look_at_server(address.dsn, found)


def newest_version() -> int:
    """Return the number of the newest step of the schema that this client knows."""
    from k8sjob.ledger.migrate import migrations  # noqa: PLC0415  # with psycopg

    steps = migrations()
    if not steps:
        raise SchemaAbsent("this client knows no schema: its package is not whole")
    return steps[-1].version
