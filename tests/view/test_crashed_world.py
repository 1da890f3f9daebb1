"""Old rows of a crashed world: what is known is said, nothing is guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.view.conftest import JOB, at, period

if TYPE_CHECKING:
    from tests.view.conftest import Ledger

KEY = f"{JOB}:{period(12)}"


def known(ledger: Ledger) -> list[str]:
    """Return what ``describe`` says under Known."""
    lines = ledger.call("describe", KEY).lines
    titles = [line[:12].strip() for line in lines]
    if "Known" not in titles:
        return []
    first = titles.index("Known")
    return [line[12:] for line in lines[first : titles.index("What now")]]


def test_an_attempt_without_an_end_has_no_outcome_anywhere(ledger: Ledger) -> None:
    ledger.know()
    ledger.put(12, "open")
    ledger.tried(1, 12, "12T00:00:05", heartbeat_at=at("12T00:05:05"))
    assert known(ledger) == [
        (
            "attempt 0199a001-0000 has no end, and its last sign of life was at 2026-09-12 "
            "00:05:05Z: "
            "whether it was killed or still works is not known"
        )
    ]
    (attempt,) = ledger.call("get", "attempts", KEY, "-o", "json").json["attempts"]
    assert (attempt["outcome"], attempt["alive"], attempt["ended_at"]) == (None, False, None)
    assert ledger.call("get", "attempts", KEY).lines[1] == (
        "0199a001-0000  2026-09-12T00:00:00Z  2026-09-12 00:00:05Z  -         no end   -     -    "
        "no end was written (killed?)"
    )
    assert "no end was written (killed?)" in ledger.call("get", "periods", KEY).lines[1]
    assert "no end was written (killed?)" in ledger.call("describe", JOB).out


def test_a_hold_whose_time_has_passed_is_shown_and_holds_nothing(ledger: Ledger) -> None:
    ledger.know()
    ledger.put(12, "open")
    ledger.hold(1, reason="bank holiday", until=at("13T00:00:00"))
    told = ledger.call("describe", KEY)
    assert "until 2026-09-13 00:00:00Z (that has passed: it holds nothing any more)" in told.out
    assert "k8sjob release" not in told.out


def test_a_block_whose_time_has_passed_is_open(ledger: Ledger) -> None:
    ledger.know()
    ledger.put(12, "blocked", reason="no data", until=at("13T00:00:00"))
    told = ledger.call("describe", KEY)
    assert "missing (blocked since 2026-09-12 00:15:20Z, generation 0)" in told.out
    assert known(ledger) == [
        "blocked until 2026-09-13 00:00:00Z, which has passed: an attempt takes it for open"
    ]


def test_an_open_row_below_the_floor_can_still_be_done(ledger: Ledger) -> None:
    ledger.know(floor=period(12))
    ledger.put(12, "open")
    assert known(ledger) == [
        (
            f"not finished, and not above the job's floor {period(12)}: it can still be done, "
            "because "
            "its row is there"
        )
    ]
    assert (
        f"k8sjob run TARGET --job {JOB} --period {period(12)}" in ledger.call("describe", KEY).out
    )


def test_a_key_below_the_floor_that_was_tried_is_expired(ledger: Ledger) -> None:
    ledger.know(floor=period(12))
    ledger.tried(1, 12, "12T09:00:05", ended_at=at("12T09:00:06"), outcome="expired", exit_code=82)
    told = ledger.call("describe", KEY).lines
    assert f"State       expired (the floor is {period(12)})" in told
    assert told[-1] == "What now    nothing: it can never be claimed again"


def test_a_period_done_before_its_time(ledger: Ledger) -> None:
    ledger.know()
    ledger.put(12, "done", done_at=at("11T00:00:07"), changed_at=at("11T00:00:07"))
    assert known(ledger) == [
        (
            "done at 2026-09-11 00:00:07Z, before its own time 2026-09-12 00:00:00Z: a clock was "
            "wrong, or the period"
        )
    ]


def test_an_attempt_that_ended_before_it_started(ledger: Ledger) -> None:
    ledger.know()
    ledger.put(12, "open")
    ledger.tried(1, 12, "12T00:00:05", ended_at=at("11T00:00:09"), outcome="failed", exit_code=1)
    assert known(ledger) == [
        (
            "attempt 0199a001-0000 ended at 2026-09-11 00:00:09Z, before it started at 2026-09-12 "
            "00:00:05Z: a clock was wrong, how long it took is not known"
        )
    ]
    assert ledger.call("get", "attempts", KEY).lines[1].split()[4] == "-"


def test_an_attempt_that_starts_in_the_future(ledger: Ledger) -> None:
    ledger.know()
    ledger.put(12, "open")
    ledger.tried(1, 12, "14T00:00:05")
    assert known(ledger) == [
        "attempt 0199a001-0000 started at 2026-09-14 00:00:05Z, in the future: a clock was wrong"
    ]
    (line,) = ledger.call("get", "periods", KEY, "-o", "json").json["periods"]
    assert line["state"] == "missing"


def test_a_sound_period_has_nothing_odd(ledger: Ledger) -> None:
    ledger.know()
    ledger.put(12, "done")
    assert known(ledger) == []


def test_until_infinity_is_until_somebody_lifts_it(ledger: Ledger) -> None:
    if ledger.store.db is None:
        pytest.skip("a SQLite ledger keeps texts, and none stands for infinity")
    ledger.know()
    ledger.put(12, "blocked", reason="no data", until="infinity")
    ledger.hold(1, reason="bank holiday", until="infinity")
    told = ledger.call("describe", KEY)
    assert "State       blocked (since" in told.out
    assert f"Holds       {JOB}: bank holiday, by ann" in told.out


def test_what_was_refused_for_its_kind_is_an_attempt_and_no_period(ledger: Ledger) -> None:
    ledger.know()
    ledger.put(12, "done")
    ended: dict[str, Any] = {"ended_at": at("12T00:00:06"), "outcome": "failed", "exit_code": 78}
    ledger.tried(1, 12, "12T00:00:05", **ended | {"period": "2026-09-12"})
    ledger.tried(2, 12, "12T00:00:05", **ended | {"period": "once"}, job=f"{JOB}/part")
    listed = ledger.call("get", "periods", "-A", "-o", "json").json["periods"]
    assert [one["period"] for one in listed] == [period(12)]
    assert "1 due" not in ledger.call("get", "jobs", "-A").out
    tried = ledger.call("get", "attempts", "-A", "-o", "json").json["attempts"]
    assert sorted(one["period"] for one in tried) == ["2026-09-12", "once"]


def test_periods_of_two_kinds_are_listed_while_nobody_knows_the_jobs_own(ledger: Ledger) -> None:
    ended: dict[str, Any] = {"ended_at": at("12T00:00:06"), "outcome": "failed", "exit_code": 1}
    ledger.tried(1, 12, "12T00:00:05", **ended)
    ledger.tried(2, 12, "12T00:00:05", **ended | {"period": "2026-09-12"})
    told = ledger.call("get", "periods", "-A", "-o", "json")
    assert told.code == 0
    assert len(told.json["periods"]) == 2
