"""What the commands say, for a person and for a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.people.conftest import DAY, JOB, KEY

if TYPE_CHECKING:
    import pytest

    from tests.people.conftest import Desk


def test_what_is_under_way_is_listed_and_not_stopped(desk: Desk) -> None:
    attempt = desk.start()
    short = str(attempt)[:13]
    told = desk.call("block", KEY, "--reason", "no data")
    (line,) = [line for line in told.err.splitlines() if "under way" in line]
    assert line.startswith(f"1 attempt is already under way and is not stopped: {short} since ")
    assert line.endswith("Z in daily-credit-x2v")
    told = desk.call("block", JOB, "--reason", "no data")
    assert f" of {KEY} in daily-credit-x2v" in told.err
    for words in (("block", "-n", "billing"), ("block", "-A")):
        assert short in desk.call(*words, "--reason", "no data", "--yes").err
    assert short not in desk.call("block", "-n", "ops", "--reason", "no data", "--yes").err
    assert desk.call("block", f"{JOB}:2026-09-14", "--reason", "no data").err == ""


def test_of_many_attempts_ten_are_listed(desk: Desk) -> None:
    for _ in range(12):
        desk.start()
    told = desk.call("block", KEY, "--reason", "no data")
    assert told.err.startswith("12 attempts are already under way and are not stopped: ")
    assert told.err.endswith(" and 2 more\n")


def test_json_has_all_of_it(desk: Desk) -> None:
    attempt = desk.start()
    desk.put("done", attempt=attempt)
    told = desk.call("reopen", KEY, "--reason", "twice", "-o", "json").json
    (flight,) = told.pop("in_flight")
    assert (flight["attempt"], flight["key"], flight["pod"]) == (
        str(attempt),
        KEY,
        "daily-credit-x2v",
    )
    assert told == {
        "verb": "reopen",
        "dry_run": False,
        "changed": True,
        "reason": "twice",
        "by": "ann",
        "until": None,
        "indicator": None,
        "deadline": None,
        "periods": [
            {
                "key": KEY,
                "job": JOB,
                "period": DAY,
                "from": "done",
                "to": "open",
                "generation": 1,
                "result": "changed",
                "why": None,
                "attempt": str(attempt),
            }
        ],
        "holds": [],
    }


def test_json_of_a_refusal_says_that_nothing_is_changed(desk: Desk) -> None:
    desk.put("done")
    told = desk.call("skip", KEY, f"{JOB}:2026-09-14", "--reason", "why", "--yes", "-o", "json")
    assert told.code == 1
    assert told.json["changed"] is False
    assert [(p["result"], p["from"], p["to"]) for p in told.json["periods"]] == [
        ("refused", "done", "done"),
        ("unchanged", None, None),
    ]
    assert "reopen it first" in told.json["periods"][0]["why"]


def test_json_of_holds(desk: Desk) -> None:
    words = ("-n", "billing", "--yes", "-o", "json")
    told = desk.call("block", *words, "--reason", "why", "--until", "2999-01-01T00:00:00Z")
    assert told.json["holds"] == [
        {"namespace": "billing", "job": None, "result": "changed", "lifted": []}
    ]
    assert told.json["until"] == "2999-01-01T00:00:00Z"
    told = desk.call("release", *words, "--reason", "over")
    ((number,),) = desk.query(f"SELECT id FROM {desk.table('holds')}")
    assert told.json["holds"][0]["lifted"] == [number]
    assert desk.call("release", *words, "--reason", "over").json["changed"] is False


def test_names_are_what_was_changed_and_can_be_pasted(desk: Desk) -> None:
    other = f"{JOB}:2026-09-14"
    desk.put("skipped", other)
    told = desk.call("skip", KEY, other, "--reason", "why", "--yes", "-o", "name")
    assert told.out == f"{KEY}\n"
    told = desk.call("reopen", *told.out.split(), "--reason", "why", "-o", "name")
    assert told.out == f"{KEY}\n"


def test_who_decides_is_the_flag_the_variable_or_the_user_and_the_database_role(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.call("skip", KEY, "--reason", "why", "--by", "bob")
    desk.call("reopen", KEY, "--reason", "why")
    assert [event[4] for event in desk.events()] == ["bob", "ann"]
    if desk.store.db:
        assert desk.query("SELECT DISTINCT db_user FROM k8sjob.events") == [("k8sjob_operator",)]
    from k8sjob.cli.people import who

    monkeypatch.setenv("K8SJOB_BY", " ")
    monkeypatch.setenv("LOGNAME", "carol")
    assert who().startswith("carol@")


def test_times_are_utc_whatever_the_session_says(pg_desk: Desk) -> None:
    assert pg_desk.store.db
    role = f"ALTER ROLE k8sjob_operator IN DATABASE {pg_desk.store.db.name}"
    for setting in ("TimeZone = 'Asia/Tokyo'", "DateStyle = 'SQL, DMY'"):
        pg_desk.query(f"{role} SET {setting}")
    pg_desk.put("done")
    told = pg_desk.call("skip", KEY, "--reason", "why")
    assert "done 2026-09-13 00:00:07Z" in told.err
    told = pg_desk.call("block", JOB, "--reason", "why", "--until", "2999-07-14T19:00:00Z")
    assert "until 2999-07-14 19:00:00Z" in told.out
    pg_desk.query(f"{role} RESET ALL")


def test_a_runner_may_not_decide(pg_desk: Desk) -> None:
    for words in ((KEY,), (JOB,)):
        told = pg_desk.call("block", *words, "--reason", "why", dsn=pg_desk.store.dsn)
        assert told.code == 77
        assert "k8sjob migrate --grant-operator ROLE" in told.err
    assert (pg_desk.states(), pg_desk.holds()) == ({}, [])
