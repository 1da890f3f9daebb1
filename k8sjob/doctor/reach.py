"""Whether the ledger is found and reached, is new enough and takes writes. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from k8sjob.doctor.line import fail, ok, seconds, warn
from k8sjob.errors import ConfigError
from k8sjob.ledger.settings import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from k8sjob.doctor.line import Line
    from k8sjob.doctor.purpose import Need
    from k8sjob.errors import K8sjobError
    from k8sjob.ledger.settings import Address
    from k8sjob.ledger.survey import Login, Server

#: The oldest server that the ledger is for, and the newest that it is tested on.
OLDEST, NEWEST = 14, 18

_FIRST_WORDS: Final = "the ledger cannot be reached: "
_NOT_THERE: Final = "give the DSN a user and a database that the server has"
#: What libpq, Postgres and PgBouncer say, and what to do about it. The first that fits counts.
_ADVICE: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), advice)
    for pattern, advice in (
        (
            "unsupported startup parameter",
            (
                "take options=… out of the DSN, or name the parameter in PgBouncer's "
                "ignore_startup_parameters"
            ),
        ),
        (
            "password authentication failed|no password supplied|SASL|wrong password type",
            "set user and password of the DSN right; in a URL %40 stands for @, %2F for /",
        ),
        (
            "no pg_hba.conf entry|rejected",
            (
                "let this login in from here: a line in the server's pg_hba.conf, or "
                "sslmode=require in the DSN where it asks for TLS"
            ),
        ),
        (r'(role|database|user) ".*" does not exist|no such (database|user)', _NOT_THERE),
        ("certificate|SSL|TLS", "look at sslmode and sslrootcert in the DSN"),
        (
            "translate host name|resolve host|name or service|nodename",
            "look at the host of the DSN: kubectl get service -A",
        ),
        (
            "too many|remaining connection slots|no more connections",
            (
                "let more in (max_connections, ALTER ROLE … CONNECTION LIMIT), or put a pooler "
                "before the server"
            ),
        ),
        (
            "starting up|shutting down|recovery mode|not yet accepting",
            "wait until the server is up, and call this again",
        ),
        ("read-write|read-only", "name a host that takes writes: the primary"),
        (
            "refused|no route|unreachable|No such file",
            (
                "look whether the server listens at this host and port, and whether a "
                "NetworkPolicy lets this Pod there"
            ),
        ),
        (
            "timeout|timed out",
            (
                "look whether a NetworkPolicy or a firewall stands between, and whether the server "
                "is overloaded"
            ),
        ),
    )
)
_ELSE: Final = "look at the server's log; call this again in a minute"


def check_dsn(found: Address | K8sjobError) -> Line:
    """Say where the address comes from, or why there is none."""
    if isinstance(found, Exception):
        seen, _, do = str(found).partition("\n")
        return fail("dsn", seen.removesuffix(" Nothing was done.").rstrip("."), do)
    kind = "a SQLite file" if found.kind is Kind.SQLITE else "Postgres"
    return ok("dsn", f"from {found.origin}: {kind}")


def check_login(login: Login) -> Line:
    """Say who is in, where."""
    where = f"{login.host}:{login.port}"
    if not login.host or login.host.startswith("/"):
        where, over = f"a socket in {login.host or 'the usual folder'}", ""
    else:
        over = ", with TLS" if login.tls else ", without TLS"
    return ok(
        "reached",
        f"{login.user} at {where}, database {login.dbname}, in {seconds(login.took_s)}{over}",
    )


def check_trouble(error: K8sjobError) -> Line:
    """Say why nobody was let in, and what may help."""
    said, _, do = str(error).partition("\n")
    if isinstance(error, ConfigError):  # nobody was asked, and it says by itself what to write
        return fail("reached", said.removesuffix(" Nothing was done.").rstrip("."), do.strip())
    advice = next((advice for pattern, advice in _ADVICE if pattern.search(said)), _ELSE)
    return fail("reached", said.removeprefix(_FIRST_WORDS), advice)


def check_server(server: Server, need: Need) -> Iterator[Line]:
    """Say how old it is, and whether it takes writes."""
    yield _version(server)
    if not need.writes:
        yield _reading(server)
    elif server.in_recovery:
        yield fail("writable", "a standby, in recovery: it takes no writes", _PRIMARY)
    elif server.read_only:
        yield fail(
            "writable",
            "default_transaction_read_only is on for this login or database",
            "ALTER ROLE … SET default_transaction_read_only = off, or point the DSN elsewhere",
        )
    else:
        yield ok("writable", "a primary that takes writes")


_PRIMARY = "point the DSN at the primary; of several hosts: target_session_attrs=read-write"


def _version(server: Server) -> Line:
    major, minor = divmod(server.version, 10_000)
    shown = f"Postgres {major}.{minor}"
    if major < OLDEST:
        return fail("version", shown, f"upgrade it to {OLDEST} or later")
    if major > NEWEST:
        return warn(
            "version", shown, f"k8sjob is tested on {OLDEST} to {NEWEST}: try it where it may fail"
        )
    return ok("version", shown)


def _reading(server: Server) -> Line:
    if not server.in_recovery:
        return ok("writable", "a primary; nothing is written for this purpose")
    return warn(
        "writable",
        "a standby, in recovery: what is read lags behind the primary",
        "point the DSN at the primary where a minute counts",
    )
