"""Each verb moves a period from where it may, and from nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.people.order import Verb
from k8sjob.states import MOVES, STORED, State
from tests.people.conftest import DAY, JOB, KEY

if TYPE_CHECKING:
    from tests.people.conftest import Desk

STATES: tuple[State | None, ...] = (None, *STORED)


def _days(desk: Desk) -> dict[State | None, str]:
    """Give a day to each state."""
    days = {state: f"{JOB}:2026-09-{number:02}" for number, state in enumerate(STATES, 1)}
    for state, key in days.items():
        if state is not None:
            desk.put(state, key)
    return days


def test_no_verb_moves_against_the_states() -> None:
    for verb in Verb:
        for before in verb.rule.before:
            assert verb.rule.after in MOVES[before], (verb, before)


def test_each_verb_moves_what_it_may_and_refuses_the_rest(desk: Desk) -> None:
    for verb in Verb:
        desk.query(f"DELETE FROM {desk.table('periods')}")
        desk.query(f"DELETE FROM {desk.table('events')}")
        for before, key in _days(desk).items():
            told = desk.call(verb, key, "--reason", "why")
            after = verb.rule.after
            if before in verb.rule.before:
                assert (told.code, desk.state(key)) == (0, after), (verb, before, told)
                event = desk.events()[-1]
                assert event == (key, verb, before, after, "ann", "why")
                continue
            assert desk.state(key) == before, (verb, before)
            same = before is after and verb is not Verb.BLOCK  # a block has a reason of its own
            assert told.code == (0 if same else 1), (verb, before, told)
            assert ("already" if same else "Nothing was changed.") in told.out + told.err
        assert len(desk.events()) == len(verb.rule.before)


def test_back_to_open_is_the_next_generation_and_the_event_keeps_the_row(desk: Desk) -> None:
    attempt = desk.start()
    desk.put("done", attempt=attempt)
    told = desk.call("reopen", KEY, "--reason", "credited twice")
    assert told.out == (
        f"{KEY}  open, generation 1: credited twice "
        f"(was done 2026-09-13 00:00:07Z by attempt {str(attempt)[:13]})\n"
    )
    assert "1 done period will be done again by the next attempt" in told.err
    row = f"SELECT state, generation, attempt, done_at FROM {desk.table('periods')}"
    assert desk.query(row) == [("open", 1, None, None)]
    prior = desk.query(f"SELECT prior FROM {desk.table('events')}")[0][0]
    assert str(attempt) in str(prior)


def test_a_runner_does_the_reopened_period_again(desk: Desk, tmp_path: object) -> None:
    work = f"{tmp_path}/credit.sql"
    with open(work, "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write("UPDATE accounts SET balance = balance + 10 WHERE name = 'alice';")
    run = ("run", work, "--job", JOB, "--period", DAY)
    assert desk.call(*run, dsn=desk.store.dsn).code == 0
    assert desk.call("reopen", KEY, "--reason", "paid back").code == 0
    assert desk.call(*run, dsn=desk.store.dsn).code == 0
    assert desk.query("SELECT balance FROM accounts") == [(20,)]


def test_a_block_whose_time_is_up_counts_as_open(desk: Desk) -> None:
    desk.put("blocked", until="2026-01-01T00:00:00.000000Z")
    assert desk.call("skip", KEY, "--reason", "not worth it").code == 0
    assert desk.events() == [(KEY, "skip", "open", "skipped", "ann", "not worth it")]


def test_a_block_whose_time_is_up_can_be_released_and_confirmed(desk: Desk) -> None:
    other = f"{JOB}:2026-09-14"
    for key in (KEY, other):
        desk.put("blocked", key, until="2026-01-01T00:00:00.000000Z")
    assert desk.call("release", KEY, "--reason", "in order").code == 0
    assert desk.call("confirm", other, "--reason", "seen").code == 0
    assert desk.states() == {KEY: "open", other: "done"}


def test_the_same_block_twice_is_already_there_and_another_is_told_to_release_first(
    desk: Desk,
) -> None:
    assert desk.call("block", KEY, "--reason", "no data").code == 0
    told = desk.call("block", KEY, "--reason", "no data")
    assert (told.code, told.out) == (0, f"{KEY}  already blocked: no data\n")
    told = desk.call("block", KEY, "--reason", "still no data")
    assert told.code == 1
    assert "blocked: no data; release it first" in told.err
    assert len(desk.events()) == 1


def test_a_period_below_the_floor_is_expired_and_not_decided_on(desk: Desk) -> None:
    desk.query(f"UPDATE {desk.table('gate')} SET floor = '{DAY}'")
    for verb in ("block", "skip", "await"):
        told = desk.call(verb, KEY, "--reason", "why")
        assert told.code == 1
        assert "expired" in told.err
    assert desk.states() == {}


def test_a_period_of_another_kind_is_refused(desk: Desk) -> None:
    told = desk.call("skip", f"{JOB}:2026-W37", "--reason", "why")
    assert told.code == 78
    assert f"{JOB} has periods of kind day" in told.err
    assert desk.states() == {}


def test_a_part_is_decided_on_as_a_job_is(desk: Desk) -> None:
    part = f"{JOB}/step-1:{DAY}"
    assert desk.call("skip", part, "--reason", "done by hand").code == 0
    assert desk.states() == {part: "skipped"}


def test_what_is_handed_over_has_its_indicator_and_deadline(desk: Desk) -> None:
    told = desk.call(
        *("await", KEY, "--reason", "sent", "--indicator", "statement"),
        *("--deadline", "2999-01-02T03:04:05Z"),
    )
    assert told.out == f"{KEY}  awaiting statement until 2999-01-02 03:04:05Z: sent\n"
    ((indicator, deadline),) = desk.query(
        f"SELECT indicator, await_deadline FROM {desk.table('periods')}"
    )
    assert indicator == "statement"
    assert str(deadline).startswith("2999-01-02")


def test_one_period_at_a_time_awaits_an_indicator(desk: Desk) -> None:
    for state in (None, "open"):
        other = f"{JOB}:2026-09-{14 if state else 15}"
        if state:
            desk.put(state, other)
        desk.call("await", KEY, "--reason", "sent", "--indicator", "statement")
        told = desk.call("await", other, "--reason", "sent", "--indicator", "statement")
        assert told.code == 1, told
        assert f"{KEY} awaits statement already" in told.err
        assert "Nothing was changed." in told.err
        assert desk.state(other) == state


def test_confirm_compares_the_attempt(desk: Desk) -> None:
    attempt = desk.start()
    desk.put("awaiting", attempt=attempt)
    told = desk.call("confirm", KEY, "--reason", "seen", "--attempt", "0198ffff")
    assert told.code == 1
    assert f"of attempt {str(attempt)[:13]}" in told.err
    assert desk.state() == "awaiting"
    told = desk.call("confirm", KEY, "--reason", "seen", "--attempt", str(attempt)[:13])
    assert (told.code, desk.state()) == (0, "done")
    assert desk.call("confirm", KEY, "--reason", "seen", "--attempt", str(attempt)).code == 0
    assert desk.call("confirm", KEY, "--reason", "seen", "--attempt", "0198ffff").code == 1


def test_a_confirmed_period_is_a_duplicate_for_a_runner(desk: Desk, tmp_path: object) -> None:
    desk.put("blocked")
    desk.call("confirm", KEY, "--reason", "the bank shows it")
    work = f"{tmp_path}/credit.sql"
    with open(work, "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write("UPDATE accounts SET balance = balance + 10 WHERE name = 'alice';")
    told = desk.call("run", work, "--job", JOB, "--period", DAY, dsn=desk.store.dsn)
    assert (told.code, desk.query("SELECT balance FROM accounts")) == (0, [(0,)])
    assert "duplicate" in told.out
