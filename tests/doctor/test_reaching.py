from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from k8sjob.doctor.access import Api
from k8sjob.doctor.gather import Facts, LedgerFacts
from k8sjob.doctor.line import Status
from k8sjob.doctor.places import Zones
from k8sjob.doctor.purpose import NEEDS, Purpose
from k8sjob.doctor.reach import check_login, check_server, check_trouble
from k8sjob.doctor.report import examine
from k8sjob.errors import Unavailable
from k8sjob.ledger import settings
from k8sjob.ledger.survey import Login, Pooling, Server, Survey

if TYPE_CHECKING:
    from pathlib import Path

    from k8sjob.doctor.line import Line
    from tests.doctor.conftest import Doctor
    from tests.fix_stores import Database

LOGIN = Login("ann", "db.example", 5432, "shop", tls=True, took_s=0.01)
ZONES = Zones("2026f")
RUN, SERVE = NEEDS[Purpose.RUN], NEEDS[Purpose.SERVE]


def test_without_a_ledger_it_says_how_to_set_one(doctor: Doctor) -> None:
    told = doctor.ask()

    line = told.one("dsn")
    assert (told.code, line.status, line.seen) == (1, Status.FAIL, "no ledger is set")
    assert "K8SJOB_DSN" in line.do


@pytest.mark.parametrize("how", ["K8SJOB_DSN", "K8SJOB_DSN_FILE", "ledger shop"])
def test_where_the_address_comes_from_is_told(
    doctor: Doctor, db: Database, tmp_path: Path, how: str
) -> None:
    (tmp_path / "shop").write_text(db.dsn())
    told = {
        "K8SJOB_DSN": lambda: doctor.ask(K8SJOB_DSN=db.dsn()),
        "K8SJOB_DSN_FILE": lambda: doctor.ask(K8SJOB_DSN_FILE=str(tmp_path / "shop")),
        "ledger shop": lambda: doctor.ask("--ledger", "shop", K8SJOB_LEDGERS_DIR=str(tmp_path)),
    }[how]()

    assert told.one("dsn").seen == f"from {how}: Postgres"


def test_the_environments_ledger_is_the_one_that_is_looked_at(
    doctor: Doctor, db: Database, tmp_path: Path
) -> None:
    for name in ("shop", "stock"):
        (tmp_path / name).write_text(db.dsn())

    told = doctor.ask(K8SJOB_LEDGERS_DIR=str(tmp_path), K8SJOB_LEDGER="stock")

    assert [line.ledger for line in told.of("dsn")] == ["stock"]


def test_a_folder_of_ledgers_that_is_not_there_is_told(doctor: Doctor, tmp_path: Path) -> None:
    told = doctor.ask(K8SJOB_LEDGERS_DIR=str(tmp_path / "away"))

    assert "is no folder that this user may list" in told.one("dsn", "?").seen
    assert told.code == 1


def test_who_is_in_is_told_without_the_password(doctor: Doctor, db: Database) -> None:
    line = doctor.ask(K8SJOB_DSN=db.dsn()).one("reached")

    assert line.status is Status.OK
    assert line.seen.startswith("k8sjob_runner at ")
    assert f"database {db.name}" in line.seen


@pytest.mark.parametrize(("tls", "words"), [(True, "with TLS"), (False, "without TLS")])
def test_it_is_told_whether_a_network_is_crossed_in_the_open(tls: bool, words: str) -> None:  # noqa: FBT001
    line = check_login(Login("ann", "db.example", 5432, "shop", tls, 0.0123))

    assert line.seen == f"ann at db.example:5432, database shop, in 12 ms, {words}"


def test_a_server_that_is_away_is_told_with_what_to_look_at(doctor: Doctor) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    told = doctor.ask(K8SJOB_DSN=f"postgresql://ann@127.0.0.1:{port}/shop")

    line = told.one("reached")
    assert line.status is Status.FAIL
    assert "refused" in line.seen
    assert "NetworkPolicy" in line.do
    assert told.of("grants") == []


def test_a_wrong_password_is_told_as_that(doctor: Doctor, db: Database) -> None:
    wrong = db.dsn().replace("k8sjob_runner:", "k8sjob_runner:x")

    line = doctor.ask(K8SJOB_DSN=wrong).one("reached")

    assert line.status is Status.FAIL
    assert "set user and password of the DSN right" in line.do


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://ann:p@ss@127.0.0.1:1/shop",
        "postgresql://ann:p/ss@127.0.0.1:1/shop",
        "postgresql://ann@127.0.0.1:port/shop",
        "host=127.0.0.1 secret=x",
    ],
)
def test_a_dsn_that_libpq_cannot_read_is_told_with_how_to_write_it(
    doctor: Doctor, dsn: str
) -> None:
    line = doctor.ask(K8SJOB_DSN=dsn).one("reached")

    assert line.status is Status.FAIL
    assert line.seen == "the ledger's DSN cannot be read by libpq"
    assert "%40 for @" in line.do
    assert "server's log" not in line.do


def test_a_database_that_is_not_there_is_told_as_that(doctor: Doctor, db: Database) -> None:
    line = doctor.ask(K8SJOB_DSN=db.dsn().replace(db.name, "k8sjob_away")).one("reached")

    assert line.status is Status.FAIL
    assert line.do == "give the DSN a user and a database that the server has"


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ('connection failed: FATAL: no pg_hba.conf entry for host "10.0.0.1"', "pg_hba.conf"),
        ("could not translate host name “db” to address: Name or service not known", "kubectl get"),
        ("FATAL: sorry, too many clients already", "max_connections"),
        ("FATAL: the database system is starting up", "wait until"),
        ("FATAL: unsupported startup parameter: options", "ignore_startup_parameters"),
        ("connection timeout expired", "overloaded"),
        ("session is read-only", "primary"),
        ("server certificate for “a” does not match host name “b”", "sslrootcert"),
        ("something that nobody has seen before", "server's log"),
    ],
)
def test_each_reason_for_not_being_let_in_has_its_advice(said: str, advice: str) -> None:
    line = check_trouble(Unavailable(f"the ledger cannot be reached: {said}\n  Nothing …"))

    assert line.seen == said
    assert advice in line.do


@pytest.mark.parametrize(
    ("version", "status"),
    [(130012, Status.FAIL), (140000, Status.OK), (180003, Status.OK), (190000, Status.WARN)],
)
def test_the_servers_version_is_compared_with_those_it_is_for(version: int, status: Status) -> None:
    server = Server(version, in_recovery=False, read_only=False)
    line = next(check_server(server, RUN))

    assert (line.check, line.status) == ("version", status)
    assert line.seen == f"Postgres {version // 10_000}.{version % 10_000}"


def test_a_standby_fails_who_writes_and_warns_who_reads() -> None:
    standby = Server(180000, in_recovery=True, read_only=True)

    assert [line.status for line in check_server(standby, RUN)] == [Status.OK, Status.FAIL]
    assert [line.status for line in check_server(standby, SERVE)] == [Status.OK, Status.WARN]


def test_a_login_that_is_read_only_by_default_fails_who_writes(
    doctor: Doctor, db: Database
) -> None:
    dsn = db.dsn(options="-c default_transaction_read_only=on")

    assert doctor.ask(K8SJOB_DSN=dsn).one("writable").status is Status.FAIL


def test_who_only_reads_may_be_read_only(doctor: Doctor, db: Database) -> None:
    dsn = db.dsn("reader", options="-c default_transaction_read_only=on")

    assert doctor.ask("--for", "serve", K8SJOB_DSN=dsn).one("writable").status is Status.OK


def examined(survey: Survey) -> list[Line]:
    address = settings.parse("postgresql://ann@db/shop", "K8SJOB_DSN")
    facts = Facts([LedgerFacts("default", address, survey)], Api(in_cluster=False), ZONES, {}, 15.0)
    return examine(facts, Purpose.RUN, newest=4, client="0.1.0")


def test_what_a_step_meets_is_told_and_the_others_go_on() -> None:
    survey = Survey(login=LOGIN, troubles={"schema": "deadlock detected"}, settings={})

    found = {line.check: line for line in examined(survey)}

    assert found["schema"].status is Status.FAIL
    assert found["schema"].seen == "could not be asked: deadlock detected"
    assert found["timeouts"].status is Status.OK


def test_what_ends_the_survey_is_told_where_it_did() -> None:
    survey = Survey(login=LOGIN, step="rights", trouble=Unavailable("KeyError: 'x'"))

    found = {line.check: line for line in examined(survey)}

    assert found["reached"].status is Status.OK
    assert (found["grants"].status, found["grants"].seen) == (
        Status.FAIL,
        "could not be asked: KeyError: 'x'",
    )


def test_a_pooler_that_gives_no_second_connection_is_no_failure() -> None:
    no = {"pooling": "query_wait_timeout"}
    survey = Survey(login=LOGIN, troubles=no, pooling=Pooling(between=True))

    found = [line.status for line in examined(survey) if line.check == "pooler"]

    assert found == [Status.WARN]
