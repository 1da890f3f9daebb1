from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from k8sjob.doctor.line import Status
from tests.fix_pgbouncer import pooling
from tests.fix_report import PGBOUNCER, uses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.doctor.conftest import Doctor
    from tests.fix_pgbouncer import PgBouncer
    from tests.fix_stores import Database

OK, WARN, FAIL = Status


@contextmanager
def bouncer(
    request: pytest.FixtureRequest, db: Database, mode: str, more: str = ""
) -> Iterator[PgBouncer]:
    with pooling(db, mode, more) as made:
        uses(request.node, PGBOUNCER)
        yield made


def test_the_server_itself_is_no_pooler(doctor: Doctor, db: Database) -> None:
    told = doctor.ask(K8SJOB_DSN=db.dsn())

    assert told.one("transactions").status is OK
    assert told.one("pooler").seen == "none: this is the server itself"


@pytest.mark.parametrize("more", ["", "default_pool_size = 1\n"])
def test_transaction_mode_is_seen_and_what_it_means(
    doctor: Doctor, db: Database, request: pytest.FixtureRequest, more: str
) -> None:
    with bouncer(request, db, "transaction", more) as pooler:
        told = doctor.ask(K8SJOB_DSN=pooler.dsn())

    line = told.one("pooler")
    assert (line.status, told.one("transactions").status) == (OK, OK)
    assert line.seen.startswith("a pooler in transaction mode: claims, parts, holds and locks")
    assert "prepare_threshold=None" in line.seen


@pytest.mark.parametrize("held", [2, 8])
def test_a_pool_whose_connections_take_turns_is_told_as_well(
    doctor: Doctor, db: Database, request: pytest.FixtureRequest, held: int
) -> None:
    with bouncer(request, db, "transaction", "server_round_robin = 1\n") as pooler:
        rivals = [pooler.connect() for _ in range(held)]
        for rival in rivals:  # each with a transaction under way, so each with a connection
            rival.execute("SELECT 1")
        for rival in rivals:
            rival.rollback()
        line = doctor.ask(K8SJOB_DSN=pooler.dsn()).one("pooler")

    assert line.seen.startswith("a pooler in transaction mode")


def test_session_mode_is_as_good_as_no_pooler(
    doctor: Doctor, db: Database, request: pytest.FixtureRequest
) -> None:
    with bouncer(request, db, "session") as pooler:
        line = doctor.ask(K8SJOB_DSN=pooler.dsn()).one("pooler")

    assert line.status is OK
    assert line.seen.startswith("a pooler in session mode")


def test_statement_mode_fails(doctor: Doctor, db: Database, request: pytest.FixtureRequest) -> None:
    with bouncer(request, db, "statement") as pooler:
        told = doctor.ask(K8SJOB_DSN=pooler.dsn())

    assert (told.code, told.one("transactions").status) == (1, FAIL)
    line = told.one("pooler")
    assert line.status is FAIL
    assert line.seen.startswith("a pooler in statement mode: no claim")
    assert "pool_mode = transaction" in line.do


def test_a_pooler_without_a_second_connection_is_told_as_one_of_unknown_mode(
    doctor: Doctor, db: Database, request: pytest.FixtureRequest
) -> None:
    with bouncer(request, db, "session", "default_pool_size = 1\n") as pooler:
        told = doctor.ask("--timeout", "3s", K8SJOB_DSN=pooler.dsn())

    line = told.one("pooler")
    assert line.status is WARN
    assert line.seen == "a pooler, whose mode could not be told"
    assert "--timeout" not in told.out


def test_a_client_that_is_dead_is_the_poolers_to_notice(
    doctor: Doctor, db: Database, pgbouncer: PgBouncer
) -> None:
    assert pgbouncer.db is db

    line = doctor.ask(K8SJOB_DSN=pgbouncer.dsn()).one("keepalives")

    assert line.seen.startswith("it is the pooler that notices a dead client")


def test_a_startup_parameter_that_pgbouncer_refuses_is_told(
    doctor: Doctor, db: Database, pgbouncer: PgBouncer
) -> None:
    assert pgbouncer.db is db

    line = doctor.ask(K8SJOB_DSN=pgbouncer.dsn(options="-c statement_timeout=1")).one("reached")

    assert line.status is FAIL
    assert "ignore_startup_parameters" in line.do
