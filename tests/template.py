"""The roles on a test server, and the migrated database that each test's is cloned from."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote, urlencode

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

if TYPE_CHECKING:
    from tests.fix_servers import Server

Role = Literal["owner", "operator", "runner", "reader", "admin"]

ROLES: tuple[Role, ...] = ("owner", "operator", "runner", "reader")
TEMPLATE = "k8sjob_template"
MARK = "made by the tests of k8sjob"  # the comment on what a run may alter and drop on a server

# The business of the tests: one account, whose balance shows what was applied how often.
ACCOUNTS = "CREATE TABLE {}accounts (name text PRIMARY KEY, balance integer NOT NULL)"
ALICE = "INSERT INTO {}accounts VALUES ('alice', 0)"


@dataclass
class Templates:
    """The servers that have the template database and the roles."""

    prepared: list[Server] = field(default_factory=list)

    def add(self, server: Server) -> None:
        """Make roles and template on ``server`` unless it has them."""
        if server not in self.prepared:
            with server.admin() as admin:
                _refuse_what_is_not_ours(admin, server)
                _drop_ours(admin)
                try:
                    _make_template(admin, server)
                except BaseException:
                    _drop_ours(admin)
                    raise
            self.prepared.append(server)

    def drop(self) -> None:
        """Leave the servers as they were."""
        for server in self.prepared:
            with server.admin() as admin:
                _drop_ours(admin)


def _make_template(admin: psycopg.Connection[Any], server: Server) -> None:
    from k8sjob.ledger.migrate import migrate

    for role in ROLES:
        name = sql.Identifier(f"k8sjob_{role}")
        make = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(name, _password(role))
        admin.execute(make)
        admin.execute(sql.SQL("COMMENT ON ROLE {} IS {}").format(name, MARK))
    admin.execute(f"CREATE DATABASE {TEMPLATE} OWNER k8sjob_owner")
    admin.execute(f"COMMENT ON DATABASE {TEMPLATE} IS '{MARK}'")
    owner = url(server.admin_dsn, "owner", TEMPLATE)
    migrate(owner)
    with psycopg.connect(owner) as conn:
        for role in ("operator", "runner", "reader"):
            conn.execute("SELECT k8sjob.grant_access(%s, %s)", (role, f"k8sjob_{role}"))
        conn.execute("CREATE SCHEMA app")
        conn.execute(ACCOUNTS.format("app."))
        conn.execute(ALICE.format("app."))
        conn.execute("GRANT USAGE ON SCHEMA app TO k8sjob_runner")
        conn.execute("GRANT SELECT, INSERT, UPDATE ON app.accounts TO k8sjob_runner")
    # Not even autovacuum may be connected to a database that is being cloned.
    admin.execute(f"ALTER DATABASE {TEMPLATE} ALLOW_CONNECTIONS false")


def _refuse_what_is_not_ours(admin: psycopg.Connection[Any], server: Server) -> None:
    found = admin.execute(
        """SELECT 'role ' || rolname FROM pg_roles
            WHERE rolname = ANY (%(roles)s)
              AND shobj_description(oid, 'pg_authid') IS DISTINCT FROM %(mark)s
           UNION ALL
           SELECT 'database ' || datname FROM pg_database
            WHERE datname = %(template)s
              AND shobj_description(oid, 'pg_database') IS DISTINCT FROM %(mark)s""",
        {"roles": [f"k8sjob_{role}" for role in ROLES], "template": TEMPLATE, "mark": MARK},
    ).fetchall()
    if found:
        names = ", ".join(name for (name,) in found)
        pytest.exit(
            f"{server.name} has {names}, which no test made; nothing was touched. "
            "Point K8SJOB_TEST_DSN at a server that serves nothing else.",
            returncode=pytest.ExitCode.USAGE_ERROR,
        )


def _drop_ours(admin: psycopg.Connection[Any]) -> None:
    left = r"""SELECT datname FROM pg_database JOIN pg_roles r ON r.oid = datdba
                WHERE rolname = 'k8sjob_owner' AND datname ~ '^k8sjob_t(emplate|_[0-9a-f]{12})$'"""
    for (name,) in admin.execute(left).fetchall():
        admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
    for role in ROLES:
        admin.execute(f"DROP ROLE IF EXISTS k8sjob_{role}")


def url(base: str, role: Role, dbname: str, params: dict[str, str] | None = None) -> str:
    """Return ``base`` for another role and database; a socket's folder goes into the query."""
    parts = conninfo_to_dict(base)
    host, port = str(parts.pop("host", "")), str(parts.pop("port", ""))
    user, password = parts.pop("user", "postgres"), parts.pop("password", None)
    parts.pop("dbname", None)
    if role != "admin":
        user, password = f"k8sjob_{role}", _password(role)
    login = quote(str(user), safe="") + (f":{quote(str(password), safe='')}" if password else "")
    where, query = f"{host}:{port}" if port else host, {**parts, **(params or {})}
    if host.startswith("/"):
        where, query = "", {"host": host, **({"port": port} if port else {}), **query}
    tail = f"?{urlencode(query, quote_via=quote, safe='/')}" if query else ""
    return f"postgresql://{login}@{where}/{quote(dbname, safe='')}{tail}"


@cache
def _password(role: str) -> str:
    """Return the password of ``role`` for this run; on a server it is the same in all databases."""
    return f"{role}@{secrets.token_urlsafe(18)}:/%"  # what a URL has to encode is in it
