from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from k8sjob.doctor.access import Api
from k8sjob.doctor.file import check_file
from k8sjob.doctor.gather import Facts, LedgerFacts
from k8sjob.doctor.line import Status
from k8sjob.doctor.places import Zones
from k8sjob.doctor.purpose import Purpose
from k8sjob.doctor.report import examine
from k8sjob.ledger.settings import Address, Kind
from k8sjob.ledger.survey import FileSurvey

if TYPE_CHECKING:
    from pathlib import Path

    from tests.doctor.conftest import Doctor

OK, WARN, FAIL = Status


def test_a_file_with_a_ledger_is_right_for_a_run(doctor: Doctor, sqlite_path: Path) -> None:
    told = doctor.ask(K8SJOB_DSN=f"sqlite:///{sqlite_path}")

    assert told.code == 0
    assert told.one("dsn").seen == "from K8SJOB_DSN: a SQLite file"
    assert f"SQLite {sqlite3.sqlite_version}" in told.one("file").seen
    assert told.one("schema").status is OK
    assert told.of("clock") == told.of("pooler") == []


def test_looking_makes_no_file(doctor: Doctor, tmp_path: Path) -> None:
    file = tmp_path / "new.db"

    line = doctor.ask(K8SJOB_DSN=f"sqlite:///{file}").one("file")

    assert (line.status, file.exists()) == (OK, False)
    assert "the first k8sjob run makes it" in line.seen


def test_a_folder_that_is_not_there_fails(doctor: Doctor, tmp_path: Path) -> None:
    told = doctor.ask(K8SJOB_DSN=f"sqlite:///{tmp_path}/away/new.db")

    assert (told.one("file").status, told.code) == (FAIL, 1)


def test_a_database_without_a_ledger_is_told(doctor: Doctor, tmp_path: Path) -> None:
    file = tmp_path / "shop.db"
    with closing(sqlite3.connect(file)) as conn, conn:
        conn.execute("CREATE TABLE accounts (name TEXT)")

    line = doctor.ask(K8SJOB_DSN=f"sqlite:///{file}").one("file")

    assert line.status is OK
    assert "no ledger yet" in line.seen


def test_what_is_no_database_fails(doctor: Doctor, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("these are notes, and no database at all\n" * 100)

    line = doctor.ask(K8SJOB_DSN=f"sqlite:///{file}").one("file")

    assert line.status is FAIL
    assert "file is not a database" in line.seen


def test_a_damaged_file_fails(doctor: Doctor, sqlite_path: Path) -> None:
    data = bytearray(sqlite_path.read_bytes())
    size = int.from_bytes(data[16:18], "big")
    data[2 * size : 4 * size] = bytes(2 * size)
    sqlite_path.write_bytes(data)

    line = doctor.ask(K8SJOB_DSN=f"sqlite:///{sqlite_path}").one("file")

    assert line.status is FAIL


def test_a_newer_ledger_that_refuses_this_client_fails(doctor: Doctor, sqlite_path: Path) -> None:
    with closing(sqlite3.connect(sqlite_path)) as conn, conn:
        conn.execute("INSERT INTO k8sjob_migrations VALUES (99, 'later', '2026-01-01', '99.0.0')")

    line = doctor.ask(K8SJOB_DSN=f"sqlite:///{sqlite_path}").one("schema")

    assert line.status is FAIL
    assert "takes clients from 99.0.0 on" in line.seen


def test_a_file_that_somebody_writes_to_is_right(doctor: Doctor, sqlite_path: Path) -> None:
    with closing(sqlite3.connect(sqlite_path, isolation_level=None)) as rival:
        rival.execute("BEGIN IMMEDIATE")

        line = doctor.ask(K8SJOB_DSN=f"sqlite:///{sqlite_path}").one("file")

    assert line.status is OK
    assert "another process is writing just now" in line.seen


def test_a_file_that_takes_no_writes_fails() -> None:
    found = FileSurvey("/k8sjob/l.db", size=4096, writable=False, version=1, oldest_client="0.1.0")

    line = next(check_file(found, Purpose.RUN, "0.1.0"))

    assert line.status is FAIL
    assert "it takes no writes" in line.seen


@pytest.mark.parametrize(
    ("purpose", "code", "status"),
    [("reconcile", 1, FAIL), ("serve", 1, FAIL), ("backfill", 0, WARN)],
)
def test_what_is_for_postgres_alone_says_so(
    doctor: Doctor, sqlite_path: Path, purpose: str, code: int, status: Status
) -> None:
    told = doctor.ask("--for", purpose, K8SJOB_DSN=f"sqlite:///{sqlite_path}")

    assert (told.code, told.one("grants").status) == (code, status)


def test_a_file_can_be_migrated(doctor: Doctor, sqlite_path: Path) -> None:
    assert doctor.ask("--for", "migrate", K8SJOB_DSN=f"sqlite:///{sqlite_path}").code == 0


def test_a_file_that_is_not_read_in_time_is_no_matter_of_networks() -> None:
    address = Address(Kind.SQLITE, "sqlite:///large.db", "K8SJOB_DSN")
    late = LedgerFacts("default", address, FileSurvey("large.db", step="damage"), late=True)
    facts = Facts([late], Api(in_cluster=False), Zones("2026a"), {}, within_s=15)

    lines = examine(facts, Purpose.RUN, newest=1, client="0.1.0")

    (line,) = [line for line in lines if line.check == "file"]
    assert (line.status, line.seen) == (FAIL, "no answer within 15 s")
    assert "--timeout gives it more" in line.do
    assert "firewall" not in line.do
