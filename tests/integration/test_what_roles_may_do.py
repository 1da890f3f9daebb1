"""What operator, runner and reader may do, by the catalogue: nothing is granted unnoticed."""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING, Any, get_args

import psycopg
import pytest
from psycopg import errors, sql

from tests.integration.rights import CHANGES, DEFINERS, FUNCTIONS, NOBODY
from tests.template import Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fix_stores import Connection, Database

ROLES: tuple[Role, ...] = ("operator", "runner", "reader")
WRITING = ("INSERT", "UPDATE", "DELETE", "TRUNCATE")


@pytest.fixture
def admin(db: Database) -> Connection:
    """Connect as the superuser, to read the catalogue."""
    return db.connect("admin", autocommit=True)


@pytest.fixture
def stranger(admin: Connection) -> Iterator[Connection]:
    """Be a role that was granted nothing."""
    name = sql.Identifier(f"k8sjob_t_{secrets.token_hex(4)}")
    admin.execute(sql.SQL("CREATE ROLE {}").format(name))
    admin.execute(sql.SQL("SET SESSION AUTHORIZATION {}").format(name))
    yield admin
    admin.execute("RESET SESSION AUTHORIZATION")
    admin.execute(sql.SQL("DROP ROLE {}").format(name))


def _tables(conn: Connection) -> dict[str, str]:
    """Return the tables of the schema, each with the name of a column that can be updated."""
    query = """SELECT c.relname, min(a.attname)
                 FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
                WHERE c.relnamespace = 'k8sjob'::regnamespace AND c.relkind = 'r'
                  AND a.attnum > 0 AND a.attgenerated = '' AND a.attidentity = ''
                GROUP BY c.relname"""
    found = dict(conn.execute(query).fetchall())
    assert len(found) > 15
    return found


def _functions(conn: Connection) -> list[tuple[Any, ...]]:
    query = """SELECT proname, oid, prosrc, prosecdef, proconfig, proowner::regrole::text
                 FROM pg_proc WHERE pronamespace = 'k8sjob'::regnamespace ORDER BY 1"""
    return conn.execute(query).fetchall()


# ------------------------------------------------------------------------------------- tables


def test_no_role_has_a_privilege_that_writes(db: Database, admin: Connection) -> None:
    words = [*WRITING, "REFERENCES", "TRIGGER", *(["MAINTAIN"] if db.server.major >= 17 else [])]
    query = """
        SELECT r, c.relname, p FROM pg_class c, unnest(%s::text[]) r, unnest(%s::text[]) p
         WHERE c.relnamespace = 'k8sjob'::regnamespace AND c.relkind IN ('r', 'v', 'm', 'p', 'f')
           AND has_table_privilege('k8sjob_' || r, c.oid, p)
        UNION ALL
        SELECT r, c.relname, p FROM pg_class c, unnest(%s::text[]) r, unnest(%s::text[]) p
         WHERE c.relnamespace = 'k8sjob'::regnamespace AND c.relkind = 'r'
           AND has_any_column_privilege('k8sjob_' || r, c.oid, p)
        UNION ALL
        SELECT r, c.relname, p FROM pg_class c, unnest(%s::text[]) r, unnest(%s::text[]) p
         WHERE c.relnamespace = 'k8sjob'::regnamespace AND c.relkind = 'S'
           AND has_sequence_privilege('k8sjob_' || r, c.oid, p)"""
    roles = list(ROLES)
    columns, sequences = ["INSERT", "UPDATE", "REFERENCES"], ["USAGE", "UPDATE"]
    params = (roles, words, roles, columns, roles, sequences)
    assert admin.execute(query, params).fetchall() == []


@pytest.mark.parametrize("role", ROLES)
def test_each_statement_that_writes_is_refused(db: Database, admin: Connection, role: Role) -> None:
    conn = db.connect(role, autocommit=True)
    for table, column in _tables(admin).items():
        for statement in (
            "INSERT INTO k8sjob.{t} DEFAULT VALUES",
            "UPDATE k8sjob.{t} SET {c} = {c}",
            "DELETE FROM k8sjob.{t}",
            "TRUNCATE k8sjob.{t}",
            "TRUNCATE k8sjob.{t} CASCADE",
            "SELECT FROM k8sjob.{t} FOR UPDATE",
            "SELECT FROM k8sjob.{t} FOR KEY SHARE",
            "LOCK TABLE k8sjob.{t} IN EXCLUSIVE MODE",
            "COPY k8sjob.{t} FROM STDIN",
            "ALTER TABLE k8sjob.{t} DISABLE TRIGGER ALL",
            "ALTER TABLE k8sjob.{t} ADD COLUMN more integer",
            "ALTER TABLE k8sjob.{t} RENAME TO other",
            "CREATE TRIGGER t BEFORE INSERT ON k8sjob.{t} EXECUTE FUNCTION k8sjob.guard_commit()",
            "CREATE RULE r AS ON INSERT TO k8sjob.{t} DO INSTEAD NOTHING",
            "CREATE INDEX ON k8sjob.{t} ({c})",
            "CREATE POLICY p ON k8sjob.{t}",
            "DROP TABLE k8sjob.{t}",
        ):
            text = sql.SQL(statement).format(t=sql.Identifier(table), c=sql.Identifier(column))
            with pytest.raises(errors.InsufficientPrivilege), conn.transaction():
                conn.execute(text)


@pytest.mark.parametrize("role", ROLES)
def test_all_may_look(db: Database, admin: Connection, role: Role) -> None:
    conn = db.connect(role)
    for table in _tables(admin):
        conn.execute(sql.SQL("SELECT count(*) FROM k8sjob.{}").format(sql.Identifier(table)))


@pytest.mark.parametrize("role", ROLES)
def test_nothing_is_added_to_the_schema_or_changed_in_it(db: Database, role: Role) -> None:
    conn = db.connect(role, autocommit=True)
    for statement in (
        "CREATE TABLE k8sjob.mine (a integer)",
        "CREATE FUNCTION k8sjob.mine() RETURNS integer RETURN 1",
        "CREATE OR REPLACE FUNCTION k8sjob.whole_job(job text) RETURNS text RETURN job",
        "ALTER FUNCTION k8sjob.reopen SECURITY INVOKER",
        "ALTER FUNCTION k8sjob.claim_answer RESET search_path",
        "DROP TRIGGER guard_commit ON k8sjob.periods",
        "DROP SCHEMA k8sjob CASCADE",
        "ALTER SCHEMA k8sjob OWNER TO CURRENT_USER",
        "SELECT nextval('k8sjob.events_id_seq')",
        "SELECT setval('k8sjob.events_id_seq', 1)",
        "SET ROLE k8sjob_owner",
        "SET SESSION AUTHORIZATION k8sjob_owner",
        "SET session_replication_role = replica",
    ):
        with pytest.raises(errors.InsufficientPrivilege):
            conn.execute(statement.encode())


# ---------------------------------------------------------------------------------- functions


def test_each_function_is_for_those_it_was_made_for(admin: Connection) -> None:
    found: dict[str, str] = {}
    for name, oid, *_ in _functions(admin):
        query = """SELECT r FROM unnest(%s::text[]) r
                    WHERE has_function_privilege('k8sjob_' || r, %s::oid, 'EXECUTE') ORDER BY r"""
        who = " ".join(role for (role,) in admin.execute(query, (list(ROLES), oid)))
        assert found.setdefault(name, who) == who, f"overloads of {name} differ"
    assert found == FUNCTIONS


def test_a_function_with_the_owners_rights_looks_nowhere_but_in_the_catalogue(
    admin: Connection,
) -> None:
    found = {name for name, _, _, definer, *_ in _functions(admin) if definer}
    assert found == DEFINERS
    for name, _, _, definer, config, owner in _functions(admin):
        assert owner == "k8sjob_owner"
        if definer:
            # Temporary objects last: else a role's own temporary table would come first.
            assert "search_path=pg_catalog, pg_temp" in (config or []), name


WRITES = re.compile(r"\b(INSERT INTO|UPDATE|DELETE FROM|TRUNCATE|MERGE)\s+(k8sjob\.\w+)")


def test_what_writes_acts_with_the_owners_rights_or_is_nobodys(admin: Connection) -> None:
    writing = {name for name, _, source, *_ in _functions(admin) if WRITES.search(source)}
    assert {"claim_answer", "await", "move", "prune_periods", "grant_access"} < writing
    assert writing - DEFINERS == {"move", "grant_access", "revoke_access"}
    assert {FUNCTIONS[name] for name in writing - DEFINERS} == {NOBODY}


def test_history_is_only_ever_added_to(admin: Connection) -> None:
    done = {
        (name, what, table.removeprefix("k8sjob."))
        for name, _, source, *_ in _functions(admin)
        for what, table in WRITES.findall(source)
        if what != "INSERT INTO" and table not in {"k8sjob.jobs", "k8sjob.counters"}
    }
    assert done == CHANGES


def _arguments(conn: Connection, oid: int) -> str:
    query = """SELECT array(SELECT format_type(t, NULL) FROM unnest(proargtypes) t)
                 FROM pg_proc WHERE oid = %s"""
    ((types,),) = conn.execute(query, (oid,)).fetchall()
    return ", ".join(f"NULL::{name}" for name in types)


def test_each_function_that_is_not_theirs_is_refused(db: Database, admin: Connection) -> None:
    assert set(get_args(Role)) == {*ROLES, "owner", "admin"}
    conns = {role: db.connect(role, autocommit=True) for role in ROLES}
    refused = 0
    for name, oid, *_ in _functions(admin):
        for role, conn in conns.items():
            if role not in FUNCTIONS[name].split():
                call = f"SELECT k8sjob.{sql.Identifier(name).as_string()}({_arguments(admin, oid)})"
                with pytest.raises(errors.InsufficientPrivilege):
                    conn.execute(call.encode())
                refused += 1
    assert refused > 40


# ------------------------------------------------------------------------------------- others


def test_the_public_has_nothing(admin: Connection) -> None:
    query = """
        SELECT o.name, a.privilege_type
          FROM (SELECT nspname, nspacl FROM pg_namespace WHERE nspname = 'k8sjob'
                UNION ALL
                SELECT relname, relacl FROM pg_class WHERE relnamespace = 'k8sjob'::regnamespace
                UNION ALL
                SELECT c.relname || '.' || attname, attacl FROM pg_attribute
                  JOIN pg_class c ON c.oid = attrelid WHERE relnamespace = 'k8sjob'::regnamespace
                UNION ALL
                SELECT proname, coalesce(proacl, acldefault('f', proowner)) FROM pg_proc
                 WHERE pronamespace = 'k8sjob'::regnamespace) o (name, acl),
               aclexplode(o.acl) a
         WHERE a.grantee = 0"""
    assert admin.execute(query).fetchall() == []


def test_nobody_can_pass_on_what_they_have(admin: Connection) -> None:
    query = """SELECT o.name, a.grantee::regrole FROM (
                 SELECT nspname, nspacl FROM pg_namespace WHERE nspname = 'k8sjob'
                 UNION ALL
                 SELECT relname, relacl FROM pg_class WHERE relnamespace = 'k8sjob'::regnamespace
                 UNION ALL
                 SELECT proname, proacl FROM pg_proc WHERE pronamespace = 'k8sjob'::regnamespace
               ) o (name, acl), aclexplode(o.acl) a
               WHERE a.is_grantable AND a.grantee::regrole::text <> 'k8sjob_owner'"""
    assert admin.execute(query).fetchall() == []


def test_a_role_without_a_grant_is_refused_everything(stranger: Connection) -> None:
    for table in _tables(stranger):
        look = sql.SQL("SELECT FROM k8sjob.{}").format(sql.Identifier(table))
        with pytest.raises(errors.InsufficientPrivilege):
            stranger.execute(look)
    for name, oid, *_ in _functions(stranger):
        call = f"SELECT k8sjob.{sql.Identifier(name).as_string()}({_arguments(stranger, oid)})"
        with pytest.raises(errors.InsufficientPrivilege):
            stranger.execute(call.encode())


def test_a_role_without_a_grant_is_told_what_to_do(db: Database) -> None:
    from k8sjob import claim
    from k8sjob.errors import Denied

    with psycopg.connect(db.dsn("reader")) as conn:
        with pytest.raises(Denied, match="k8sjob migrate --grant-runner") as caught:
            claim(conn, "billing/daily-credit:2026-09-13")
        conn.rollback()
    assert caught.value.exit_code == 77
