"""A hold of a job, a namespace or all is set and lifted by name, and stops what begins later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.people.conftest import DAY, JOB, KEY

if TYPE_CHECKING:
    from pathlib import Path

    from tests.people.conftest import Desk

SCOPES = {
    "a job": ([JOB], ("billing", JOB), JOB),
    "a namespace": (["-n", "billing"], ("billing", None), "namespace billing"),
    "all": (["-A"], (None, None), "all jobs"),
}
each_scope = pytest.mark.parametrize("scope", SCOPES)


@each_scope
def test_a_hold_stops_a_run_until_it_is_released(desk: Desk, scope: str, tmp_path: Path) -> None:
    args, row, name = SCOPES[scope]
    work = tmp_path / "credit.sql"
    work.write_text("UPDATE accounts SET balance = balance + 10 WHERE name = 'alice';", "utf-8")
    run = ("run", str(work), "--job", JOB, "--period", DAY)

    told = desk.call("block", *args, "--reason", "bank holiday", "--yes")
    assert (told.code, told.out) == (0, f"{name}  blocked: bank holiday\n")
    assert desk.holds() == [(*row, "bank holiday", "ann", None, None)]
    assert "bank holiday" in desk.call(*run, dsn=desk.store.dsn).out
    assert desk.query("SELECT balance FROM accounts") == [(0,)]

    told = desk.call("release", *args, "--reason", "it is over", "--yes", "--by", "bob")
    assert told.code == 0
    assert told.out.startswith(f"{name}  released: it is over (was blocked: bank holiday, by ann ")
    assert desk.holds() == [(*row, "bank holiday", "ann", "bob", "it is over")]
    assert desk.call(*run, dsn=desk.store.dsn).code == 0
    assert desk.query("SELECT balance FROM accounts") == [(10,)]


@each_scope
def test_the_same_hold_twice_is_there_already(desk: Desk, scope: str) -> None:
    args, _, name = SCOPES[scope]
    desk.call("block", *args, "--reason", "bank holiday", "--yes")
    told = desk.call("block", *args, "--reason", "bank holiday", "--yes")
    assert (told.code, told.out) == (0, f"{name}  already blocked: bank holiday\n")
    assert len(desk.holds()) == 1


def test_a_second_reason_is_a_second_hold_and_release_lifts_both(desk: Desk) -> None:
    desk.call("block", JOB, "--reason", "bank holiday")
    told = desk.call("block", JOB, "--reason", "disk full")
    assert told.code == 0
    assert f"{JOB} is also blocked: bank holiday" in told.err
    assert len(desk.holds()) == 2
    desk.call("release", JOB, "--reason", "all is well")
    assert [hold[4] for hold in desk.holds()] == ["ann", "ann"]


def test_release_lifts_exactly_what_it_names_and_says_what_is_blocked_still(desk: Desk) -> None:
    desk.call("block", JOB, "--reason", "one")
    desk.call("block", "-n", "billing", "--reason", "two", "--yes")
    desk.call("block", "-A", "--reason", "three", "--yes")
    desk.put("blocked")
    told = desk.call("release", "-n", "billing", "--reason", "over", "--yes")
    assert told.code == 0
    assert [hold[4] for hold in desk.holds()] == [None, "ann", None]
    assert "namespace billing is still blocked by a hold of all jobs: three" in told.err
    assert f"{JOB} stays blocked: one" in told.err
    assert "1 period of namespace billing stay blocked for reasons of their own" in told.err
    assert desk.state() == "blocked"


def test_release_of_what_is_free_changes_nothing(desk: Desk) -> None:
    desk.call("block", "-n", "billing", "--reason", "two", "--yes")
    told = desk.call("release", JOB, "--reason", "over")
    assert (told.code, told.out) == (0, f"{JOB}  already free: there is no hold of exactly this\n")
    assert "is still blocked by a hold of namespace billing: two" in told.err
    assert desk.holds()[0][4] is None


def test_a_hold_whose_time_is_up_is_not_in_force(desk: Desk) -> None:
    moment = "2026-01-01T00:00:00.000000Z"
    desk.query(
        f"INSERT INTO {desk.table('holds')} (namespace, job, from_at, until, reason, set_by, "
        f"set_at) VALUES ('billing', '{JOB}', '{moment}', '{moment}', 'old', 'ann', '{moment}')"
    )
    told = desk.call("release", JOB, "--reason", "over")
    assert "already free" in told.out
    assert desk.call("block", JOB, "--reason", "old").out == f"{JOB}  blocked: old\n"
    assert len(desk.holds()) == 2


def test_a_period_that_is_only_held_by_its_job_is_told_so(desk: Desk) -> None:
    desk.call("block", JOB, "--reason", "bank holiday")
    told = desk.call("release", KEY, "--reason", "over")
    assert told.code == 1
    assert f"no row; held is {JOB}" in told.err


def test_what_is_let_go_under_a_hold_is_told_so(desk: Desk) -> None:
    desk.put("blocked")
    desk.call("block", "-A", "--reason", "upgrade", "--yes")
    told = desk.call("release", KEY, "--reason", "over")
    assert (told.code, desk.state()) == (0, "open")
    assert f"no attempt gets at {JOB} while all jobs is blocked: upgrade" in told.err


def test_a_hold_changes_no_row(desk: Desk) -> None:
    desk.put("open")
    desk.call("block", JOB, "--reason", "bank holiday")
    assert (desk.states(), desk.events()) == ({KEY: "open"}, [])


def test_until_is_kept_and_shown_beside_the_jobs_own_time(desk: Desk) -> None:
    desk.query(f"UPDATE {desk.table('jobs')} SET zone = 'Europe/Rome'")
    told = desk.call("block", JOB, "--reason", "no feed", "--until", "2999-07-14T19:00:00Z")
    assert told.out == f"{JOB}  blocked until 2999-07-14 19:00:00Z (21:00 Europe/Rome): no feed\n"
    told = desk.call("block", JOB, "--reason", "no feed", "--until", "2999-07-14T23:00:00Z")
    assert "(Mon 15 Jul 01:00 Europe/Rome)" in told.out
    ends = desk.query(f"SELECT until FROM {desk.table('holds')} ORDER BY id")
    assert [str(until)[:10] for (until,) in ends] == ["2999-07-14"] * 2


def test_a_time_that_has_passed_is_refused(desk: Desk) -> None:
    told = desk.call("block", JOB, "--reason", "no feed", "--until", "2026-01-01T00:00:00Z")
    assert told.code == 64
    assert "2026-01-01 00:00:00Z has passed: by the ledger's clock it is " in told.err
    assert desk.holds() == []
