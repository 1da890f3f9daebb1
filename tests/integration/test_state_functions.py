"""``block``, ``skip`` and ``reopen``: which moves they make, and what they leave in the events."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any
from uuid import UUID

import psycopg
import pytest

from k8sjob.ledger.uuid7 import uuid7
from tests.fix_stores import wait_until_blocked
from tests.integration.functions import FUTURE, JOB, PAST, SITUATIONS, Functions, call

if TYPE_CHECKING:
    from tests.fix_stores import Connection, Database

DAY = "2026-02-01"


@pytest.fixture
def ledger(db: Database) -> Functions:
    """Give the ledger's functions to the test."""
    return Functions(db)


# What each makes of a period that is in each situation; the others are left as they are.
MOVES = {
    "block": {"absent": "blocked", "open": "blocked", "blocked until before": "blocked"},
    "skip": {"absent": "skipped", "open": "skipped", "blocked until before": "skipped"},
    "reopen": dict.fromkeys(
        ["done", "blocked", "blocked until later", "blocked until before", "awaiting", "skipped"],
        "open",
    ),
}


def _do(ledger: Functions, function: str, period: str) -> Any:
    if function == "reopen":
        return ledger.reopen(period, reason="a new reason")
    return ledger.say(function, period, reason="a new reason")


@pytest.mark.parametrize("function", MOVES)
def test_only_the_allowed_moves_are_made(ledger: Functions, function: str) -> None:
    ledger.prepare()
    for situation, period in SITUATIONS.items():
        before, history = ledger.row(period), ledger.events(period)
        answer = _do(ledger, function, period)
        after, happened = ledger.row(period), ledger.events(period)[len(history) :]
        wanted = MOVES[function].get(situation)
        if wanted is None:
            assert (after, happened) == (before, []), situation
            assert answer == (after["state"] if after else None), situation
        else:
            assert answer == wanted, situation
            assert after
            assert (after["state"], after["reason"]) == (wanted, "a new reason")
            assert len(happened) == 1, situation


@pytest.mark.parametrize("function", MOVES)
def test_each_move_is_an_event(ledger: Functions, function: str) -> None:
    ledger.prepare()
    for situation, to in MOVES[function].items():
        period = SITUATIONS[situation]
        query = "SELECT to_jsonb(p) AS row FROM k8sjob.periods p WHERE job = %s AND period = %s"
        before = ledger.one(query, JOB, period)
        _do(ledger, function, period)
        event, after = ledger.events(period)[-1], ledger.row(period)
        # A block whose time is up counts as open, but for an operator who reopens it.
        counts_as_open = situation == "blocked until before" and function != "reopen"
        origin = "open" if counts_as_open else situation.partition(" ")[0]
        assert after
        assert event | {"id": 0} == {
            "id": 0,
            "job": JOB,
            "period": period,
            "generation": before["row"]["generation"] if before else 0,
            "kind": "reopen" if function == "reopen" else "state",
            "from_state": None if origin == "absent" else origin,
            "to_state": to,
            "by": "ann" if function == "reopen" else "attempt",
            "db_user": "k8sjob_operator" if function == "reopen" else "k8sjob_runner",
            "at": event["at"],
            "reason": "a new reason",
            "attempt": None,
            "prior": before["row"] if before else None,
        }
        assert after["db_user"] == event["db_user"]
        assert (after["changed_at"] - event["at"]).total_seconds() < 1


def test_who_says_it_and_in_which_attempt_is_kept(ledger: Functions) -> None:
    attempt = uuid7()
    for function, period in (("block", "2026-02-01"), ("skip", "2026-02-02")):
        ledger.say(function, period, attempt=attempt, by="the night shift")
        (event,) = ledger.events(period)
        assert (event["by"], event["attempt"]) == ("the night shift", attempt)
        row = ledger.row(period)
        assert row
        assert (row["attempt"], row["origin"]) == (attempt, "the night shift")


@pytest.mark.parametrize("reason", [None, "", "   ", "\n\t "])
def test_nothing_is_moved_without_a_reason(ledger: Functions, reason: str | None) -> None:
    ledger.prepare()
    before = ledger.all("SELECT * FROM k8sjob.periods")
    for function in MOVES:
        for period in SITUATIONS.values():
            role = ledger.conns["operator"]
            by = {"by": "ann"}
            with pytest.raises(psycopg.Error, match="a reason is needed to make") as caught:
                call(role, function, job=JOB, period=period, reason=reason, **by)
            assert caught.value.sqlstate == "KJ015"
            assert caught.value.diag.message_detail == "Nothing was changed."
    assert ledger.all("SELECT * FROM k8sjob.periods") == before


def test_a_text_that_is_no_key_is_refused(ledger: Functions) -> None:
    for job, period in ((JOB, "2026-02-30"), ("billing", DAY), (None, DAY), (JOB, None)):
        for function in MOVES:
            args = {"job": job, "period": period, "reason": "why", "by": "ann"}
            with pytest.raises(psycopg.Error) as caught:
                call(ledger.conns["operator"], function, **args)
            assert caught.value.sqlstate == "KJ011"
    assert ledger.all("SELECT * FROM k8sjob.gate") == []


def test_a_period_of_another_kind_than_the_jobs_is_refused(ledger: Functions) -> None:
    ledger.claim(DAY)
    for function in MOVES:
        with pytest.raises(psycopg.Error) as caught:
            _do(ledger, function, "2026-W05")
        assert caught.value.sqlstate == "KJ012"
    assert ledger.state("2026-W05") is None


# ------------------------------------------------------------------------------ block and until


def test_a_block_is_the_answer_to_a_claim_until_its_time(ledger: Functions) -> None:
    ledger.prepare()
    outcomes = {name: ledger.claim(period) for name, period in SITUATIONS.items()}
    assert outcomes == {
        "absent": "applied",
        "open": "applied",
        "done": "duplicate",
        "blocked": "blocked",
        "blocked until later": "blocked",
        "blocked until before": "applied",
        "awaiting": "awaiting",
        "skipped": "skipped",
    }


def test_a_claim_takes_away_what_a_block_has_left(ledger: Functions) -> None:
    ledger.say("block", DAY, until=PAST)
    assert ledger.claim(DAY) == "applied"
    row = ledger.row(DAY)
    assert row
    assert [row[name] for name in ("state", "reason", "until", "generation")] == [
        "done",
        None,
        None,
        0,
    ]


def test_a_block_whose_time_is_up_is_blocked_anew(ledger: Functions) -> None:
    ledger.say("block", DAY, until=PAST, reason="no feed")
    assert ledger.say("block", DAY, until=FUTURE, reason="still no feed") == "blocked"
    row = ledger.row(DAY)
    assert row
    assert (row["reason"], row["until"]) == ("still no feed", FUTURE)
    assert [(e["from_state"], e["reason"]) for e in ledger.events(DAY)] == [
        (None, "no feed"),
        ("open", "still no feed"),
    ]


def test_only_a_block_has_an_end(ledger: Functions) -> None:
    ledger.say("block", DAY, until=FUTURE)
    ledger.reopen(DAY)
    ledger.say("skip", DAY)
    row = ledger.row(DAY)
    assert row
    assert (row["state"], row["until"]) == ("skipped", None)


# --------------------------------------------------------------------------------- generations


def test_each_reopening_is_a_generation_and_keeps_the_row_before_it(ledger: Functions) -> None:
    attempts = [uuid7(), uuid7()]
    for attempt in attempts:
        payload = f"payload of {attempt}".encode()
        with ledger.conns["runner"].transaction():
            words = {"job": JOB, "period": DAY, "payload": payload, "attempt": attempt}
            call(ledger.conns["runner"], "claim", **words)
        assert ledger.reopen(DAY, reason=f"not {attempt}") == "open"
    row = ledger.row(DAY)
    assert row
    assert (row["generation"], row["attempt"], row["payload_sha256"]) == (2, None, None)
    assert (row["done_at"], row["reason"]) == (None, f"not {attempts[1]}")
    events = ledger.events(DAY)
    assert [event["generation"] for event in events] == [0, 1]
    assert [UUID(event["prior"]["attempt"]) for event in events] == attempts
    assert [event["prior"]["state"] for event in events] == ["done", "done"]
    assert all(event["prior"]["payload_sha256"].startswith("\\x") for event in events)
    assert all(event["prior"]["done_at"] for event in events)


def test_a_reopened_period_has_nothing_left_of_its_hand_over(ledger: Functions) -> None:
    from datetime import timedelta

    later = {"recheck_after": timedelta(minutes=5), "deadline": timedelta(hours=1)}
    ledger.hand_over(DAY, indicator="balance", expected_delta=10, before="{}", **later)
    ledger.reopen(DAY)
    row = ledger.row(DAY)
    assert row
    left = "indicator before after expected_delta recheck_after await_deadline superseded_by"
    assert [row[name] for name in left.split()] == [None] * 7
    assert ledger.events(DAY)[-1]["prior"]["indicator"] == "balance"


# -------------------------------------------------------------------------- while others hold it


class _Later(threading.Thread):
    """Says something in a thread of its own, since it has to wait."""

    def __init__(self, conn: Connection, function: str) -> None:
        super().__init__()
        self.conn, self.function = conn, function
        self.answer: object = None

    def run(self) -> None:
        self.answer = call(self.conn, self.function, job=JOB, period=DAY, reason="no feed")


@pytest.mark.parametrize(("commits", "answer"), [(True, "done"), (False, "blocked")])
def test_a_block_waits_for_a_claim_and_never_writes_over_it(
    ledger: Functions, commits: object, answer: str
) -> None:
    rival = ledger.db.connect("runner")
    call(rival, "claim", job=JOB, period=DAY)
    later = _Later(ledger.conns["runner"], "block")
    later.start()
    wait_until_blocked(ledger.conns["admin"], later.conn.info.backend_pid)
    (rival.commit if commits else rival.rollback)()
    later.join(30)
    assert (later.answer, ledger.state(DAY)) == (answer, answer)


def test_a_block_does_not_wait_longer_than_a_claim(ledger: Functions) -> None:
    rival = ledger.db.connect("runner")
    call(rival, "claim", job=JOB, period=DAY)
    runner = ledger.conns["runner"]
    runner.execute("SET k8sjob.lock_timeout = '50ms'")
    for function in ("block", "skip"):
        with pytest.raises(psycopg.errors.LockNotAvailable):
            ledger.say(function, DAY)
    rival.rollback()
    with runner.transaction():
        runner.execute("SET LOCAL lock_timeout = '7s'")
        for period in (DAY, DAY, "2026-02-02"):  # absent, blocked, absent
            ledger.say("block", period)
            assert runner.execute("SHOW lock_timeout").fetchone() == ("7s",)


def test_what_is_open_again_has_a_deadline_so_that_somebody_is_told(ledger: Functions) -> None:
    ledger.claim(DAY)
    ledger.reopen(DAY)
    deadline = ledger.one(
        "SELECT deadline_at - changed_at BETWEEN '59 min' AND '61 min' AS hour FROM k8sjob.periods"
    )
    assert deadline == {"hour": True}
