from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import pytest
from psycopg import sql

from k8sjob.doctor.line import Status
from k8sjob.doctor.purpose import Purpose
from tests.template import Role, url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.doctor.conftest import Doctor
    from tests.fix_stores import Connection, Database

OK, WARN, FAIL = Status
TABLE: dict[Purpose, dict[Role, Status]] = {
    Purpose.RUN: {"reader": FAIL, "runner": OK, "operator": WARN, "owner": WARN, "admin": WARN},
    Purpose.RECONCILE: {"reader": FAIL, "runner": FAIL, "operator": OK, "owner": WARN},
    Purpose.BACKFILL: {"reader": FAIL, "runner": FAIL, "operator": OK, "owner": WARN},
    Purpose.SERVE: {"reader": OK, "runner": WARN, "operator": WARN, "owner": WARN, "admin": WARN},
    Purpose.MIGRATE: {"reader": FAIL, "runner": FAIL, "operator": FAIL, "owner": OK, "admin": WARN},
}


@pytest.fixture
def admin(db: Database) -> Connection:
    return db.connect("admin", autocommit=True)


@pytest.fixture
def stranger(admin: Connection) -> Iterator[str]:
    """Make a role that was granted nothing, and give its name."""
    name = f"k8sjob_t_{secrets.token_hex(4)}"
    make = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}")
    admin.execute(make.format(sql.Identifier(name), sql.Literal(f"{name}-secret")))
    yield name
    admin.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(name)))
    admin.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


def dsn_of(db: Database, name: str) -> str:
    parts = url(db.server.admin_dsn, "runner", db.name).split("@", 1)
    return f"postgresql://{name}:{name}-secret@{parts[1].rpartition('@')[2]}"


@pytest.mark.parametrize("purpose", Purpose)
def test_less_than_is_needed_fails_and_more_is_a_warning(
    doctor: Doctor, db: Database, purpose: Purpose
) -> None:
    found = {
        role: doctor.ask("--for", str(purpose), K8SJOB_DSN=db.dsn(role)).one("grants").status
        for role in TABLE[purpose]
    }

    assert found == TABLE[purpose]


def test_what_is_missing_is_named_with_the_line_that_gives_it(doctor: Doctor, db: Database) -> None:
    line = doctor.ask(K8SJOB_DSN=db.dsn("reader")).one("grants")

    assert "claim()" in line.seen
    assert line.do == "as the ledger's owner: k8sjob migrate --grant-runner k8sjob_reader"


def test_a_stranger_lacks_the_schema_itself(doctor: Doctor, db: Database, stranger: str) -> None:
    told = doctor.ask(K8SJOB_DSN=dsn_of(db, stranger))

    assert told.one("schema").status is FAIL
    assert "it lacks USAGE on schema k8sjob" in told.one("grants").seen
    assert f"--grant-runner {stranger}" in told.one("grants").do


def test_the_line_that_it_gives_does_help(
    doctor: Doctor, db: Database, stranger: str, admin: Connection
) -> None:
    admin.execute("SELECT k8sjob.grant_access('runner', %s)", (stranger,))

    assert doctor.ask(K8SJOB_DSN=dsn_of(db, stranger)).one("grants").status is OK


def test_who_may_become_the_owner_may_too_much(
    doctor: Doctor, db: Database, stranger: str, admin: Connection
) -> None:
    admin.execute("SELECT k8sjob.grant_access('runner', %s)", (stranger,))
    admin.execute(sql.SQL("ALTER ROLE {} NOINHERIT").format(sql.Identifier(stranger)))
    admin.execute(sql.SQL("GRANT k8sjob_owner TO {}").format(sql.Identifier(stranger)))

    line = doctor.ask(K8SJOB_DSN=dsn_of(db, stranger)).one("grants")

    assert line.status is WARN
    assert "may become, the schema's owner k8sjob_owner" in line.seen


def test_who_may_write_past_the_functions_may_too_much(
    doctor: Doctor, db: Database, stranger: str, admin: Connection
) -> None:
    admin.execute("SELECT k8sjob.grant_access('runner', %s)", (stranger,))
    grant = sql.SQL("GRANT DELETE ON k8sjob.periods TO {}").format(sql.Identifier(stranger))
    admin.execute(grant)

    line = doctor.ask(K8SJOB_DSN=dsn_of(db, stranger)).one("grants")

    assert line.status is WARN
    assert "write past k8sjob to its tables: periods" in line.seen


def test_a_table_that_may_not_be_read_is_named(
    doctor: Doctor, db: Database, stranger: str, admin: Connection
) -> None:
    admin.execute("SELECT k8sjob.grant_access('runner', %s)", (stranger,))
    revoke = sql.SQL("REVOKE SELECT ON k8sjob.holds FROM {}").format(sql.Identifier(stranger))
    admin.execute(revoke)

    line = doctor.ask(K8SJOB_DSN=dsn_of(db, stranger)).one("grants")

    assert line.status is FAIL
    assert "it lacks SELECT on holds" in line.seen


def test_a_superuser_is_told_as_one(doctor: Doctor, db: Database) -> None:
    line = doctor.ask("--for", "migrate", K8SJOB_DSN=db.dsn("admin")).one("grants")

    assert "is a superuser" in line.seen
