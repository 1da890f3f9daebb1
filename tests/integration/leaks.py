"""A login of a test server whose password is hard to quote, and where it is looked for."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

if TYPE_CHECKING:
    from tests.acceptance.processes import Child, Processes, Told
    from tests.fix_stores import Database

Env = dict[str, str]


@dataclass
class Password:
    """A password in which everything stands that somebody has to quote.

    Its ``pieces`` are in each form of it, however it is quoted or cut: where none of them is,
    nothing of the password is.
    """

    pieces: list[str] = field(default_factory=lambda: [secrets.token_hex(5) for _ in range(4)])

    def __str__(self) -> str:
        one, two, three, four = self.pieces
        return f"{one}@{two}:/%20 '{three}\\\"ü?#{four}&="

    def found_in(self, text: str) -> list[str]:
        """Return the pieces that the text holds."""
        return [piece for piece in self.pieces if piece in text]


@dataclass
class Watch:
    """Starts processes that know the password, and looks for it everywhere."""

    processes: Processes
    password: Password
    folder: Path
    started: list[tuple[Child, Path]] = field(default_factory=list)

    def start(self, *args: str, env: Env) -> Child:
        """Start ``k8sjob``; read every command line of the machine while it runs."""
        message = self.folder / f"termination-{len(self.started)}"
        message.touch()
        leaks = {"LEAK_DSN": _dsn(env) or "none", "LEAK_PASSWORD": str(self.password)}
        env = env | leaks | {"K8SJOB_TERMINATION_LOG": str(message)}
        child = self.processes.start(*args, env=env)
        self.started.append((child, message))
        _wait_for_its_command_line(child)
        assert not any(self.password.found_in(line) for line in command_lines())
        return child

    def start_job(self, target: str, env: Env, day: int = 13) -> Child:
        """Start ``k8sjob run``."""
        return self.start("run", target, "--job", "a/b", "--period", f"2026-08-{day}", env=env)

    def end(self) -> list[Told]:
        """Wait for all; look for the password in all that they have said."""
        ends = []
        for child, message in self.started:
            told = child.end()
            for text in (told.out, told.err, message.read_text()):
                assert not self.password.found_in(text), text
            assert told.out or told.err
            ends.append(told)
        self.started.clear()
        return ends


@dataclass
class Login:
    """A role of the server whose password is the one that must not leak."""

    db: Database
    name: str
    password: Password

    def forms(self, folder: Path) -> dict[str, Env]:
        """Return each way to tell it to a process."""
        parts = {**conninfo_to_dict(self.db.dsn("runner")), "user": self.name}
        parts["password"] = str(self.password)
        bare = {key: value for key, value in parts.items() if key != "password"}
        where = {key: value for key, value in bare.items() if key != "user"}
        url = _url(parts)
        (folder / "dsn").write_text(url + "\n")
        variables = {"host": "PGHOST", "port": "PGPORT", "dbname": "PGDATABASE", "user": "PGUSER"}
        return {
            "URL": {"K8SJOB_DSN": url},
            "keywords": {"K8SJOB_DSN": make_conninfo("", **parts)},
            "query": {"K8SJOB_DSN": _url(where, user=self.name, password=str(self.password))},
            "file": {"K8SJOB_DSN_FILE": str(folder / "dsn")},
            "named": {"K8SJOB_LEDGERS_DIR": str(folder), "K8SJOB_LEDGER": "dsn"},
            "PGPASSWORD": {"K8SJOB_DSN": _url(bare), "PGPASSWORD": str(self.password)},
            "libpq": {variables[key]: str(value) for key, value in bare.items()}
            | {"PGPASSWORD": str(self.password)},
        }

    def stored(self) -> dict[str, str]:
        """Return all that every column of every table of the ledger holds, as text."""
        with self.db.connect("admin", autocommit=True) as admin:
            columns = admin.execute(
                "SELECT table_name, column_name, data_type FROM information_schema.columns "
                "WHERE table_schema = 'k8sjob'"
            ).fetchall()
            return {f"{t}.{c}": _column(admin, t, c, kind) for t, c, kind in columns}

    def expect_not_stored(self) -> dict[str, str]:
        """See that no column holds the password, and return them all."""
        stored = self.stored()
        assert {"attempts.message", "attempts.tail", "periods.payload_sha256"} < set(stored)
        assert {name: text for name, text in stored.items() if self.password.found_in(text)} == {}
        return stored


def _url(parts: dict[str, Any], **query: str) -> str:
    """Return a URL; the folder of a socket goes into its query."""
    parts = {key: str(value) for key, value in parts.items()}
    user, host, dbname = parts.pop("user", ""), parts.pop("host"), parts.pop("dbname")
    password, port = parts.pop("password", ""), parts.pop("port", "")
    login = quote(user, safe="") + (f":{quote(password, safe='')}" if password else "")
    where = f"{host}:{port}" if port else host
    if host.startswith("/"):
        where, query = "", {"host": host, **({"port": port} if port else {}), **query}
    tail = "&".join(f"{key}={quote(value, safe='')}" for key, value in {**parts, **query}.items())
    return f"postgresql://{login + '@' if login else ''}{where}/{dbname}?{tail}"


def _dsn(env: Env) -> str:
    if file := env.get("K8SJOB_DSN_FILE"):
        return Path(file).read_text() if Path(file).exists() else ""
    return env.get("K8SJOB_DSN", "")


def _column(admin: Any, table: str, column: str, kind: str) -> str:
    shown = "encode({column}, 'escape')" if kind == "bytea" else "{column}::text"
    query = sql.SQL("SELECT " + shown + " FROM k8sjob.{table}").format(
        column=sql.Identifier(column), table=sql.Identifier(table)
    )
    return "\n".join(str(value) for (value,) in admin.execute(query))


def _wait_for_its_command_line(child: Child) -> None:
    """Wait until the system shows it: that comes a moment after the program was started."""
    give_up = time.monotonic() + 30
    while not Path(f"/proc/{child.pid}/cmdline").read_bytes() and child.process.poll() is None:
        assert time.monotonic() < give_up


def command_lines() -> list[str]:
    """Return the command line of every process that this one may see."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue  # it has ended meanwhile
    return lines
