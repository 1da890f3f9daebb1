from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from k8sjob import __version__
from k8sjob.states import Awaiting, Blocked, Outcome, Skipped
from tests.run.commandline import (
    CREDIT,
    JOB,
    KEY,
    PERIOD,
    CommandLine,
    assert_applied,
    assert_refused,
    never,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def credits_once(run: Any) -> None:
    run.conn.execute(CREDIT)


async def credits_later(run: Any) -> None:
    answer = run.conn.execute(CREDIT)
    if hasattr(answer, "__await__"):  # SQLite's connection is the same in a coroutine
        await answer


def blocks(_run: Any) -> None:
    raise Blocked("the bank is closed")


def blocks_until_tomorrow(_run: Any) -> None:
    raise Blocked("the bank is closed", until=datetime(2030, 1, 2, 3, 4, tzinfo=UTC))


def skips(_run: Any) -> None:
    raise Skipped("a holiday")


def waits(run: Any) -> Awaiting:
    run.conn.execute(CREDIT)
    return Awaiting(reason="the bank is at it", deadline=timedelta(hours=2), before={"balance": 0})


def credits_first(work: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return ``work`` with an effect before it, which it may take back."""

    def both(run: Any) -> Any:
        run.conn.execute(CREDIT)
        return work(run)

    return both


# ------------------------------------------------------------------------------- what is done


@pytest.mark.parametrize("work", [credits_once, credits_later])
def test_a_run_that_does_the_work_is_applied(cli: CommandLine, work: Any) -> None:
    assert_applied(cli, work)
    (tried,) = cli.attempts()
    assert (tried.job, tried.period) == (JOB, PERIOD)
    assert (tried.mode, tried.source, tried.speaker) == ("callable", "--period", "k8sjob")
    assert (tried.pid, tried.client) == (os.getpid(), __version__)
    assert (tried.message, tried.tail) == (f"{KEY} applied", None)


def test_a_file_that_does_the_work_is_applied(cli: CommandLine) -> None:
    assert_applied(cli, cli.file(f"{CREDIT};"))
    assert cli.last().mode == "sql"


def test_a_period_that_is_done_is_a_duplicate(cli: CommandLine) -> None:
    cli.run(credits_once)
    first = cli.last()
    said = assert_refused(cli, Outcome.DUPLICATE, 0)
    assert f"{KEY} duplicate: done 20" in said
    assert f"Z by attempt {first.id[:13]} (attempt {cli.last().id[:13]}" in said


def test_the_next_period_is_another_one(cli: CommandLine) -> None:
    for period in ("2026-09-13", "2026-09-14", "2026-09-13"):
        assert cli.run(credits_once, period=period).code == 0
    assert cli.balance() == 20
    assert [tried.outcome for tried in cli.attempts()] == ["applied", "applied", "duplicate"]


def test_a_period_done_with_another_payload_is_a_conflict(cli: CommandLine) -> None:
    cli.run(credits_once, "--payload", "10")
    said = assert_refused(cli, Outcome.CONFLICT, 65, "--payload", "20")
    assert "sha256:4a44dc15364204a8" in said  # of 10
    assert "sha256:f5ca38f748a1d6ea" in said  # of 20
    assert f"by attempt {cli.attempts()[0].id[:13]}" in said
    assert "Nothing was changed." in said
    assert "sha256:" in assert_refused(cli, Outcome.CONFLICT, 65)  # none matches only none
    assert_refused(cli, Outcome.DUPLICATE, 0, "--payload", "10")


# ------------------------------------------------------------------- what the target says of it


@pytest.mark.parametrize(("work", "outcome"), [(blocks, Outcome.BLOCKED), (skips, Outcome.SKIPPED)])
def test_what_the_target_says_instead_of_working_is_kept(
    cli: CommandLine, work: Any, outcome: Outcome
) -> None:
    told = cli.run(credits_first(work))
    assert told.code == 0
    assert told.out.startswith(f"{KEY} {outcome}: ")
    assert cli.last().ending == (outcome, 0)
    assert (cli.state(), cli.balance()) == (outcome, 0)
    reasons = {Outcome.BLOCKED: "the bank is closed", Outcome.SKIPPED: "a holiday"}
    assert reasons[outcome] in assert_refused(cli, outcome, 0)


def test_a_block_names_the_time_until_which_it_holds(cli: CommandLine) -> None:
    told = cli.run(blocks_until_tomorrow)
    assert told.out.startswith(f"{KEY} blocked until 2030-01-02 03:04:00Z: the bank is closed (")
    assert "2030-01-02 03:04" in assert_refused(cli, Outcome.BLOCKED, 0)


def test_a_block_whose_time_is_up_holds_no_more(cli: CommandLine) -> None:
    def blocks_until_now(_run: Any) -> None:
        raise Blocked("the bank is closed", until=datetime.now(UTC))

    assert cli.run(blocks_until_now).code == 0
    assert cli.state() == "blocked"
    assert_applied(cli, credits_once)


def test_a_hand_over_is_awaited(cli: CommandLine) -> None:
    told = cli.run(waits)
    assert told.out.startswith(f"{KEY} awaiting: the bank is at it (attempt ")
    assert cli.last().ending == ("awaiting", 0)
    assert (cli.state(), cli.balance()) == ("awaiting", 10)
    assert "the bank is at it" in assert_refused(cli, Outcome.AWAITING, 0)


def test_an_indicator_that_another_period_awaits_is_said_to_be_taken(cli: CommandLine) -> None:
    def hands_over(run: Any) -> Awaiting:
        run.conn.execute(CREDIT)
        return Awaiting(reason="the bank is at it", indicator="balance at the bank")

    assert cli.run(hands_over, period="2026-09-12").code == 0
    told = cli.run(hands_over)
    assert told.code == 75
    assert "another period awaits its effect by the same indicator" in told.err
    assert cli.states() == {f"{JOB}:2026-09-12": "awaiting"}
    assert cli.balance() == 10


def test_a_coroutine_may_say_the_same(cli: CommandLine) -> None:
    async def later(run: Any) -> Awaiting:
        await credits_later(run)
        return Awaiting(reason="the bank is at it")

    async def blocked(run: Any) -> None:
        await credits_later(run)
        raise Blocked("the bank is closed")

    assert cli.run(blocked, period="2026-09-12").code == 0
    assert cli.run(later).code == 0
    assert cli.states() == {f"{JOB}:2026-09-12": "blocked", KEY: "awaiting"}
    assert cli.balance() == 10


# ------------------------------------------------------------------- what others have decided


def test_a_job_on_hold_is_blocked_and_leaves_no_row(cli: CommandLine) -> None:
    columns = "namespace, job, from_at, reason, set_by, set_at"
    values = (
        f"'billing', '{JOB}', '2026-01-01T00:00:00Z', 'an audit', 'ann', '2026-01-01T00:00:00Z'"
    )
    cli.query(f"INSERT INTO {cli.store.table('holds')} ({columns}) VALUES ({values})")
    assert "an audit" in assert_refused(cli, Outcome.BLOCKED, 0)
    assert cli.state() is None


def test_a_period_below_the_floor_is_expired(cli: CommandLine) -> None:
    cli.run(credits_once, period="2026-10-01")
    cli.query(f"UPDATE {cli.store.table('gate')} SET floor = '2026-09-30'")
    assert "retention floor" in assert_refused(cli, Outcome.EXPIRED, 82)


def test_a_period_whose_time_has_not_come_is_future(cli: CommandLine) -> None:
    told = cli.run(never, period="2999-01-01")
    assert told.code == 66
    assert "billing/daily-credit:2999-01-01 future: its time has not come yet" in told.err
    assert cli.last().ending == ("future", 66)
    assert cli.states() == {}


def test_another_kind_of_period_is_refused(cli: CommandLine) -> None:
    cli.run(credits_once)
    told = cli.run(never, period="2026-09-13T00:00:00Z")
    assert told.code == 78
    assert "kind day" in told.err
    assert "give the job a new name" in told.err.lower()
    assert told.err.startswith(f"k8sjob: {JOB}:2026-09-13T00:00:00Z failed: ")  # and once
    assert cli.last().ending == ("failed", 78)


# ---------------------------------------------------------------------------------- fail on


@pytest.mark.parametrize(
    ("work", "outcome"), [(blocks, "blocked"), (skips, "skipped"), (waits, "awaiting")]
)
def test_an_outcome_that_ends_well_can_be_made_a_failure(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch, work: Any, outcome: str
) -> None:
    monkeypatch.setenv("K8SJOB_FAIL_ON", "blocked, awaiting,skipped")
    for target in (work, never):
        told = cli.run(target)
        assert told.code == 83
        assert f"k8sjob: {KEY} {outcome}: " in told.err
        assert cli.last().ending == (outcome, 83)
    assert cli.state() == outcome
    assert cli.run(never, "--fail-on", "duplicate").code == 0  # the flag wins over the variable


def test_what_ends_badly_anyway_cannot_be_listed(cli: CommandLine) -> None:
    told = cli.run(never, "--fail-on", "blocked,failed")
    assert told.code == 78
    assert "not an outcome that ends with 0: failed" in told.err
    assert cli.attempts() == []
