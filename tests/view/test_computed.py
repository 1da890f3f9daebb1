"""What a period is at a moment: computed from its row, its attempts and the clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.view.conftest import JOB, at, period

if TYPE_CHECKING:
    from tests.view.conftest import Ledger


def state(ledger: Ledger, day: int = 13) -> tuple[str, str]:
    """Return state and reason as ``get`` tells them."""
    (line,) = ledger.call("get", "periods", f"{JOB}:{period(day)}", "-o", "json").json["periods"]
    return line["state"], line["reason"] or ""


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"state": "open", "origin": "reconciler"}, "missing"),
        ({"state": "open", "origin": "operator"}, "due"),
        ({"state": "blocked", "reason": "why"}, "blocked"),
        ({"state": "blocked", "reason": "why", "until": at("13T19:00:00")}, "missing"),
        ({"state": "blocked", "reason": "why", "until": at("13T19:00:01")}, "blocked"),
        ({"state": "awaiting", "reason": "why"}, "awaiting"),
        ({"state": "skipped", "reason": "why"}, "skipped"),
        ({"state": "done"}, "done"),
    ],
)
def test_a_stored_state_is_told_unless_it_is_open(
    ledger: Ledger, row: dict[str, Any], expected: str
) -> None:
    ledger.know()
    ledger.put(13, **row)
    assert state(ledger)[0] == expected


def test_an_open_period_is_due_until_its_deadline_and_then_missing(ledger: Ledger) -> None:
    if ledger.store.db is None:
        pytest.skip("a SQLite ledger has no deadlines")
    ledger.know()
    ledger.put(12, "open", deadline_at=at("13T19:00:00"))
    ledger.put(13, "open", deadline_at=at("13T19:00:01"))
    assert (state(ledger, 12)[0], state(ledger, 13)[0]) == ("missing", "due")


def test_an_open_period_of_tomorrow_is_upcoming_and_owes_nothing(ledger: Ledger) -> None:
    ledger.know()
    ledger.put(14, "open")
    assert state(ledger, 14)[0] == "upcoming"
    assert ledger.call("get", "periods", JOB, "--exit-code").code == 0


@pytest.mark.parametrize(
    ("signs", "expected"),
    [
        ({"start": "13T18:57:01"}, "running"),
        ({"start": "13T18:57:00"}, "missing"),
        ({"start": "13T12:00:00", "heartbeat_at": at("13T18:58:00")}, "running"),
        ({"start": "13T12:00:00", "heartbeat_at": at("13T18:56:00")}, "missing"),
    ],
)
def test_a_period_is_running_while_an_attempt_gives_signs_of_life(
    ledger: Ledger, signs: dict[str, Any], expected: str
) -> None:
    ledger.know()
    ledger.put(13, "open")
    ledger.tried(1, 13, **signs)
    assert state(ledger)[0] == expected


def test_a_period_that_was_tried_and_has_no_row_is_due(ledger: Ledger) -> None:
    ledger.know()
    ledger.tried(1, 13, "13T00:00:05", ended_at=at("13T00:00:06"), outcome="failed", exit_code=1)
    assert state(ledger)[0] == "due"
    ledger.tried(2, 12, "13T18:59:00")
    assert state(ledger, 12)[0] == "running"


def test_a_period_whose_row_was_pruned_or_that_was_too_early_is_not_due(ledger: Ledger) -> None:
    ledger.know(floor=period(10))
    ended: dict[str, Any] = {"ended_at": at("13T00:00:06"), "exit_code": 1}
    ledger.tried(1, 10, "10T00:00:05", outcome="failed", **ended)
    ledger.tried(2, 12, "12T00:00:05", outcome="future", **ended)
    assert ledger.call("get", "periods", JOB, "-o", "name").lines == []


def test_a_hold_is_the_reason_of_what_it_stops_until_its_time(ledger: Ledger) -> None:
    ledger.know()
    ledger.put(13, "open")
    ledger.hold(1, reason="bank holiday", until=at("13T19:00:01"))
    assert state(ledger) == ("missing", "held: bank holiday")
    ledger.store.query(f"UPDATE {ledger.store.table('holds')} SET until = '{at('13T19:00:00')}'")
    assert state(ledger) == ("missing", "no attempt is known")


def test_unfinished_parts_count_for_their_job(ledger: Ledger) -> None:
    ledger.know()
    ledger.put(13, "blocked", f"{JOB}/invoices", reason="no paper")
    (job,) = ledger.call("get", "jobs", "-o", "json").json["jobs"]
    assert job["unfinished"]["blocked"] == 1
    assert job["oldest_key"] == f"{JOB}/invoices:{period(13)}"
    assert f"invoices:{period(13)} (19h, no paper)" in ledger.call("get", "jobs").out


def test_a_job_whose_schedule_is_known_tells_when_it_fires_next(ledger: Ledger) -> None:
    if ledger.store.db is None:
        pytest.skip("a SQLite ledger has no schedules")
    ledger.know()
    moment = at("01T00:00:00")
    ledger.insert(
        "schedule_versions",
        job=JOB,
        n=1,
        expr="0 2 * * *",
        zone="Europe/Rome",
        earliest_from=moment,
        valid_from=moment,
    )
    assert ledger.call("get", "jobs").lines[1] == (
        "billing    daily-credit  0 2 * * * Europe/Rome  -           -       -          in 5h"
    )
    assert (
        "next in 5h (2026-09-14 00:00:00Z = Mon 14 Sep 02:00)" in ledger.call("describe", JOB).out
    )
    ledger.store.query("UPDATE k8sjob.schedule_versions SET suspended = true")
    assert ledger.call("get", "jobs").lines[1].endswith("suspended")
