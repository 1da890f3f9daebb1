"""A database without a ledger, roles for it, and ``k8sjob migrate`` in this process or its own."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from psycopg import sql

import k8sjob
from k8sjob.cli.main import main
from k8sjob.ledger.migrate import migrations

if TYPE_CHECKING:
    from tests.fix_stores import Connection, Database
    from tests.template import Role

PASSWORD = "a-password-of-a-test"
WAIT_S = 60.0

#: The steps of this version, and what is said of them where all of them are applied.
STEPS = [(step.version, step.name) for step in migrations()]
APPLIED = "".join(f"applied {step}\n" for step in migrations())


class Told(NamedTuple):
    """How a command ended and what it said."""

    code: int
    out: str
    err: str


def start(dsn: str, *args: str) -> subprocess.Popen[str]:
    """Start ``k8sjob`` as a process of its own."""
    root = Path(k8sjob.__file__).parent.parent
    return subprocess.Popen(
        [sys.executable, "-m", "k8sjob", *args],
        env={**os.environ, "K8SJOB_DSN": dsn, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def end(process: subprocess.Popen[str]) -> Told:
    """Wait for the process."""
    out, err = process.communicate(timeout=WAIT_S)
    return Told(process.returncode, out, err)


@dataclass
class Terminal:
    """Calls ``k8sjob`` in this process."""

    patch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def call(self, dsn: str, *args: str) -> Told:
        """Call it with ``args`` on the ledger at ``dsn``."""
        self.patch.setenv("K8SJOB_DSN", dsn)
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(list(args))
        return Told(int(ended.value.code or 0), *self.capsys.readouterr())


@dataclass
class Empty:
    """A database that no migration has seen, which ``k8sjob_owner`` owns."""

    db: Database
    terminal: Terminal
    admin: Connection
    made: list[str] = field(default_factory=list)

    def migrate(self, *flags: str, role: Role = "owner") -> Told:
        """Run ``k8sjob migrate`` in this process."""
        return self.terminal.call(self.db.dsn(role), "migrate", *flags)

    def start_migrate(self, *flags: str) -> subprocess.Popen[str]:
        """Start ``k8sjob migrate`` as the owner, as a process of its own."""
        return start(self.db.dsn("owner"), "migrate", *flags)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Ask as the superuser."""
        return self.admin.execute(query.encode()).fetchall()

    def run(self, statement: str) -> None:
        """Do something as the superuser."""
        self.admin.execute(statement.encode())

    def make_role(self, name: str) -> str:
        """Make a role that may log in; its name begins with one of its own, and so with ours."""
        name = f"k8sjob_t_{secrets.token_hex(4)}{name}"
        words = {"name": sql.Identifier(name), "password": PASSWORD}
        self.admin.execute(sql.SQL("CREATE ROLE {name} LOGIN PASSWORD {password}").format(**words))
        self.made.append(name)
        return name

    def versions(self) -> list[tuple[int, str]]:
        """Return the rows of the ledger's versions; none where there is no ledger."""
        if not self.has_ledger():
            return []
        return self.rows("SELECT version, name FROM k8sjob.migrations ORDER BY version")

    def has_ledger(self) -> bool:
        """Tell whether anything of a ledger is there."""
        return self.rows("SELECT to_regclass('k8sjob.migrations') IS NOT NULL") == [(True,)]

    def wait_for(self, query: str, wanted: object) -> None:
        """Return once the superuser's ``query`` answers with one value, the ``wanted`` one."""
        give_up = time.monotonic() + WAIT_S
        while (rows := self.rows(query)) != [(wanted,)]:
            assert time.monotonic() < give_up, f"still {rows}, not {wanted}: {query}"
            threading.Event().wait(0.01)

    def backends(self) -> list[int]:
        """Return the pids of the servers' processes that migrate this database."""
        query = """SELECT pid FROM pg_stat_activity
                    WHERE datname = current_database() AND application_name = 'k8sjob migrate'"""
        return [pid for (pid,) in self.rows(query)]
