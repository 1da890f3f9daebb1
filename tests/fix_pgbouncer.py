"""A PgBouncer in front of a test's database: Debian's, as it comes, in transaction mode."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.fix_report import PGBOUNCER, cannot_meet, expect, uses
from tests.template import ROLES, Role, url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fix_stores import Connection, Database

NOT_HERE = "no pgbouncer on this machine; on Debian: apt-get install pgbouncer"

# Only what has to be set is set, so that the tests meet the defaults that users have.
CONFIG = """\
[databases]
{name} = {server}

[pgbouncer]
pool_mode = {mode}
listen_addr =
listen_port = 6432
unix_socket_dir = {home}
{more}auth_type = scram-sha-256
auth_file = {home}/users
"""


@dataclass
class PgBouncer:
    """A running PgBouncer; several clients share its few connections to the server."""

    db: Database
    home: Path
    _open: list[Connection] = field(default_factory=list)

    def dsn(self, role: Role = "runner", **params: str) -> str:
        """Return the URL of the test's database through PgBouncer."""
        here = f"postgresql://@/?host={self.home}&port=6432"
        return url(here, role, self.db.name, params)

    def connect(self, role: Role = "runner", **kwargs: Any) -> Connection:
        """Open a connection without prepared statements, which do not outlive a transaction."""
        conn: Connection = psycopg.connect(self.dsn(role), **{"prepare_threshold": None, **kwargs})
        self._open.append(conn)
        return conn

    def close(self) -> None:
        """Close what :meth:`connect` opened."""
        for conn in self._open:
            conn.close()


def pytest_configure(config: pytest.Config) -> None:
    """Say before any test whether there is one."""
    expect(config, PGBOUNCER)
    if _binary() is None:
        cannot_meet(config, PGBOUNCER, NOT_HERE)


@pytest.fixture
def pgbouncer(request: pytest.FixtureRequest, db: Database) -> Iterator[PgBouncer]:
    """Start a PgBouncer in front of ``db``."""
    with pooling(db) as bouncer:
        uses(request.node, PGBOUNCER)
        yield bouncer


@contextmanager
def pooling(db: Database, mode: str = "transaction", more: str = "") -> Iterator[PgBouncer]:
    """Start a PgBouncer in front of ``db``, or skip the test where there is none.

    ``more`` are lines of its configuration.
    """
    binary = _binary()
    if binary is None:
        pytest.skip(f"PgBouncer: {NOT_HERE}")
    with (
        tempfile.TemporaryDirectory(prefix="k8sjob-") as folder,
        _running(binary, Path(folder), db, {"mode": mode, "more": more}),
    ):
        bouncer = PgBouncer(db, Path(folder))
        try:
            yield bouncer
        finally:
            bouncer.close()


def _binary() -> str | None:
    return shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


@contextmanager
def _running(binary: str, home: Path, db: Database, given: dict[str, str]) -> Iterator[None]:
    config = _configure(home, db, given)
    identity: dict[str, Any] = {}
    if os.geteuid() == 0:
        # It refuses to run as root. Whoever owns the server's socket may use it.
        user = _user(db)
        identity = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        for path in (home, *home.iterdir()):
            os.chown(path, user.pw_uid, user.pw_gid)
    log = home / "log"
    with log.open("w") as output:
        process = subprocess.Popen([binary, config], stdout=output, stderr=output, **identity)
    try:
        _wait_until_it_answers(process, home / ".s.PGSQL.6432", log)
        yield
    finally:
        process.kill()  # from 1.23 on SIGTERM waits for clients, which a failed test may have left
        process.wait(timeout=10)


def _configure(home: Path, db: Database, given: dict[str, str]) -> Path:
    parts = conninfo_to_dict(db.server.admin_dsn)
    server = " ".join(f"{key}={parts[key]}" for key in ("host", "port") if key in parts)
    logins = [conninfo_to_dict(db.dsn(role)) for role in ROLES]
    users = "".join(f'"{login["user"]}" "{login["password"]}"\n' for login in logins)
    (home / "users").write_text(users)
    config = home / "pgbouncer.ini"
    config.write_text(CONFIG.format(name=db.name, server=server, home=home, **given))
    return config


def _user(db: Database) -> pwd.struct_passwd:
    host = str(conninfo_to_dict(db.server.admin_dsn).get("host", ""))
    if host.startswith("/"):
        return pwd.getpwuid(Path(host).stat().st_uid)
    return pwd.getpwnam("nobody")


def _wait_until_it_answers(process: subprocess.Popen[bytes], socket: Path, log: Path) -> None:
    give_up = time.monotonic() + 10
    while not socket.exists():
        if process.poll() is not None or time.monotonic() > give_up:
            raise AssertionError(f"PgBouncer does not start:\n{log.read_text()}")
        threading.Event().wait(0.01)
