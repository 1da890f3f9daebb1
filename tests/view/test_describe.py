"""``describe`` tells the whole story of a period, and of a job, to the letter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.view.conftest import JOB, at, period

if TYPE_CHECKING:
    from tests.view.conftest import Ledger

KEY = f"{JOB}:{period(12)}"


def user(ledger: Ledger) -> str:
    """Return the database's user in brackets; a file has none."""
    return " (k8sjob_admin)" if ledger.store.db else ""


def event(ledger: Ledger, **more: str | None) -> None:
    """Write an event of the period at 12 September."""
    values = {"job": JOB, "period": period(12), "kind": "block", "by": "ann"}
    db_user = "k8sjob_admin" if ledger.store.db else None
    ledger.insert("events", **(values | more | {"db_user": db_user}))


def test_the_story_of_a_missing_period(ledger: Ledger) -> None:
    ledger.know()
    ledger.put(12, "open")
    ledger.tried(1, 12, "12T00:00:05", pod_name="x2v")
    ledger.tried(
        2,
        12,
        "12T00:02:31",
        ended_at=at("12T00:02:35"),
        outcome="failed",
        exit_code=1,
        message="KeyError: 'balance'",
        tail="1\n2\nTraceback\n\tline 7\n  \x1b[31mline 8\nKeyError: 'balance'\nlast\n",
    )
    event(ledger, to_state="open", at=at("12T00:15:20"), by="reconciler", reason="no row")
    ledger.hold(1, reason="bank holiday", until=at("14T00:00:00"))
    assert ledger.call("describe", KEY).lines == [
        f"Key         {KEY}",
        "Scheduled   Sat 12 Sep 2026 02:00 Europe/Rome = 2026-09-12T00:00:00Z",
        "State       missing (open since 2026-09-12 00:15:20Z, generation 0)",
        "Attempts    0199a001-0000  2026-09-12 00:00:05Z  no end was written (killed?)  Pod x2v",
        (
            "            0199a002-0000  2026-09-12 00:02:31Z  failed 1  after 4.0s  "
            "KeyError: 'balance'"
        ),
        "              Traceback",
        "                  line 7",
        "                 [31mline 8",
        "              KeyError: 'balance'",
        "              last",
        f"Events      2026-09-12 00:15:20Z  absent → open  reconciler{user(ledger)}  no row",
        f"Holds       {JOB} until 2026-09-14 00:00:00Z: bank holiday, by ann 2026-09-12 00:00:00Z",
        (
            "Known       attempt 0199a001-0000 has no end, and its last sign of life was at "
            "2026-09-12 00:00:05Z: whether it was killed or still works is not known"
        ),
        f'What now    k8sjob release {JOB} --reason "…"   (it is held)',
        f"            k8sjob run TARGET --job {JOB} --period 2026-09-12T00:00:00Z",
        f'            k8sjob skip {KEY} --reason "…"   (if it need not be done)',
    ]


def test_the_story_of_a_done_period_has_its_payload_and_attempt(ledger: Ledger) -> None:
    ledger.know()
    digest = bytes(range(32))
    ledger.put(
        12, "done", attempt="0199a001-0000-7000-8000-000000000001", generation=1,
        payload_sha256=digest if not ledger.store.db else f"\\x{digest.hex()}",
        db_user="k8sjob_runner" if ledger.store.db else None,
    )  # fmt: skip
    by = " (database user k8sjob_runner)" if ledger.store.db else ""
    assert ledger.call("describe", KEY).lines[2:] == [
        "State       done (since 2026-09-12 00:15:20Z, generation 1)",
        f"            done 2026-09-12 00:00:07Z by attempt 0199a001-0000{by}",
        f"            payload sha256:{digest.hex()}",
        f'What now    nothing. To do it again: k8sjob reopen {KEY} --reason "…"',
    ]


@pytest.mark.parametrize(
    ("state", "advice"),
    [
        ("blocked", 'k8sjob release {} --reason "…"'),
        ("awaiting", 'k8sjob confirm {} --reason "…"   (once its effect was seen)'),
        ("skipped", 'nothing. To do it again: k8sjob reopen {} --reason "…"'),
    ],
)
def test_what_to_do_now_follows_from_the_state(ledger: Ledger, state: str, advice: str) -> None:
    ledger.know()
    ledger.put(12, state, reason="no data")
    told = ledger.call("describe", KEY).lines
    assert told[-1] == f"What now    {advice.format(KEY)}"
    assert told[3] == "            no data"


def test_the_portrait_of_a_job(ledger: Ledger) -> None:
    ledger.know(floor=period(1))
    ledger.put(11, "open")
    ledger.put(12, "done")
    ledger.tried(1, 12, "12T00:00:05", ended_at=at("12T00:00:07"), outcome="applied", exit_code=0)
    ledger.insert("counters", job=JOB, outcome="applied", n=7)
    assert ledger.call("describe", JOB).lines == [
        f"Job         {JOB}",
        "Kind        scheduled",
        "Zone        Europe/Rome",
        "Schedule    not known",
        "Floor       2026-09-01T00:00:00Z (what is older and finished may be pruned)",
        "Last done   2026-09-12T00:00:00Z",
        "Counters    7 applied",
        "Unfinished  missing  2026-09-11T00:00:00Z (2d late, no attempt is known)",
        "Attempts    0199a001-0000  2026-09-12 00:00:05Z  applied  after 2.0s",
    ]


def test_a_period_that_is_not_there_is_an_error_that_says_what_is_known(ledger: Ledger) -> None:
    ledger.know(floor=period(10))
    told = ledger.call("describe", KEY)
    assert (told.code, told.out) == (1, "")
    assert f"knows no period {KEY}" in told.err
    assert f"k8sjob get periods {JOB}   (there is neither a row nor an attempt" in told.err
    assert "it is expired" in ledger.call("describe", f"{JOB}:{period(10)}").err
    assert "are of kind scheduled" in ledger.call("describe", f"{JOB}:2026-09-12").err


def test_nothing_is_made_where_there_is_no_ledger(ledger: Ledger) -> None:
    if ledger.store.path is None:
        pytest.skip("a file is made by opening it, a database is not")
    ledger.store.path.unlink()
    told = ledger.call("describe", JOB)
    assert told.code == 69
    assert not ledger.store.path.exists()
    ledger.store.path.touch()
    told = ledger.call("describe", JOB)
    assert told.code == 75
    assert "holds no ledger" in told.err


def test_a_jobs_portrait_has_the_output_of_the_newest_attempt_that_failed(ledger: Ledger) -> None:
    ledger.know()
    failed: dict[str, Any] = {"outcome": "failed", "exit_code": 1}
    for number in (1, 2):
        ended = {"ended_at": at(f"12T00:0{number}:06"), "tail": f"line {number}\nKeyError: 'x'"}
        ledger.tried(number, 12, f"12T00:0{number}:05", **failed, **ended)
    ledger.tried(3, 12, "12T00:03:05", ended_at=at("12T00:03:06"), outcome="applied", tail="fine")
    lines = ledger.call("describe", JOB).lines
    (first,) = (n for n, line in enumerate(lines) if line.startswith("Attempts"))
    told = [line[12:] for line in lines[first : first + 5]]
    assert [line[:13] for line in told if not line.startswith("  ")] == [
        "0199a003-0000",
        "0199a002-0000",
        "0199a001-0000",
    ]
    assert told[2:4] == ["  line 2", "  KeyError: 'x'"]
    assert "line 1" not in "".join(lines)
    assert "fine" not in "".join(lines)
