"""``prune_periods``: the floor rises, finished rows go, and their keys are never done again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from tests.integration.functions import JOB, PAST, Functions, call

if TYPE_CHECKING:
    from tests.fix_stores import Database

DAYS = [f"2026-02-{n:02}" for n in range(1, 9)]
LATER = "2026-03-01"


@pytest.fixture
def ledger(db: Database) -> Functions:
    """Give the ledger's functions to the test."""
    return Functions(db)


def _prune(ledger: Functions, before: str, **args: Any) -> Any:
    return ledger.as_("operator", "prune_periods", **{"job": JOB, "before": before, **args})


def _floor(ledger: Functions, job: str = JOB) -> Any:
    row = ledger.one("SELECT floor FROM k8sjob.gate WHERE job = %s", job)
    return row["floor"] if row else None


def _periods(ledger: Functions, job: str = JOB) -> list[str]:
    query = "SELECT period FROM k8sjob.periods WHERE job = %s ORDER BY period"
    return [row["period"] for row in ledger.all(query, job)]


def _do(ledger: Functions, *days: str, job: str = JOB) -> None:
    for day in days:
        assert ledger.claim(day, job) == "applied"


def test_finished_rows_go_and_the_others_stay(ledger: Functions) -> None:
    done, skipped, opened, blocked, expired_block, awaiting, later, last = DAYS
    _do(ledger, done, opened, later, last)
    ledger.say("skip", skipped)
    ledger.reopen(opened)
    ledger.say("block", blocked)
    ledger.say("block", expired_block, until=PAST)
    ledger.hand_over(awaiting)
    events = ledger.all("SELECT * FROM k8sjob.events ORDER BY id")
    assert _prune(ledger, later) == 3
    assert _periods(ledger) == [opened, blocked, expired_block, awaiting, last]
    assert _floor(ledger) == later
    assert ledger.all("SELECT * FROM k8sjob.events ORDER BY id") == events, "history stays"
    assert _prune(ledger, later) == 0


def test_a_key_below_the_floor_whose_row_is_gone_is_expired(ledger: Functions) -> None:
    _do(ledger, DAYS[1], DAYS[3])
    _prune(ledger, DAYS[3])
    for day in (DAYS[0], DAYS[1], DAYS[2], DAYS[3]):  # those too that never had a row
        with pytest.raises(psycopg.Error, match="below the retention floor") as caught:
            ledger.claim(day)
        assert caught.value.sqlstate == "KJ006"
        for function in ("block", "skip"):
            assert ledger.say(function, day) is None
        assert ledger.reopen(day) is None
    assert _periods(ledger) == []
    assert ledger.claim(DAYS[4]) == "applied"


def test_an_unfinished_row_below_the_floor_is_done_as_ever(ledger: Functions) -> None:
    opened, blocked, up, done = DAYS[:4]
    _do(ledger, opened, done)
    ledger.reopen(opened)
    ledger.say("block", blocked)
    ledger.say("block", up, until=PAST)
    _prune(ledger, done)
    assert ledger.claim(opened) == "applied"
    assert ledger.claim(up) == "applied"
    assert ledger.claim(blocked) == "blocked"
    assert ledger.reopen(blocked) == "open"
    assert ledger.claim(blocked) == "applied"
    assert _prune(ledger, done) == 3
    assert _floor(ledger) == done


def test_the_floor_rises_to_what_went_and_never_falls(ledger: Functions) -> None:
    _do(ledger, *DAYS)
    assert _prune(ledger, LATER, batch=3) == 3
    assert (_floor(ledger), _periods(ledger)) == (DAYS[2], DAYS[3:])
    assert _prune(ledger, DAYS[4], batch=3) == 2
    assert _floor(ledger) == DAYS[4]
    assert _prune(ledger, DAYS[0]) == 0
    assert _floor(ledger) == DAYS[4]
    assert _prune(ledger, LATER) == 3
    assert _floor(ledger) == DAYS[7], "what nobody did yet is not given up"


def test_a_row_that_is_left_below_the_floor_does_not_lower_it(ledger: Functions) -> None:
    _do(ledger, DAYS[0], DAYS[3])
    ledger.reopen(DAYS[0])
    _prune(ledger, DAYS[3])
    _do(ledger, DAYS[0])
    assert _prune(ledger, DAYS[3]) == 1
    assert _floor(ledger) == DAYS[3]


def test_floor_and_rows_move_together_or_not_at_all(ledger: Functions) -> None:
    _do(ledger, *DAYS)
    conn = ledger.db.connect("operator")
    assert call(conn, "prune_periods", job=JOB, before=LATER) == 8
    conn.rollback()
    assert (_floor(ledger), _periods(ledger)) == (None, DAYS)


def test_parts_go_with_their_job_and_no_other_job_does(ledger: Functions) -> None:
    parts = [f"{JOB}/east", f"{JOB}/West", f"{JOB}/0"]
    others = [f"{JOB}-2", f"{JOB}0", f"{JOB}.x", f"{JOB}s/east", "billing/daily", "a/daily-credit"]
    for job in (JOB, *parts, *others):
        _do(ledger, DAYS[0], job=job)
    assert _prune(ledger, DAYS[0]) == 4
    assert [job for job in (JOB, *parts, *others) if _periods(ledger, job)] == others
    assert [job for job in (JOB, *others) if _floor(ledger, job)] == [JOB]
    for part in (parts[0], f"{JOB}/never-done"):
        with pytest.raises(psycopg.Error, match="below the retention floor"):
            ledger.claim(DAYS[0], part)


def test_all_rows_of_a_period_go_in_one_batch(ledger: Functions) -> None:
    for job in (JOB, f"{JOB}/a", f"{JOB}/b"):
        _do(ledger, DAYS[0], DAYS[1], job=job)
    assert _prune(ledger, LATER, batch=1) == 3
    assert _floor(ledger) == DAYS[0]
    assert _periods(ledger, f"{JOB}/b") == [DAYS[1]]


def test_what_is_done_once_is_kept(ledger: Functions) -> None:
    assert ledger.claim("once") == "applied"
    for before in ("once", LATER):
        assert _prune(ledger, before) == 0
    assert ledger.claim("once") == "duplicate"


def test_a_text_of_another_kind_prunes_nothing(ledger: Functions) -> None:
    _do(ledger, *DAYS)
    for before in ("2026-W10", "2026-03", "2026-03-01T00:00:00Z", "once", "3", "", None):
        with pytest.raises(psycopg.Error) as caught:
            ledger.as_("operator", "prune_periods", job=JOB, before=before)
        assert caught.value.sqlstate == "KJ012"
    assert _periods(ledger) == DAYS


def test_a_job_that_nobody_knows_has_nothing_to_prune(ledger: Functions) -> None:
    _do(ledger, DAYS[0], job=f"{JOB}/east")
    for job in ("billing/other", f"{JOB}/east", "nonsense"):
        assert _prune(ledger, LATER, job=job) == 0
    assert _floor(ledger) is None


@pytest.mark.parametrize(
    ("periods", "before"),
    [
        (["2025-W52", "2026-W01", "2026-W02"], "2026-W01"),
        (["2025-12", "2026-01", "2026-02"], "2026-01"),
        (
            ["2025-12-31T23:59:00Z", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"],
            "2026-01-01T00:00:00Z",
        ),
    ],
    ids=["weeks", "months", "scheduled"],
)
def test_each_kind_has_its_floor(ledger: Functions, periods: list[str], before: str) -> None:
    _do(ledger, *periods)
    assert _prune(ledger, before) == 2
    assert (_floor(ledger), _periods(ledger)) == (before, periods[2:])


def test_what_jobs_resolved_to_goes_with_their_attempts_and_not_before(ledger: Functions) -> None:
    for number, day in enumerate(DAYS[:3]):
        args = {"job_uid": f"uid-{number}", "job": JOB, "period": day, "source": "job-name"}
        ledger.as_("runner", "resolve_job", **args)
    ledger.say("block", DAYS[0])
    _do(ledger, DAYS[1], DAYS[2])
    with ledger.db.connect("admin", autocommit=True) as admin:
        admin.execute("UPDATE k8sjob.resolutions SET at = '2026-02-01' WHERE job_uid <> 'uid-2'")
        admin.execute(
            "INSERT INTO k8sjob.attempts (id, job, period, mode, source, client, started_at) "
            "VALUES (gen_random_uuid(), %s, %s, 'sql', 'job-name', '0.1.0', '2026-02-01')",
            (JOB, DAYS[0]),
        )
    ledger.as_("operator", "prune_attempts", job=JOB, before=PAST)
    left = ledger.all("SELECT job_uid FROM k8sjob.resolutions ORDER BY 1")
    assert [row["job_uid"] for row in left] == ["uid-0", "uid-2"]
