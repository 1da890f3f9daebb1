"""A command changes all that it names, or nothing; and it says which, a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.people.conftest import JOB, KEY

if TYPE_CHECKING:
    from tests.people.conftest import Desk

DAYS = [f"{JOB}:2026-09-{day}" for day in (11, 12, 13, 14)]


def test_one_period_that_refuses_keeps_all_as_it_is(desk: Desk) -> None:
    desk.put("done", DAYS[2])
    told = desk.call(
        "skip", f"{JOB}:2026-09-11..2026-09-14", f"{JOB}:2026-09-20", "--reason", "why", "--yes"
    )
    assert told.code == 1
    assert desk.states() == {DAYS[2]: "done"}
    assert desk.events() == []
    assert f"{DAYS[2]}  refused: done 2026-09-13 00:00:07Z; reopen it first" in told.out
    assert f"{DAYS[0]}  left as it is: no row" in told.out
    assert "Nothing was changed. To skip the others: k8sjob skip " in told.err
    line = told.err.partition("the others: k8sjob ")[2].split(" --reason")[0]
    assert desk.call(*line.split(), "--reason", "why", "--yes").code == 0
    assert set(desk.states().values()) == {"done", "skipped"}


def test_a_hold_beside_a_period_that_refuses_is_not_set(desk: Desk) -> None:
    desk.put("done")
    told = desk.call("block", KEY, JOB, "--reason", "why", "--yes")
    assert (told.code, desk.holds()) == (1, [])
    assert f"{JOB}  " in told.out
    assert "left as it is" in told.out


def test_what_is_as_wanted_does_not_keep_the_others_from_it(desk: Desk) -> None:
    desk.put("skipped", DAYS[1])
    told = desk.call("skip", *DAYS, "--reason", "why", "--yes")
    assert told.code == 0
    assert f"{DAYS[1]}  already skipped: as it was" in told.out
    assert set(desk.states().values()) == {"skipped"}
    assert [event[0] for event in desk.events()] == [DAYS[0], DAYS[2], DAYS[3]]
    told = desk.call("skip", *DAYS, "--reason", "why", "--yes")
    assert (told.code, len(desk.events())) == (0, 3)


def test_a_dry_run_says_the_same_and_changes_nothing(desk: Desk) -> None:
    desk.put("open", DAYS[1])
    words = ("skip", f"{JOB}:2026-09-11..2026-09-14", f"{JOB}:2026-09-20", "--reason", "why")
    dry = desk.call(*words, "--dry-run")
    assert (dry.code, desk.states(), desk.events()) == (0, {DAYS[1]: "open"}, [])
    assert dry.err.endswith("dry run: nothing was changed\n")
    real = desk.call(*words, "--yes")
    assert real.out == dry.out
    assert real.err + "dry run: nothing was changed\n" == dry.err
    hold = desk.call("block", "-A", "--reason", "why", "--dry-run")
    assert (hold.code, desk.holds()) == (0, [])


def test_a_dry_run_of_what_would_be_refused_ends_as_the_command_would(desk: Desk) -> None:
    desk.put("done")
    assert desk.call("skip", KEY, "--reason", "why", "--dry-run").code == 1


def test_a_natural_range_is_each_day_of_it(desk: Desk) -> None:
    told = desk.call("skip", f"{JOB}:2026-09-11..2026-09-14", "--reason", "why", "--yes")
    assert desk.states() == dict.fromkeys(DAYS, "skipped")
    assert f"4 days from 2026-09-11 to 2026-09-14 of {JOB}" in told.err


def test_a_range_to_release_is_what_the_ledger_has_of_it(desk: Desk) -> None:
    for day in (DAYS[0], DAYS[2]):
        desk.put("blocked", day)
    desk.put("blocked", f"{JOB}:2026-09-15")
    desk.put("blocked", f"{JOB}/part-1:2026-09-12")
    told = desk.call("release", f"{JOB}:2026-09-11..2026-09-14", "--reason", "why", "--yes")
    assert told.code == 0
    assert "2 periods of the ledger between 2026-09-11 and 2026-09-14" in told.err
    assert [event[0] for event in desk.events()] == [DAYS[0], DAYS[2]]


def test_a_scheduled_range_is_what_the_ledger_has_of_it(desk: Desk) -> None:
    job = "ops/vacuum"
    desk.know(job, "scheduled", zone="Europe/Rome")
    keys = [f"{job}:2026-09-13T0{hour}:00:00Z" for hour in range(5)]
    for key in keys:
        desk.put("open", key)
    told = desk.call("skip", f"{keys[1]}..{keys[3].split(':', 1)[1]}", "--reason", "why", "--yes")
    assert told.code == 0
    assert told.out.splitlines()[0] == f"{keys[1]}  Sun 13 Sep 03:00 Europe/Rome  skipped: why"
    assert [event[0] for event in desk.events()] == keys[1:4]
    assert "3 periods of the ledger between" in told.err
    assert "periods without a row are not among them" in told.err


def test_a_range_with_nothing_in_it_is_a_finding(desk: Desk) -> None:
    told = desk.call("release", f"{JOB}:2026-09-11..2026-09-14", "--reason", "why", "--yes")
    assert told.code == 1
    assert "0 periods of the ledger between" in told.err
    assert "Nothing was changed." in told.err
