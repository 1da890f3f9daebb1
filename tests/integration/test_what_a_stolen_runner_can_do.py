"""What the table "What a stolen DSN can do" of docs/security.md says of a runner."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import errors

from tests.integration.functions import FUTURE, JOB, NOW, SITUATIONS
from tests.integration.stolen import (
    LATER,
    PAGE,
    PERIOD,
    VERSION,
    end,
    refused,
    start,
)

if TYPE_CHECKING:
    from tests.fix_stores import Database
    from tests.integration.functions import Functions
    from tests.migration.empty import Terminal


def test_a_runner_claims_periods_of_any_job_without_their_work(ledger: Functions) -> None:
    assert ledger.claim(PERIOD, job="payroll/monthly-run") == "applied"
    assert ledger.claim(PERIOD, job=JOB) == "applied"
    assert ledger.claim(PERIOD, job=JOB) == "duplicate", "the real one is turned away"


@pytest.mark.parametrize(
    ("function", "state"), [("skip", "skipped"), ("block", "blocked")], ids=str
)
def test_a_runner_skips_and_blocks_periods_that_are_still_to_come(
    ledger: Functions, function: str, state: str
) -> None:
    assert ledger.say(function, LATER) == state
    (event,) = ledger.events(LATER)
    assert (event["to_state"], event["db_user"]) == (state, "k8sjob_runner")


def test_a_runner_claims_no_period_of_the_future(ledger: Functions) -> None:
    with pytest.raises(psycopg.Error, match="lies in the future"):
        ledger.claim(LATER)


def test_a_runner_writes_false_attempts_and_ends_those_of_its_login(ledger: Functions) -> None:
    assert end(ledger, "runner", start(ledger, job="payroll/monthly-run"), message="all is well")
    real = start(ledger)
    assert end(ledger, "runner", real, message="killed")
    assert not end(ledger, "runner", real), "an end is written once"
    assert not end(ledger, "runner", start(ledger, "operator")), "that of another login stays"


def test_a_runner_gives_a_new_job_another_kind_of_period_and_so_shuts_it_out(
    ledger: Functions,
) -> None:
    new = "payroll/new-job"
    ledger.say("skip", "once", job=new)
    with pytest.raises(psycopg.Error, match="has periods of kind once") as caught:
        ledger.claim(PERIOD, job=new)
    assert caught.value.sqlstate == "KJ012"
    ledger.conns["owner"].execute("DELETE FROM k8sjob.gate WHERE job = %s", (new,))
    assert ledger.claim(PERIOD, job=new) == "applied", "as the page says"
    with pytest.raises(psycopg.Error, match="has periods of kind day"):
        ledger.say("skip", "once")


def test_a_runner_says_first_what_a_kubernetes_job_stands_for(ledger: Functions) -> None:
    said = {"job_uid": "u-9", "job": JOB, "source": "kubernetes-job"}
    ledger.as_("runner", "resolve_job", period="2026-02-02", **said)
    ledger.as_("runner", "resolve_job", period=PERIOD, **said)
    assert ledger.all("SELECT period FROM k8sjob.resolutions") == [{"period": "2026-02-02"}]


def test_a_runner_keeps_a_period_busy_for_as_long_as_its_session_stands(
    db: Database, ledger: Functions
) -> None:
    thief = db.connect("runner")
    thief.execute("SELECT k8sjob.try_claim(%s, %s)", (JOB, PERIOD))
    ledger.conns["runner"].execute("SET k8sjob.lock_timeout = '50ms'")
    with pytest.raises(errors.LockNotAvailable):
        ledger.claim(PERIOD)
    thief.close()
    ledger.conns["runner"].execute("SET k8sjob.lock_timeout = '30s'")
    assert ledger.claim(PERIOD) == "applied"


def test_a_runner_neither_undoes_nor_rewrites_what_is_done(ledger: Functions) -> None:
    done = SITUATIONS["done"]
    before = ledger.row(done)
    assert ledger.claim(done) == "duplicate"
    conn = ledger.conns["runner"]
    with pytest.raises(psycopg.Error, match="was done with payload"):
        conn.execute("SELECT k8sjob.try_claim(%s, %s, 'other')", (JOB, done))
    assert [ledger.say(function, done) for function in ("skip", "block")] == ["done", "done"]
    late = {"job": JOB, "period": done, "attempt": start(ledger)}
    assert ledger.as_("runner", "lapse", reason="late", **late) == "done"
    with pytest.raises(psycopg.Error, match="was not claimed in this transaction"):
        ledger.say("await", done)
    with pytest.raises(psycopg.Error, match="was not claimed in this transaction"):
        ledger.as_("runner", "supersede", first="2026-01-01", last=done, **late)
    assert ledger.row(done) == before


@pytest.mark.parametrize("situation", ["done", "blocked", "skipped", "awaiting"])
def test_a_runner_reopens_nothing(ledger: Functions, situation: str) -> None:
    period = SITUATIONS[situation]
    words = {"job": JOB, "period": period, "reason": "again", "by": "ann"}
    refused(ledger, "runner", "reopen", **words)
    moved = {"from_state": situation, "generation": 0, **words}
    for verb in ("reopen", "release", "confirm"):
        refused(ledger, "runner", "decide", verb=verb, **moved)
    assert ledger.state(period) == situation


def test_a_runner_deletes_nothing(ledger: Functions) -> None:
    refused(ledger, "runner", "prune_periods", job=JOB, before=PERIOD)
    refused(ledger, "runner", "prune_attempts", job=JOB, before=FUTURE)


def test_a_runner_neither_sets_nor_lifts_a_hold_and_is_held_by_it(ledger: Functions) -> None:
    words = {"reason": "the bank is closed", "by": "ann"}
    hold = ledger.as_("operator", "set_hold", namespace=None, job=JOB, **words)
    refused(ledger, "runner", "lift_hold", id=hold, **words)
    refused(ledger, "runner", "set_hold", namespace="shop", job=None, **words)
    assert ledger.claim(PERIOD) == "blocked"


def test_a_runner_changes_no_schedule_and_no_mark(ledger: Functions) -> None:
    refused(ledger, "runner", "change_version", **VERSION)
    refused(ledger, "runner", "move_mark", job=JOB, done_until=FUTURE)
    settings = {"job": JOB, "list_began": NOW, "kind": "day", "s": "{}"}
    refused(ledger, "runner", "track_job", **settings)


def test_a_false_claim_is_seen_with_its_login_and_can_be_taken_back(
    db: Database, ledger: Functions, terminal: Terminal
) -> None:
    assert ledger.claim(PERIOD) == "applied"
    told = terminal.call(db.dsn("reader"), "describe", f"{JOB}:{PERIOD}")
    assert "(database user k8sjob_runner)" in told.out
    reopen = ("reopen", f"{JOB}:{PERIOD}", "--reason", "claimed with a stolen password", "--yes")
    assert terminal.call(db.dsn("operator"), *reopen).code == 0
    assert ledger.claim(PERIOD) == "applied"


def test_the_query_of_the_page_finds_what_was_claimed_without_an_attempt(
    ledger: Functions,
) -> None:
    (query,) = re.findall(r"```sql\n(.*?);\n```", PAGE, re.DOTALL)
    attempt = start(ledger)
    with ledger.conns["runner"].transaction():
        ledger.conns["runner"].execute(
            "SELECT k8sjob.claim(%s, %s, NULL, %s)", (JOB, PERIOD, attempt)
        )
    ledger.claim("2026-02-02")
    found = [(row["job"], row["period"], row["db_user"]) for row in ledger.all(query)]
    assert (JOB, "2026-02-02", "k8sjob_runner") in found
    assert PERIOD not in [period for _, period, _ in found]
