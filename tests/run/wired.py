"""``k8sjob run`` through a proxy before the server, and commits that wait at a gate."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from tests.run.commandline import CREDIT, CommandLine, Told, asynchronous
from tests.wire import WireProxy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.fix_stores import Connection, Database

Kind = Literal["sync", "async", "sql"]
KINDS: tuple[Kind, ...] = ("sync", "async", "sql")

GATE = 4711  # the advisory lock that a commit waits for
WAIT = 30.0  # seconds

_GATE = f"""
CREATE FUNCTION app.wait_at_the_gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock({GATE});
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER gated AFTER UPDATE ON app.accounts
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION app.wait_at_the_gate();
"""


def credit(cli: CommandLine, kind: Kind) -> str | Callable[[Any], Any]:
    """Return the target that credits alice, as a function, a coroutine or a file."""
    if kind == "sql":
        return cli.file(CREDIT)

    def work(run: Any) -> Any:
        return run.conn.execute(CREDIT)

    if kind == "sync":
        return lambda run: work(run) and None

    return asynchronous(work)


class Wired(NamedTuple):
    """A command line whose server stands behind a proxy."""

    cli: CommandLine
    proxy: WireProxy

    def run(self, target: str | Callable[..., Any], *flags: str) -> Told:
        """Run a target through the proxy."""
        return self.cli.run(target, *flags, dsn=self.proxy.conninfo())

    def sent(self, text: str) -> int:
        """Count the statements with ``text`` in them that were sent."""
        return sum(
            frame.direction == ">" and frame.kind in {"Q", "E"} and text in frame.text
            for frame in self.proxy.frames
        )


@contextmanager
def wired(cli: CommandLine) -> Iterator[Wired]:
    """Put a proxy before the server of ``cli``."""
    with WireProxy(cli.store.dsn) as proxy:
        yield Wired(cli, proxy)


@contextmanager
def closed_gate(db: Database) -> Iterator[Connection]:
    """Let each commit of a credit wait in the server until this connection opens the gate."""
    admin = db.connect("admin", autocommit=True)
    admin.execute(_GATE)
    admin.execute(f"SELECT pg_advisory_lock({GATE})")
    try:
        yield admin
    finally:
        admin.execute("SELECT pg_advisory_unlock_all()")


def open_gate(admin: Connection) -> None:
    """Let the commits go on."""
    admin.execute(f"SELECT pg_advisory_unlock({GATE})")


@contextmanager
def in_background(call: Callable[[], Told]) -> Iterator[Callable[[], Told]]:
    """Run ``call`` in a thread; what is yielded waits for its answer."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(call)
        yield lambda: future.result(WAIT)


def wait_for_waiter(admin: Connection, text: str) -> int:
    """Return the backend that waits for another one's lock, with ``text`` in its statement."""
    return _wait_for(admin, text, "wait_event_type = 'Lock' AND pg_blocking_pids(pid) <> '{}'")


def wait_for_query(admin: Connection, text: str) -> int:
    """Return the backend that runs a statement with ``text`` in it."""
    return _wait_for(admin, text, "state = 'active'")


def _wait_for(admin: Connection, text: str, condition: str) -> int:
    look = f"""SELECT pid FROM pg_stat_activity
                WHERE {condition} AND pid <> pg_backend_pid() AND datname = current_database()
                  AND strpos(query, '{text}') > 0"""
    give_up = time.monotonic() + WAIT
    while time.monotonic() < give_up:
        admin.execute("SELECT pg_stat_clear_snapshot()")
        if (row := admin.execute(look.encode()).fetchone()) is not None:
            return int(row[0])
        threading.Event().wait(0.01)
    raise AssertionError(f"no backend is at {text!r}")
