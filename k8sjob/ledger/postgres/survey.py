"""What can be seen of a Postgres ledger, step by step. See :mod:`k8sjob.ledger.survey`."""

from __future__ import annotations

import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import psycopg

from k8sjob.ledger.postgres.connect import connect
from k8sjob.ledger.postgres.errors import first_line
from k8sjob.ledger.queries import queries
from k8sjob.ledger.survey import Clock, Login, Pooling, Rights, Schema, Server
from k8sjob.ledger.versions import version_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from k8sjob.ledger.survey import Survey

    Connection = psycopg.Connection[Any]

SQL = queries("postgres_survey")
#: The quickest of so many round trips says most about the clock.
_ROUND_TRIPS = 5
#: How often to look whether a pooler gives the server's connection to somebody else.
_LOOKS = 3


def look_at_server(dsn: str, found: Survey) -> None:
    """Fill ``found``, step by step. Raises Unavailable, ConfigError where nobody is reached."""
    began = time.monotonic()
    with closing(_connect(dsn)) as conn:
        found.login = _login(conn, time.monotonic() - began)
        for step, ask in _STEPS.items():
            with _step(found, step):
                setattr(found, step, ask(conn))
            if conn.closed:
                return
        with _step(found, "pooling"):
            _look_for_a_pooler(conn, dsn, found)


def _connect(dsn: str) -> Connection:
    return connect(dsn, application_name="k8sjob doctor")


@contextmanager
def _step(found: Survey, step: str) -> Iterator[None]:
    found.step = step
    try:
        yield
    except psycopg.Error as error:
        found.troubles[step] = first_line(error)


def _login(conn: Connection, took_s: float) -> Login:
    info = conn.info
    return Login(info.user, info.host, info.port, info.dbname, conn.pgconn.ssl_in_use, took_s)


def _rows(conn: Connection, name: str) -> list[tuple[Any, ...]]:
    return conn.execute(SQL[name]).fetchall()


def _server(conn: Connection) -> Server:
    return Server(*_rows(conn, "server")[0])


def _clock(conn: Connection) -> Clock:
    return min((_one_clock(conn) for _ in range(_ROUND_TRIPS)), key=lambda clock: clock.within_s)


def _one_clock(conn: Connection) -> Clock:
    """Take the server's clock for that of the middle of the round trip."""
    wall, began = time.time(), time.monotonic()
    ((theirs,),) = _rows(conn, "clock")
    half_s = (time.monotonic() - began) / 2
    return Clock(theirs - (wall + half_s), half_s)


def _schema(conn: Connection) -> Schema:
    there, usable, readable, may_create = _rows(conn, "schema")[0]
    rows = _rows(conn, "versions") if usable and readable else []
    oldest = max((oldest for _, oldest in rows), key=version_numbers, default=None)
    return Schema(there, usable, rows[-1][0] if rows else None, oldest, may_create)


def _rights(conn: Connection) -> Rights:
    user, superuser, usable, owner, is_owner, may_be_owner = _rows(conn, "login")[0]
    tables = _rows(conn, "tables")
    unread = tuple(name for name, reads, _ in tables if not reads)
    readable = usable and "rights" in {name for name, reads, _ in tables if reads}
    functions = _rows(conn, "functions") if readable else []
    return Rights(
        user=user,
        superuser=superuser,
        owner=owner,
        is_owner=is_owner,
        may_be_owner=may_be_owner,
        unread=unread,
        written=tuple(name for name, _, writes in tables if writes),
        callable=_by_capability(functions, wanted=True),
        refused=_by_capability(functions, wanted=False),
    )


def _by_capability(
    functions: list[tuple[Any, ...]], *, wanted: bool
) -> Mapping[str, tuple[str, ...]]:
    return {
        capability: tuple(n for c, n, may in functions if c == capability and may is wanted)
        for capability in ("reader", "runner", "operator")
    }


def _settings(conn: Connection) -> Mapping[str, str]:
    return dict(_rows(conn, "settings"))


_STEPS: Mapping[str, Callable[[Connection], object]] = {
    "server": _server,
    "clock": _clock,
    "schema": _schema,
    "rights": _rights,
    "settings": _settings,
}


# -------------------------------------------------------------------------------------- poolers


def _process(conn: Connection) -> int:
    return int(_rows(conn, "process")[0][0])


def _look_for_a_pooler(conn: Connection, dsn: str, found: Survey) -> None:
    """Tell a pooler by the key for cancelling, which it makes itself: it names no such process."""
    between = _process(conn) != conn.info.backend_pid
    found.pooling = Pooling(between)
    try:
        refused = _why_no_transaction(conn)
    except psycopg.Error as error:
        refused = first_line(error)
    found.pooling = Pooling(between, refused=refused)
    if refused is not None:
        found.pooling = Pooling(between, "statement" if between else None, refused)
    elif between:
        with closing(_connect(dsn)) as other:
            found.pooling = Pooling(between, _mode(conn, other))


def _why_no_transaction(conn: Connection) -> str | None:
    """Return why what one statement sets for its transaction is not there in the next one."""
    kept = None
    with conn.transaction(force_rollback=True):
        _rows(conn, "remember")
        kept = _rows(conn, "recall")[0][0]
    return None if kept == "here" else "each statement was a transaction of its own"


def _mode(conn: Connection, other: Connection) -> str:
    """Tell a pooler in transaction mode by a session that gets several of the server's processes.

    Or by a process that two sessions get: the one that came back last is usually given first
    (PgBouncer: server_round_robin = 0).
    """
    mine = {_process(conn) for _ in range(_LOOKS)}
    for _ in range(_LOOKS):
        with other.transaction():
            if _process(other) in mine:
                return "transaction"
            mine.add(_process(conn))
    return "session" if len(mine) == 1 else "transaction"
