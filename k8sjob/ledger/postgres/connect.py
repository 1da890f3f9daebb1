"""Connections that a dead node cannot keep open for hours, and that work through a pooler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import conninfo

from k8sjob.errors import ConfigError, Unavailable
from k8sjob.ledger.secrets import Redactor

if TYPE_CHECKING:
    from psycopg.abc import ConnParam

#: libpq's names; seconds, but milliseconds for tcp_user_timeout. The kernel's own keepalive takes
#: two hours to notice a dead peer (PostgreSQL documentation, 34.1.2 "Parameter Key Words").
DEFAULTS: dict[str, ConnParam] = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
_LAST_PORT = 65535


def parameters(dsn: str, *, application_name: str) -> str:
    """Return the conninfo to use for ``dsn``: its own parameters, else ours.

    Raises ConfigError, without a word of the DSN: libpq quotes the part that it does not
    understand, and that may be the password.
    """
    try:
        given = conninfo.conninfo_to_dict(dsn)
    except psycopg.ProgrammingError:
        raise _unreadable() from None
    if _login_is_cut(dsn) or not _are_ports(str(given.get("port", ""))):
        raise _unreadable()
    ours = {k: v for k, v in DEFAULTS.items() if k not in given}
    if "application_name" not in given:
        # Postgres cuts it at 63 bytes (NAMEDATALEN).
        ours["application_name"] = application_name[:63]
    if "," in str(given.get("host", "")) and "target_session_attrs" not in given:
        # Of several hosts, the one that takes writes.
        ours["target_session_attrs"] = "read-write"
    return conninfo.make_conninfo(dsn, **ours)


def _login_is_cut(dsn: str) -> bool:
    """Tell whether an @ or a / in the password makes libpq take its rest for the host.

    libpq ends the login at the first of the two (its conninfo_uri_parse_options), and would tell
    everybody that there is no such host.
    """
    scheme, _, rest = dsn.strip().partition("://")
    login, at, place = rest.partition("@")
    if scheme not in {"postgresql", "postgres"} or not at:
        return False
    return ("/" in login and "?" not in login) or "@" in place.partition("?")[0]


def _are_ports(text: str) -> bool:
    ports = [port.strip() for port in text.split(",") if port.strip()]
    return all(p.isascii() and p.isdigit() and 1 <= int(p[:6]) <= _LAST_PORT for p in ports)


def _unreadable() -> ConfigError:
    return ConfigError(
        "the ledger's DSN cannot be read by libpq. Nothing was done.\n"
        "  Write postgresql://user:password@host:5432/database, with %40 for @, %2F for / and so "
        "on in the password."
    )


def connect(dsn: str, *, application_name: str, **kwargs: Any) -> psycopg.Connection[Any]:
    """Connect in autocommit mode, without prepared statements. Raises Unavailable, ConfigError."""
    info = parameters(dsn, application_name=application_name)
    try:
        return psycopg.Connection.connect(info, autocommit=True, prepare_threshold=None, **kwargs)
    except psycopg.Error as error:
        raise away(error, dsn) from None


def away(error: psycopg.Error, dsn: str) -> Unavailable | ConfigError:
    """Return the error that says why the ledger cannot be reached, without its secrets."""
    if isinstance(error, psycopg.ProgrammingError):  # a parameter that psycopg itself reads
        return _unreadable()
    reason = Redactor(dsn)(" ".join(str(error).split()))
    return Unavailable(
        f"the ledger cannot be reached: {reason}\n"
        "  Nothing was changed. Another try may succeed; k8sjob doctor tells more."
    )
