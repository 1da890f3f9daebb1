"""Bring a Postgres ledger to this version's schema.

Each migration is a folder of SQL files that run in one transaction, behind an advisory lock, with
the version's row inserted first: eight migrations started at once apply each step once.
An older client goes on working on a newer schema; the row says the oldest client it allows.
"""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING

from k8sjob.errors import ConfigError, Denied, TryAgain, Unavailable, UsageError
from k8sjob.ledger.postgres.connect import connect
from k8sjob.ledger.postgres.errors import first_line, translate
from k8sjob.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import psycopg

    from k8sjob.errors import K8sjobError

#: The transaction-level advisory lock of all migrations: the bytes of "k8sjob", read as a number.
LOCK = int.from_bytes(b"k8sjob", "big")
CAPABILITIES = ("operator", "runner", "reader")
#: How long a step waits for jobs that hold a table, and pauses before it tries again. A job may
#: hold one for hours, and each claim that comes would wait behind the step.
_LOCK_TIMEOUT_S, _PAUSE_S = 2, 5.0

BOOTSTRAP: str = """\
SELECT pg_advisory_xact_lock({lock});
DO $$ BEGIN
  IF to_regnamespace('k8sjob') IS NULL THEN CREATE SCHEMA k8sjob; END IF;
END $$;
CREATE TABLE IF NOT EXISTS k8sjob.migrations (
  version integer PRIMARY KEY,
  name text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  oldest_client text NOT NULL CHECK (oldest_client ~ '^[0-9]+[.][0-9]+[.][0-9]+$')
);
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema: its number, its name, its SQL and the oldest client it allows."""

    version: int
    name: str
    sql: str = field(repr=False)
    oldest_client: str

    def __str__(self) -> str:
        return f"{self.version:04d} {self.name}"

    @property
    def script(self) -> str:
        """The step as one transaction, the version's row first."""
        row = f"{self.version}, '{self.name}', '{self.oldest_client}'"
        insert = f"INSERT INTO k8sjob.migrations (version, name, oldest_client) VALUES ({row});"  # noqa: S608  # our text
        again = "SELECT k8sjob.grant_again();"
        start = f"-- {self}\nSET client_encoding = 'UTF8';\nBEGIN ISOLATION LEVEL READ COMMITTED;\n"
        start += "SET LOCAL client_min_messages = warning;\n"  # no word of what is there already
        return f"{start}{_bootstrap()}{self.patience}{insert}\n{self.sql}{again}\nCOMMIT;\n"

    @property
    def patience(self) -> str:
        """How long it waits for a lock: the first step has no rivals, there is no table yet."""
        return f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT_S}s';\n" if self.version > 1 else ""


def migrations() -> list[Migration]:
    """Return the steps that this version of k8sjob knows, in their order."""
    folder = resources.files("k8sjob.ledger") / "migrations"
    return [_read(path) for path in sorted(folder.iterdir(), key=lambda p: p.name) if path.is_dir()]


def _read(folder: resources.abc.Traversable) -> Migration:
    number, _, name = folder.name.partition("_")
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    sql = "\n".join(f.read_text("utf-8") for f in files)
    oldest = re.search(r"^-- oldest-client: (\S+)$", sql, re.MULTILINE)
    if oldest is None:
        raise ConfigError(f"migration {folder.name} does not say its oldest client")
    return Migration(int(number), name, sql, oldest[1])


def _bootstrap() -> str:
    return BOOTSTRAP.replace("{lock}", str(LOCK))


def applied_version(conn: psycopg.Connection) -> int:
    """Return the newest version in the ledger; 0 where there is no schema yet."""
    found = conn.execute("SELECT to_regclass('k8sjob.migrations') IS NOT NULL").fetchone()
    if not found or not found[0]:
        return 0
    row = conn.execute("SELECT coalesce(max(version), 0) FROM k8sjob.migrations").fetchone()
    return int(row[0]) if row else 0


@contextmanager
def _connected(dsn: str, doing: str) -> Iterator[psycopg.Connection]:
    """Connect as a migration does; turn what Postgres raises meanwhile into our own errors."""
    import psycopg  # noqa: PLC0415  # costs 0.1 s; --sql does not need it

    with connect(dsn, application_name="k8sjob migrate") as conn:
        # Stricter levels would look at the ledger as it was before the wait for the lock.
        conn.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
        try:
            yield conn
        except psycopg.Error as error:
            raise _explain(error, doing, conn) from error


def _explain(error: psycopg.Error, doing: str, conn: psycopg.Connection) -> K8sjobError:
    from psycopg import errors as pg  # noqa: PLC0415  # as above

    if isinstance(error, pg.InsufficientPrivilege):
        here, me = _quoted(conn.info.dbname), _quoted(conn.info.user)
        return Denied(
            f"the database refused to {doing}: {first_line(error)}\n"
            "  Nothing was changed. Connect as the role that owns schema k8sjob; where there is "
            f"none yet: GRANT CREATE ON DATABASE {here} TO {me}"
        )
    if isinstance(error, pg.LockNotAvailable):
        return TryAgain(
            f"running jobs, or another migration, hold the ledger: {first_line(error)}\n"
            "  Nothing was changed, and no claim is kept waiting. To try again until they let go: "
            "k8sjob migrate --wait 1h"
        )
    taken = (pg.DuplicateTable, pg.DuplicateFunction, pg.DuplicateObject, pg.UndefinedColumn)
    if isinstance(error, taken):
        return ConfigError(
            f"schema k8sjob holds something that is no ledger: {first_line(error)}\n"
            "  Nothing was changed. Make room: ALTER SCHEMA k8sjob RENAME TO k8sjob_before"
        )
    return translate(error, doing=doing)


def pending(dsn: str) -> list[Migration]:
    """Return the steps that the ledger at ``dsn`` lacks. Raises as :func:`migrate` does."""
    with _connected(dsn, "read the ledger's version") as conn:
        done = applied_version(conn)
    return [step for step in migrations() if step.version > done]


def migrate(dsn: str, *, done: Callable[[Migration], None] | None = None) -> list[Migration]:
    """Apply what the ledger at ``dsn`` lacks, as its owner; return the steps applied here.

    Raises Unavailable (no connection), TryAgain (running jobs hold a table that a step changes),
    Denied (not the owner), ConfigError (the schema is there, but is not a ledger) and ClientTooOld
    (the ledger is newer, and lets this version in no more).
    """
    applied = []
    with _connected(dsn, "migrate the ledger") as conn:
        for step in migrations():
            if _apply(conn, step):
                applied.append(step)
                if done:
                    done(step)
        _check_client(conn)
    return applied


def _apply(conn: psycopg.Connection, step: Migration) -> bool:
    if applied_version(conn) >= step.version:  # without the lock: nothing to do, nobody waits
        return False
    with conn.transaction():
        conn.execute(_bootstrap())
        if applied_version(conn) >= step.version:
            return False
        if step.patience:
            conn.execute(step.patience)
        conn.execute(
            "INSERT INTO k8sjob.migrations (version, name, oldest_client) VALUES (%s, %s, %s)",
            (step.version, step.name, step.oldest_client),
        )
        conn.execute(step.sql)
        conn.execute("SELECT k8sjob.grant_again()")
    return True


def newer_version(dsn: str) -> int | None:
    """Return the version of a ledger that is newer than this client knows; None for any other."""
    with _connected(dsn, "read the ledger's version") as conn:
        found = applied_version(conn)
    return found if found > _newest() else None


def _newest() -> int:
    return max(step.version for step in migrations())


def _check_client(conn: psycopg.Connection) -> None:
    if applied_version(conn) > _newest():
        conn.execute("SELECT k8sjob.check_client(%s)", (__version__,))


def migrate_when_there(
    dsn: str,
    wait_s: float,
    *,
    done: Callable[[Migration], None] | None = None,
    away: Callable[[K8sjobError], None] | None = None,
) -> list[Migration]:
    """Migrate, trying again for ``wait_s`` seconds while the database is away or its tables held.

    ``away`` is told of each try in vain that another one follows.
    """
    end = time.monotonic() + wait_s
    while True:
        try:
            return migrate(dsn, done=done)
        except (Unavailable, TryAgain) as error:
            left = end - time.monotonic()
            if left <= 0:
                raise
            if away:
                away(error)
            time.sleep(min(_PAUSE_S if isinstance(error, TryAgain) else 1.0, left))


def grant(dsn: str, capability: str, role: str) -> None:
    """Let ``role`` be operator, runner or reader of the ledger. Raises Denied and ConfigError."""
    import psycopg  # noqa: PLC0415  # as above

    if capability not in CAPABILITIES:
        raise ConfigError(f"not a capability: {capability}. Grant one of {', '.join(CAPABILITIES)}")
    with _connected(dsn, f"grant {capability} to {role}") as conn:
        try:
            conn.execute("SELECT k8sjob.grant_access(%s, %s)", (capability, role))
        except psycopg.errors.UndefinedObject as error:
            raise ConfigError(
                f"there is no role {role} in this database. Nothing was granted to it.\n"
                f"  First: CREATE ROLE {_quoted(role)} LOGIN PASSWORD '…'"
            ) from error


def revoke(dsn: str, role: str) -> None:
    """Take all rights on the ledger from ``role``, be it gone or not. Raises Denied, UsageError."""
    import psycopg  # noqa: PLC0415  # as above

    with _connected(dsn, f"take the rights of {role}") as conn:
        try:
            conn.execute("SELECT k8sjob.revoke_access(%s)", (role,))
        except psycopg.errors.RaiseException as error:
            raise UsageError(
                f"{role} owns the ledger: nothing was taken from it.\n"
                "  Name the login that is to lose its rights."
            ) from error


def revoke_script(role: str) -> str:
    """Return the SQL that does as :func:`revoke`."""
    literal = role.replace("'", "''")
    return f"SELECT k8sjob.revoke_access('{literal}');"


def grant_script(capability: str, role: str) -> str:
    """Return the SQL that does as :func:`grant`."""
    literal = role.replace("'", "''")
    return f"SELECT k8sjob.grant_access('{capability}', '{literal}');"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
