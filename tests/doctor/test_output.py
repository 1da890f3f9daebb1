from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from k8sjob.doctor.line import CHECKS, Line, Status, seconds
from k8sjob.doctor.report import summary

if TYPE_CHECKING:
    from pathlib import Path

    from tests.doctor.conftest import Doctor
    from tests.fix_stores import Database


def test_each_check_is_one_line_with_what_was_seen_and_what_to_do(
    doctor: Doctor, db: Database
) -> None:
    told = doctor.call(K8SJOB_DSN=db.dsn("reader"))

    header, *lines = told.out.splitlines()
    assert header.split() == ["STATUS", "CHECK", "SEEN;", "WHAT", "TO", "DO"]
    found = {line.split()[1]: line for line in lines}
    assert set(found) == set(CHECKS) - {"file"}
    assert found["grants"].startswith("fail    grants        k8sjob_reader is no runner")
    assert found["grants"].endswith(
        "; as the ledger's owner: k8sjob migrate --grant-runner k8sjob_reader"
    )


def test_the_end_is_told_beside_the_data(doctor: Doctor, db: Database) -> None:
    told = doctor.call(K8SJOB_DSN=db.dsn("reader"))

    statuses = [line.split()[0] for line in told.out.splitlines()[1:]]
    failed, warned, right = (statuses.count(status) for status in ("fail", "warn", "ok"))
    assert (told.code, failed) == (1, 1)
    assert told.err == f"{failed} failed, {warned} warnings, {right} ok\n"


def test_warnings_end_with_0(doctor: Doctor, db: Database) -> None:
    told = doctor.ask(K8SJOB_DSN=db.dsn("admin"))

    assert told.one("grants").status is Status.WARN
    assert told.code == 0


def test_several_ledgers_have_a_column(doctor: Doctor, db: Database, tmp_path: Path) -> None:
    for name in ("shop", "stock"):
        (tmp_path / name).write_text(db.dsn())

    told = doctor.call(K8SJOB_LEDGERS_DIR=str(tmp_path))

    header, first, *_, last = told.out.splitlines()
    assert header.split()[:3] == ["STATUS", "CHECK", "LEDGER"]
    assert first.split()[:3] == ["ok", "dsn", "shop"]
    assert last.split()[:3] == ["ok", "settings", "-"]


def test_json_is_all_that_is_on_standard_output(doctor: Doctor, db: Database) -> None:
    told = doctor.call("-o", "json", "--for", "serve", K8SJOB_DSN=db.dsn("reader"))

    found = json.loads(told.out)
    assert (found["for"], found["ok"], told.err) == ("serve", True, "")
    keys = ["status", "check", "ledger", "seen", "do"]
    assert all(list(check) == keys for check in found["checks"])
    assert {check["do"] for check in found["checks"] if check["status"] == "ok"} == {None}


def test_json_says_that_something_failed(doctor: Doctor, db: Database) -> None:
    told = doctor.call("-o", "json", K8SJOB_DSN=db.dsn("reader"))

    assert (json.loads(told.out)["ok"], told.code) == (False, 1)


def test_what_has_to_be_done_has_words(doctor: Doctor, db: Database) -> None:
    told = doctor.ask("--for", "migrate", K8SJOB_DSN=db.dsn("reader"))

    assert all(line.do for line in told.lines if line.status is not Status.OK)


def test_an_unknown_purpose_is_a_usage_error(doctor: Doctor) -> None:
    assert doctor.call("--for", "fun").code == 64


def test_a_line_stays_one_line() -> None:
    line = Line(Status.FAIL, "dsn", "first\n  second", "third\nfourth")

    assert line.text == "first second; third fourth"


def test_one_warning_is_one() -> None:
    assert summary([Line(Status.WARN, "dsn", "x", "y")]) == "0 failed, 1 warning, 0 ok"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0004, "0 ms"),
        (0.25, "250 ms"),
        (1, "1 s"),
        (12.5, "12.5 s"),
        (119, "119 s"),
        (120, "2 min"),
        (3600, "1 h"),
        (7875, "2 h 11 min"),
    ],
)
def test_durations_are_in_the_words_of_people(value: float, words: str) -> None:
    assert seconds(value) == words
