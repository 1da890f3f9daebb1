"""The jobs of the acceptance tests, in a process that its parent can hold at a named point.

A process that was given the end of a socket tells each point that it comes to, and goes on when its
parent says so. Where the parent has gone it ends too.
"""

from __future__ import annotations

import inspect
import os
import socket
from typing import TYPE_CHECKING, Any

from k8sjob.run import points

if TYPE_CHECKING:
    from collections.abc import Generator

    import k8sjob

CONTROL = "CHILD_CONTROL_FD"
NAMES = [f"part-{number:02}" for number in range(1, 11)]

_control = socket.socket(fileno=int(os.environ[CONTROL])) if CONTROL in os.environ else None


def reach(point: str) -> None:
    """Tell the parent, if there is one, and wait until it lets this process go on."""
    global _control  # noqa: PLW0603  # there is one parent
    if _control is None:
        return
    _control.sendall(point.encode())
    match _control.recv(1):
        case b"":
            os._exit(1)
        case b"!":
            _control = None


# ------------------------------------------------------------------------------------- the jobs


def credit(run: k8sjob.Run) -> None:
    """Credit 10 to alice."""
    run.conn.execute("UPDATE accounts SET balance = balance + 10 WHERE name = 'alice'")


def credit_own(run: k8sjob.Run) -> None:
    """Credit 10 to the account of this period, which shows how often that was done."""
    run.conn.execute(_credit(str(run.key.period)))


async def credit_own_async(run: k8sjob.Run) -> None:
    """Do as `credit_own`, as a coroutine."""
    await _now(run.conn.execute(_credit(str(run.key.period))))


def fill_file(run: k8sjob.Run) -> None:
    """Credit 10 and write more than SQLite keeps in memory: the file holds it before the commit."""
    run.conn.execute("PRAGMA cache_size = 1")
    credit_own(run)
    run.conn.execute("CREATE TABLE filler (text)")
    run.conn.execute("INSERT INTO filler VALUES (hex(zeroblob(1000000)))")


def ten_parts(run: k8sjob.Run) -> None:
    """Credit 10 to the account of each of ten parts."""
    for name in NAMES:
        with run.part(name) as part:
            if part:
                part.conn.execute(_credit(name))
                reach(f"in {name}")
        reach(f"after {name}")


async def ten_parts_async(run: k8sjob.Run) -> None:
    """Do as `ten_parts`, as a coroutine."""
    for name in NAMES:
        async with run.part(name) as part:
            if part:
                await _now(part.conn.execute(_credit(name)))
                reach(f"in {name}")
        reach(f"after {name}")


def _credit(name: str) -> str:
    return (
        f"INSERT INTO accounts VALUES ('{name}', 10) "
        "ON CONFLICT (name) DO UPDATE SET balance = accounts.balance + 10"
    )


async def _now(answer: Any) -> Any:
    """Wait for what an async connection answers; SQLite's has answered already."""
    return await answer if inspect.isawaitable(answer) else answer


# ------------------------------------------------------------------------------------ the points


def _report_sent_commits() -> None:
    """Tell the point ``sent`` too: COMMIT is out, and not a byte of the answer has been read."""
    from k8sjob.ledger.postgres.guard import RunConnection

    wait = RunConnection.wait

    def wait_and_tell(self: Any, gen: Any, *args: Any, **kwargs: Any) -> Any:
        commits = inspect.getgeneratorlocals(gen).get("query") == "COMMIT"
        return wait(self, _told(gen) if commits else gen, *args, **kwargs)

    RunConnection.wait = wait_and_tell  # type: ignore[method-assign]


def _told(gen: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """Pass on what psycopg's own generator wants; it reads for the first time once all is sent."""
    from psycopg.waiting import Wait

    wanted = next(gen)
    while wanted != Wait.R:
        wanted = gen.send((yield wanted))
    reach("sent")
    while True:
        try:
            wanted = gen.send((yield wanted))
        except StopIteration as end:
            return end.value


if _control is not None:
    points.hook = reach
    if os.environ.get("K8SJOB_DSN", "").startswith("postgresql:"):
        _report_sent_commits()
