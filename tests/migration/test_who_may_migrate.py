"""The schema's owner migrates, with or without the right to make a schema; nobody else does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from k8sjob.ledger import migrate
from tests.migration.empty import APPLIED, STEPS

if TYPE_CHECKING:
    from tests.migration.empty import Empty


def test_an_owner_who_may_not_make_schemas_fills_the_one_made_for_it(empty: Empty) -> None:
    empty.run(f"ALTER DATABASE {empty.db.name} OWNER TO CURRENT_USER")
    told = empty.migrate()
    assert told.code == 77
    assert f"permission denied for database {empty.db.name}" in told.err
    assert f'GRANT CREATE ON DATABASE "{empty.db.name}" TO "k8sjob_owner"' in told.err

    empty.run("CREATE SCHEMA k8sjob AUTHORIZATION k8sjob_owner")
    assert empty.migrate() == (0, APPLIED, "")


def test_a_role_that_does_not_own_the_schema_is_denied(empty: Empty) -> None:
    empty.run("CREATE SCHEMA k8sjob AUTHORIZATION k8sjob_owner")
    empty.run(f"GRANT CREATE ON DATABASE {empty.db.name} TO k8sjob_runner")
    told = empty.migrate(role="runner")
    assert told.code == 77
    assert "permission denied for schema k8sjob" in told.err
    assert "Nothing was changed. Connect as the role that owns schema k8sjob" in told.err
    assert not empty.has_ledger()


def test_an_operator_cannot_apply_a_later_step(empty: Empty) -> None:
    empty.migrate("--grant-operator", "k8sjob_operator")
    step = migrate.Migration(
        len(STEPS) + 1, "more", "CREATE TABLE k8sjob.more (a integer);\n", "0.1.0"
    )
    operator = empty.db.connect("operator", autocommit=True)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        migrate._apply(operator, step)  # noqa: SLF001  # the one seam for a step that is not ours
    assert empty.versions() == STEPS


def test_a_role_that_may_look_is_told_that_nothing_is_to_be_done(empty: Empty) -> None:
    empty.migrate("--grant-reader", "k8sjob_reader")
    assert empty.migrate(role="reader") == (0, "", "the ledger is up to date\n")


@pytest.mark.parametrize(
    "other", ["TABLE k8sjob.jobs (id integer)", "TABLE k8sjob.migrations (id integer)"]
)
def test_a_schema_of_that_name_that_is_something_else_is_left_alone(
    empty: Empty, other: str
) -> None:
    owner = empty.db.connect("owner", autocommit=True)
    owner.execute("CREATE SCHEMA k8sjob")
    owner.execute(f"CREATE {other}".encode())
    told = empty.migrate()
    assert told.code == 78
    assert "schema k8sjob holds something that is no ledger: " in told.err
    assert "ALTER SCHEMA k8sjob RENAME TO k8sjob_before" in told.err
    tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'k8sjob'"
    assert empty.rows(tables) == [(1,)]


def test_default_privileges_of_the_database_let_nobody_into_the_ledger(empty: Empty) -> None:
    owner = empty.db.connect("owner", autocommit=True)
    for kind in ("TABLES", "SEQUENCES", "FUNCTIONS", "SCHEMAS"):
        for role in ("k8sjob_reader", "PUBLIC"):
            grant = f"ALTER DEFAULT PRIVILEGES GRANT ALL ON {kind} TO {role}"
            owner.execute(grant.encode())
    assert empty.migrate().code == 0
    acls = """SELECT a.grantee::regrole::text, o.name, a.privilege_type
                FROM (SELECT relname, relacl, relowner
                        FROM pg_class WHERE relnamespace = 'k8sjob'::regnamespace
                      UNION ALL
                      SELECT proname, coalesce(proacl, acldefault('f', proowner)), proowner
                        FROM pg_proc WHERE pronamespace = 'k8sjob'::regnamespace
                      UNION ALL
                      SELECT nspname, nspacl, nspowner
                        FROM pg_namespace WHERE nspname = 'k8sjob') o (name, acl, owner),
                     aclexplode(o.acl) a WHERE a.grantee <> o.owner"""
    assert empty.rows(acls) == []
