from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from k8sjob.doctor.gather import gather
from k8sjob.doctor.line import Status
from k8sjob.doctor.purpose import NEEDS, Purpose
from k8sjob.ledger import settings
from tests.doctor.mute import mute_server

if TYPE_CHECKING:
    from pathlib import Path

    from tests.doctor.conftest import Doctor
    from tests.fix_stores import Database

OK, WARN, FAIL = Status


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "ledgers"
    made.mkdir()
    return made


def test_a_dead_ledger_hides_no_other(doctor: Doctor, db: Database, folder: Path) -> None:
    (folder / "alive").write_text(db.dsn())
    (folder / "dead").write_text("postgresql://ann@127.0.0.1:1/shop")
    (folder / "empty").write_text("")
    (folder / "wrong").write_text("mysql://x")

    told = doctor.ask(K8SJOB_LEDGERS_DIR=str(folder))

    assert told.code == 1
    assert told.one("grants", "alive").status is OK
    assert told.one("reached", "dead").status is FAIL
    assert told.one("dsn", "empty").status is FAIL
    assert "is not an address of a ledger" in told.one("dsn", "wrong").seen


def test_the_default_ledger_is_among_them_where_it_is_set(
    doctor: Doctor, db: Database, folder: Path
) -> None:
    (folder / "stock").write_text(db.dsn())

    told = doctor.ask(K8SJOB_LEDGERS_DIR=str(folder), K8SJOB_DSN=db.dsn("operator"))

    assert {line.ledger: line.status for line in told.of("grants")} == {
        "default": WARN,
        "stock": OK,
    }


def test_what_is_about_no_ledger_is_told_once(doctor: Doctor, db: Database, folder: Path) -> None:
    for name in ("a", "b"):
        (folder / name).write_text(db.dsn())

    told = doctor.ask(K8SJOB_LEDGERS_DIR=str(folder))

    for check in ("rbac", "zones", "environment", "settings"):
        assert told.one(check).ledger is None


def test_a_server_that_never_answers_keeps_nobody(
    doctor: Doctor, db: Database, folder: Path
) -> None:
    (folder / "alive").write_text(db.dsn())
    with mute_server() as dsn:
        (folder / "mute").write_text(dsn)
        began = time.monotonic()
        told = doctor.ask("--timeout", "2s", K8SJOB_LEDGERS_DIR=str(folder))
        took_s = time.monotonic() - began

    assert took_s < 8
    assert (told.one("reached", "mute").status, told.code) == (FAIL, 1)
    assert told.one("reached", "mute").seen == "no answer within 2 s"
    assert told.one("grants", "alive").status is OK


def test_what_comes_too_late_changes_nothing_any_more() -> None:
    with mute_server() as dsn:
        address = settings.parse(dsn, "the test")
        facts = gather({"mute": address}, NEEDS[Purpose.SERVE], {}, within_s=0.5)
        (late,) = [one for one in threading.enumerate() if one.name == "ledger mute"]
    late.join(30)  # it is let go with the server, and has its error

    assert not late.is_alive()
    (ledger,) = facts.ledgers
    assert ledger.late
    assert ledger.survey is not None
    assert ledger.survey.trouble is None


def test_a_server_that_falls_silent_is_told_where_it_did(doctor: Doctor) -> None:
    with mute_server(after_the_login=True) as dsn:
        told = doctor.ask("--timeout", "2s", K8SJOB_DSN=dsn)

    assert told.one("reached").seen.startswith("ann at 127.0.0.1:")
    assert told.one("version").status is FAIL
    assert told.one("version").seen == "no answer within 2 s"


def test_a_server_that_breaks_off_is_told_where_it_did(doctor: Doctor) -> None:
    with mute_server(then_gone=True) as dsn:
        told = doctor.ask(K8SJOB_DSN=dsn)

    assert told.one("reached").status is OK
    line = told.one("version")
    assert line.status is FAIL
    assert line.seen.startswith("could not be asked: ")
    assert told.of("grants") == []


def test_a_ledger_that_is_named_is_the_only_one(doctor: Doctor, db: Database, folder: Path) -> None:
    for name in ("a", "b", "c"):
        (folder / name).write_text(db.dsn())

    told = doctor.ask("--ledger", "a", "--ledger", "c", K8SJOB_LEDGERS_DIR=str(folder))

    assert [line.ledger for line in told.of("grants")] == ["a", "c"]


def test_a_ledger_that_is_not_there_is_told(doctor: Doctor, folder: Path) -> None:
    told = doctor.ask("--ledger", "away", K8SJOB_LEDGERS_DIR=str(folder))

    assert told.one("dsn", "away").status is FAIL
    assert "No such file" in told.one("dsn", "away").seen


@pytest.mark.parametrize(
    ("purpose", "looked_at"),
    [
        *(("run", ["b"]), ("backfill", ["b"]), ("migrate", ["b"])),
        *(("reconcile", ["a", "b"]), ("serve", ["a", "b"])),
    ],
)
def test_the_usual_ledger_is_the_only_one_but_for_who_looks_after_all(
    doctor: Doctor, db: Database, folder: Path, purpose: str, looked_at: list[str]
) -> None:
    for name in ("a", "b"):
        (folder / name).write_text(db.dsn())

    told = doctor.ask("--for", purpose, K8SJOB_LEDGERS_DIR=str(folder), K8SJOB_LEDGER="b")

    assert [line.ledger for line in told.of("dsn")] == looked_at
