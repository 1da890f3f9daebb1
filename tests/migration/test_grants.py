"""``--grant-operator``, ``--grant-runner`` and ``--grant-reader`` let a role in, by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import errors

from tests.migration.catalogue import catalogue
from tests.migration.empty import APPLIED, PASSWORD

if TYPE_CHECKING:
    from tests.migration.empty import Empty

ODD = """ Odd-Role "x" 'y' é;"""
JOB, PERIOD = "billing/daily-credit", "2026-09-13"


@pytest.mark.parametrize("capability", ["operator", "runner", "reader"])
def test_a_role_of_any_name_is_let_in(empty: Empty, capability: str) -> None:
    role = empty.make_role(ODD)
    told = empty.migrate(f"--grant-{capability}", role)
    assert told == (0, f"{APPLIED}granted {capability} to {role}\n", "")
    with _as(empty, role) as conn:
        assert conn.execute("SELECT count(*) FROM k8sjob.periods").fetchone() == (0,)
        assert _may_claim(conn) is (capability != "reader")
        assert _may_reopen(conn) is (capability == "operator")


def test_several_roles_are_let_in_at_once(empty: Empty) -> None:
    one, two = empty.make_role("-one"), empty.make_role("-two")
    told = empty.migrate("--grant-runner", one, "--grant-runner", two, "--grant-reader", one)
    assert told.code == 0
    assert sorted(empty.rows("SELECT capability, grantee FROM k8sjob.grants")) == sorted(
        [("reader", one), ("runner", one), ("runner", two)]
    )


def test_a_grant_is_repeated_without_harm(empty: Empty) -> None:
    role = empty.make_role("-app")
    empty.migrate("--grant-runner", role)
    before = catalogue(empty)
    told = empty.migrate("--grant-runner", role)
    assert told == (0, f"granted runner to {role}\n", "the ledger is up to date\n")
    assert catalogue(empty) == before


def test_a_role_that_does_not_exist_is_refused(empty: Empty) -> None:
    empty.migrate()
    before = catalogue(empty)
    for name in ("k8sjob_no_such_role", "public", "PUBLIC", "current_user"):  # GRANT knows three
        told = empty.migrate("--grant-runner", name)
        assert told.code == 78
        assert f"there is no role {name} in this database. Nothing was granted to it." in told.err
        assert f'First: CREATE ROLE "{name}" LOGIN' in told.err
    assert catalogue(empty) == before


def test_only_the_owner_grants(empty: Empty) -> None:
    role = empty.make_role("-app")
    empty.migrate("--grant-operator", "k8sjob_operator")
    told = empty.migrate("--grant-runner", role, role="operator")
    assert told.code == 77
    assert "permission denied for function grant_access" in told.err
    assert "Connect as the role that owns schema k8sjob" in told.err
    assert empty.rows("SELECT count(*) FROM k8sjob.grants") == [(1,)]


def test_a_role_that_went_is_left_out_when_a_later_step_grants_again(empty: Empty) -> None:
    gone, stays = empty.make_role("-gone"), empty.make_role("-stays")
    empty.migrate("--grant-runner", gone, "--grant-runner", stays)
    empty.run(f'DROP OWNED BY "{gone}"')
    empty.run(f'DROP ROLE "{gone}"')
    empty.made.remove(gone)
    owner = empty.db.connect("owner")
    owner.execute("CREATE FUNCTION k8sjob.claim_text(a integer) RETURNS text RETURN 'new'")
    owner.execute("REVOKE ALL ON FUNCTION k8sjob.claim_text(integer) FROM PUBLIC")
    assert owner.execute("SELECT k8sjob.grant_again()").fetchone() == (1,)
    owner.commit()
    with _as(empty, stays) as conn:
        assert conn.execute("SELECT k8sjob.claim_text(1)").fetchone() == ("new",)


def test_what_is_taken_from_a_role_does_not_come_back(empty: Empty) -> None:
    role, stays = empty.make_role(ODD), empty.make_role("-stays")
    empty.migrate("--grant-operator", role, "--grant-runner", stays)
    told = empty.migrate("--revoke", role)
    assert told == (0, f"took all rights from {role}\n", "the ledger is up to date\n")
    with empty.db.connect("owner") as owner:
        assert owner.execute("SELECT k8sjob.grant_again()").fetchone() == (1,)
    with _as(empty, role) as conn, pytest.raises(errors.InsufficientPrivilege):
        conn.execute("SELECT count(*) FROM k8sjob.periods")
    left = (
        "SELECT count(*) FROM pg_proc p, aclexplode(p.proacl) a WHERE a.grantee::regrole::text = "
    )
    assert empty.rows(left + f"quote_ident('{role.replace(chr(39), chr(39) * 2)}')") == [(0,)]
    with _as(empty, stays) as conn:
        assert _may_claim(conn)


def test_an_operator_becomes_a_runner(empty: Empty) -> None:
    role = empty.make_role("-app")
    empty.migrate("--grant-operator", role)
    assert empty.migrate("--grant-runner", role, "--revoke", role).code == 0
    with _as(empty, role) as conn:
        assert _may_claim(conn)
        assert not _may_reopen(conn)


def test_a_role_that_is_gone_is_forgotten(empty: Empty) -> None:
    gone = empty.make_role("-gone")
    empty.migrate("--grant-runner", gone)
    empty.run(f'DROP OWNED BY "{gone}"')
    empty.run(f'DROP ROLE "{gone}"')
    empty.made.remove(gone)
    assert empty.migrate("--revoke", gone).code == 0
    assert empty.rows("SELECT count(*) FROM k8sjob.grants") == [(0,)]


def test_nothing_is_taken_from_the_owner_nor_by_anybody_else(empty: Empty) -> None:
    empty.migrate("--grant-operator", "k8sjob_operator")
    before = catalogue(empty)
    told = empty.migrate("--revoke", "k8sjob_owner")
    assert (told.code, "owns the ledger: nothing was taken from it" in told.err) == (64, True)
    assert empty.migrate("--revoke", "k8sjob_operator", role="operator").code == 77
    assert catalogue(empty) == before


def _as(empty: Empty, role: str) -> psycopg.Connection:
    return psycopg.connect(empty.db.dsn("admin"), user=role, password=PASSWORD)


def _may_claim(conn: psycopg.Connection) -> bool:
    return _may(conn, "SELECT k8sjob.claim(%s, %s)")


def _may_reopen(conn: psycopg.Connection) -> bool:
    return _may(conn, "SELECT k8sjob.reopen(%s, %s, 'again', 'me')")


def _may(conn: psycopg.Connection, query: str) -> bool:
    try:
        conn.execute(query.encode(), (JOB, PERIOD))
    except errors.InsufficientPrivilege:
        return False
    finally:
        conn.rollback()
    return True
