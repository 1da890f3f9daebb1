from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from k8sjob.doctor.line import Status
from k8sjob.doctor.purpose import NEEDS, Purpose
from k8sjob.doctor.schema import check_schema
from k8sjob.ledger.survey import Schema, newest_version

if TYPE_CHECKING:
    from tests.doctor.conftest import Doctor
    from tests.fix_stores import Database

RUN, MIGRATE = NEEDS[Purpose.RUN], NEEDS[Purpose.MIGRATE]
OK, FAIL = Status.OK, Status.FAIL


def schema(version: int | None = 4, oldest: str | None = "0.1.0", **other: bool) -> Schema:
    given = {"there": True, "usable": True, "may_create": False} | other
    return Schema(version=version, oldest_client=oldest, **given)


def test_the_schema_of_this_client_is_right(doctor: Doctor, db: Database) -> None:
    line = doctor.ask(K8SJOB_DSN=db.dsn()).one("schema")

    assert (line.status, line.seen) == (OK, f"version {newest_version()}, that of this client")


@pytest.mark.parametrize(
    ("purpose", "role", "statuses"),
    [("run", "runner", [FAIL]), ("migrate", "owner", [OK])],
)
def test_a_database_without_the_schema_is_for_migrate_alone(
    doctor: Doctor, db: Database, purpose: str, role: str, statuses: list[Status]
) -> None:
    db.connect("admin", autocommit=True).execute("DROP SCHEMA k8sjob CASCADE")

    told = doctor.ask("--for", purpose, K8SJOB_DSN=db.dsn("owner" if role == "owner" else "runner"))

    assert [line.status for line in told.of("schema")] == statuses
    assert [line.status for line in told.of("grants")] == ([OK] if role == "owner" else [])


def test_who_may_make_no_schema_is_told_what_to_grant(doctor: Doctor, db: Database) -> None:
    db.connect("admin", autocommit=True).execute("DROP SCHEMA k8sjob CASCADE")

    line = doctor.ask("--for", "migrate", K8SJOB_DSN=db.dsn("runner")).one("grants")

    assert line.status is FAIL
    assert "GRANT CREATE ON DATABASE" in line.do


def test_an_older_schema_fails_all_but_migrate(doctor: Doctor, db: Database) -> None:
    admin = db.connect("admin", autocommit=True)
    admin.execute("DELETE FROM k8sjob.migrations WHERE version > 2")

    line = doctor.ask(K8SJOB_DSN=db.dsn()).one("schema")
    assert line.status is FAIL
    assert "version 2, older than the" in line.seen
    assert line.do == "as the ledger's owner: k8sjob migrate"
    line = doctor.ask("--for", "migrate", K8SJOB_DSN=db.dsn("owner")).one("schema")
    assert line.status is OK


def test_a_newer_schema_that_lets_this_client_in_is_right(doctor: Doctor, db: Database) -> None:
    admin = db.connect("admin", autocommit=True)
    admin.execute("INSERT INTO k8sjob.migrations VALUES (99, 'later', now(), '0.1.0')")

    line = doctor.ask(K8SJOB_DSN=db.dsn()).one("schema")

    assert line.status is OK
    assert "version 99, newer than the" in line.seen


def test_a_newer_schema_that_refuses_this_client_fails(doctor: Doctor, db: Database) -> None:
    admin = db.connect("admin", autocommit=True)
    admin.execute("INSERT INTO k8sjob.migrations VALUES (99, 'later', now(), '0.10.0')")

    line = doctor.ask(K8SJOB_DSN=db.dsn()).one("schema")

    assert line.status is FAIL
    assert "takes clients from 0.10.0 on" in line.seen
    assert line.do == "put k8sjob 0.10.0 or later into this image"


def test_an_empty_schema_is_one_that_migrate_fills() -> None:
    empty = schema(None, None)

    assert check_schema(empty, MIGRATE, newest=4, client="0.1.0").status is OK
    assert check_schema(empty, RUN, newest=4, client="0.1.0").status is FAIL


@pytest.mark.parametrize(("client", "status"), [("0.9.0", FAIL), ("0.10.0", OK), ("1.0.0", OK)])
def test_versions_are_compared_by_their_numbers(client: str, status: Status) -> None:
    found = check_schema(schema(oldest="0.10.0"), RUN, newest=4, client=client)

    assert found.status is status
