"""What the table "What a stolen DSN can do" of docs/security.md says of an operator."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from psycopg import errors

from tests.integration.functions import FUTURE, JOB, NOW, PAST, SITUATIONS
from tests.integration.stolen import PERIOD, end, refused, start, track

if TYPE_CHECKING:
    from tests.fix_stores import Database
    from tests.integration.functions import Functions
    from tests.migration.empty import Terminal


def test_what_an_operator_reopens_is_done_twice(ledger: Functions) -> None:
    assert ledger.claim(PERIOD) == "applied"
    assert ledger.reopen(PERIOD) == "open"
    assert ledger.claim(PERIOD) == "applied"
    (event,) = ledger.events(PERIOD)
    assert (event["kind"], event["by"], event["db_user"]) == ("reopen", "ann", "k8sjob_operator")


def test_an_operator_holds_and_releases(ledger: Functions) -> None:
    words = {"reason": "none", "by": "ann"}
    hold = ledger.as_("operator", "set_hold", namespace=None, job=None, **words)
    assert ledger.claim(PERIOD) == "blocked"
    assert ledger.as_("operator", "lift_hold", id=hold, **words) is True
    assert ledger.claim(PERIOD) == "applied"


def test_an_operator_prunes_nothing_that_is_not_finished(ledger: Functions) -> None:
    while ledger.as_("operator", "prune_periods", job=JOB, before=PERIOD):
        pass
    left = {name for name, period in SITUATIONS.items() if ledger.state(period)}
    assert left == {"open", "blocked", "blocked until later", "blocked until before", "awaiting"}


def test_an_operator_prunes_past_the_mark_only_once_it_has_moved_it(ledger: Functions) -> None:
    track(ledger, JOB, "day")
    late = f"{NOW + timedelta(days=1):%Y-%m-%d}"
    ledger.say("skip", late)
    with pytest.raises(errors.CheckViolation, match="would pass its mark"):
        ledger.as_("operator", "prune_periods", job=JOB, before=late)
    assert ledger.as_("operator", "move_mark", job=JOB, done_until=NOW + timedelta(days=9)) is True
    assert ledger.as_("operator", "prune_periods", job=JOB, before=late) > 0
    assert ledger.row(late) is None


def test_an_operator_hides_what_is_missing_by_the_mark_and_the_owner_moves_it_back(
    db: Database, ledger: Functions, terminal: Terminal
) -> None:
    job, began = "payroll/minutes", NOW - timedelta(hours=3)
    track(ledger, job, "scheduled", expr="* * * * *", earliest_from=began, valid_from=began)
    look = ("get", "periods", job, "--state", "missing", "-o", "name")

    def missing() -> int:
        return len(terminal.call(db.dsn("reader"), *look).out.splitlines())

    assert missing() > 100
    ledger.as_("operator", "move_mark", job=job, done_until=FUTURE)
    assert missing() == 0
    ledger.as_("operator", "move_mark", job=job, done_until=began)
    assert missing() == 0, "it moves forward only"
    back = "UPDATE k8sjob.jobs SET done_until = %s WHERE job = %s"
    ledger.conns["owner"].execute(back, (began, job))
    assert missing() > 100


def test_an_operator_changes_what_the_ledger_knows_of_a_cronjob(ledger: Functions) -> None:
    track(ledger, JOB, "day", expr="0 0 29 2 *")
    job = ledger.one("SELECT severity, done_until FROM k8sjob.jobs WHERE job = %s", JOB)
    assert job == {"severity": "info", "done_until": PAST}
    assert ledger.all("SELECT expr FROM k8sjob.schedule_versions") == [{"expr": "0 0 29 2 *"}]


@pytest.mark.parametrize("situation", ["awaiting", "blocked"])
def test_an_operator_confirms_what_was_not_done(ledger: Functions, situation: str) -> None:
    period = SITUATIONS[situation]
    words = {"job": JOB, "period": period, "reason": "seen", "by": "ann"}
    moved = {"verb": "confirm", "from_state": situation, "generation": 0}
    assert ledger.as_("operator", "decide", **moved, **words) is True
    assert ledger.state(period) == "done"


def test_what_an_operator_has_pruned_is_refused_with_82(
    db: Database, ledger: Functions, terminal: Terminal
) -> None:
    done = SITUATIONS["done"]
    assert ledger.as_("operator", "prune_periods", job=JOB, before=done) == 1
    words = ("run", "--job", JOB, "--period", done, "--", "true")
    told = terminal.call(db.dsn("runner"), *words)
    assert told.code == 82, told
    assert ledger.reopen(done) is None


def test_pruning_takes_claims_and_attempts_and_leaves_events_and_counters(
    ledger: Functions,
) -> None:
    end(ledger, "runner", start(ledger))
    ledger.as_("operator", "prune_periods", job=JOB, before=PERIOD)
    assert ledger.as_("operator", "prune_attempts", job=JOB, before=FUTURE) == 1
    assert ledger.all("SELECT FROM k8sjob.attempts") == []
    assert [event["to_state"] for event in ledger.events(SITUATIONS["skipped"])] == ["skipped"]
    assert ledger.all("SELECT n FROM k8sjob.counters") == [{"n": 1}]


def test_an_operator_says_who_it_is_but_not_which_login(ledger: Functions) -> None:
    ledger.as_("operator", "reopen", job=JOB, period=SITUATIONS["done"], reason="x", by="the CEO")
    (event,) = ledger.events(SITUATIONS["done"])
    assert (event["by"], event["db_user"]) == ("the CEO", "k8sjob_operator")
    for change in ("UPDATE k8sjob.events SET by = 'x'", "DELETE FROM k8sjob.events"):
        with pytest.raises(errors.InsufficientPrivilege):
            ledger.conns["operator"].execute(change.encode())


def test_an_operator_lets_nobody_in(db: Database, ledger: Functions, terminal: Terminal) -> None:
    refused(ledger, "operator", "grant_access", capability="operator", grantee="k8sjob_reader")
    refused(ledger, "operator", "revoke_access", grantee="k8sjob_runner")
    ledger.conns["operator"].execute("GRANT SELECT ON k8sjob.jobs TO PUBLIC")  # is but a warning
    public = """SELECT count(*) AS n FROM pg_class c, aclexplode(c.relacl) a
                 WHERE c.oid = 'k8sjob.jobs'::regclass AND a.grantee = 0"""
    assert ledger.one(public) == {"n": 0}
    told = terminal.call(db.dsn("operator"), "migrate", "--grant-operator", "k8sjob_reader")
    assert told.code == 77, told
