"""``set_hold`` and ``lift_hold``: stops to all claims of a job, a namespace or everything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from tests.integration.functions import FUTURE, JOB, PAST, Functions

if TYPE_CHECKING:
    from tests.fix_stores import Database

DAY = "2026-02-01"
PART, SISTER, ELSEWHERE = f"{JOB}/east", "billing/invoices", "shop/stock"
JOBS = (JOB, PART, SISTER, ELSEWHERE)
NAMED = {"namespace": None, "job": None}


@pytest.fixture
def ledger(db: Database) -> Functions:
    """Give the ledger's functions to the test."""
    return Functions(db)


def _set(ledger: Functions, **args: Any) -> Any:
    words = {**NAMED, "reason": "maintenance", "by": "ann", **args}
    return ledger.as_("operator", "set_hold", **words)


def _outcomes(ledger: Functions, day: str = DAY) -> dict[str, str]:
    return {job: ledger.claim(day, job) for job in JOBS}


@pytest.mark.parametrize(
    ("of", "held"),
    [
        ({"job": JOB}, {JOB, PART}),
        ({"namespace": "billing", "job": JOB}, {JOB, PART}),
        ({"namespace": "billing"}, {JOB, PART, SISTER}),
        ({}, set(JOBS)),
    ],
    ids=["job", "job-and-namespace", "namespace", "all"],
)
def test_a_hold_stops_the_claims_of_what_it_names(
    ledger: Functions, of: dict[str, str], held: set[str]
) -> None:
    hold = _set(ledger, **of)
    outcomes = _outcomes(ledger)
    assert {job for job, outcome in outcomes.items() if outcome == "blocked"} == held
    assert {outcome for job, outcome in outcomes.items() if job not in held} <= {"applied"}
    assert all(ledger.row(DAY, job) is None for job in held), "a hold changes no row"
    assert ledger.as_("operator", "lift_hold", id=hold, reason="over", by="bob") is True
    assert set(_outcomes(ledger, "2026-02-02").values()) == {"applied"}


def test_the_reason_of_a_hold_is_the_answer(ledger: Functions) -> None:
    _set(ledger, reason="everything", until=FUTURE)
    query = "SELECT reason, until FROM k8sjob.try_claim(%s, %s)"
    conn = ledger.db.connect("runner")
    assert conn.execute(query, (JOB, DAY)).fetchone() == ("everything", FUTURE)
    _set(ledger, job=JOB, reason="this job")  # the closest one speaks
    assert conn.execute(query, (JOB, DAY)).fetchone() == ("this job", None)


def test_a_hold_says_nothing_of_a_period_that_has_its_answer(ledger: Functions) -> None:
    ledger.claim("2026-02-01")
    ledger.say("skip", "2026-02-02", reason="holiday")
    ledger.say("block", "2026-02-03", reason="no feed")
    ledger.hand_over("2026-02-04")
    ledger.say("block", "2026-02-05", until=PAST)
    _set(ledger)
    query = "SELECT outcome, reason FROM k8sjob.try_claim(%s, %s)"
    conn = ledger.db.connect("runner")
    days = [f"2026-02-0{n}" for n in range(1, 6)]
    assert [conn.execute(query, (JOB, day)).fetchone() for day in days] == [
        ("duplicate", None),
        ("skipped", "holiday"),
        ("blocked", "no feed"),
        ("awaiting", "sent to the bank"),
        ("blocked", "maintenance"),  # its own time is up
    ]


def test_a_hold_ends_by_itself(ledger: Functions) -> None:
    _set(ledger, until=PAST)
    assert set(_outcomes(ledger).values()) == {"applied"}


def test_who_set_and_lifted_a_hold_is_kept(ledger: Functions) -> None:
    hold = _set(ledger, job=JOB, reason="the bank is closed", until=FUTURE)
    lift = {"id": hold, "reason": "it is open", "by": "bob"}
    assert ledger.as_("operator", "lift_hold", **lift) is True
    row = ledger.one("SELECT * FROM k8sjob.holds")
    assert row
    assert (row["namespace"], row["job"], row["until"]) == ("billing", JOB, FUTURE)
    assert (row["reason"], row["set_by"]) == ("the bank is closed", "ann")
    assert (row["lift_reason"], row["lifted_by"]) == ("it is open", "bob")
    assert (row["set_by_user"], row["lifted_by_user"]) == ("k8sjob_operator", "k8sjob_operator")
    assert row["set_at"] < row["lifted_at"]


def test_a_hold_is_lifted_once(ledger: Functions) -> None:
    hold = _set(ledger, job=JOB)
    first = {"id": hold, "reason": "over", "by": "bob"}
    assert ledger.as_("operator", "lift_hold", **first) is True
    before = ledger.one("SELECT * FROM k8sjob.holds")
    again = {"id": hold, "reason": "really", "by": "eve"}
    assert not ledger.as_("operator", "lift_hold", **again)
    assert not ledger.as_("operator", "lift_hold", **{**again, "id": hold + 1})
    assert ledger.one("SELECT * FROM k8sjob.holds") == before


@pytest.mark.parametrize("reason", [None, "", " \n\t"])
def test_a_hold_needs_a_reason_and_so_does_its_end(ledger: Functions, reason: str | None) -> None:
    with pytest.raises(psycopg.Error, match="a reason is needed to set a hold") as caught:
        _set(ledger, reason=reason)
    assert caught.value.sqlstate == "KJ015"
    hold = _set(ledger)
    lift = {"id": hold, "reason": reason, "by": "bob"}
    with pytest.raises(psycopg.Error, match="a reason is needed to lift hold") as caught:
        ledger.as_("operator", "lift_hold", **lift)
    assert caught.value.sqlstate == "KJ015"
    assert ledger.one("SELECT lifted_at FROM k8sjob.holds") == {"lifted_at": None}


def test_not_even_the_owner_writes_a_hold_or_a_state_without_a_reason(ledger: Functions) -> None:
    owner = ledger.conns["owner"]
    hold = _set(ledger)
    ledger.say("block", DAY)
    for statement in (
        f"UPDATE k8sjob.holds SET lifted_at = now() WHERE id = {hold}",
        f"UPDATE k8sjob.holds SET lifted_at = now(), lift_reason = ' ' WHERE id = {hold}",
        f"UPDATE k8sjob.holds SET reason = E'\\n' WHERE id = {hold}",
        "UPDATE k8sjob.periods SET reason = NULL",
        "UPDATE k8sjob.periods SET reason = E' \\t'",
    ):
        with pytest.raises(psycopg.errors.CheckViolation):
            owner.execute(statement.encode())


@pytest.mark.parametrize(
    "of",
    [{"job": PART}, {"job": "billing"}, {"job": ""}, {"namespace": "shop", "job": JOB}],
    ids=["part", "no-job", "empty", "other-namespace"],
)
def test_a_hold_of_nothing_that_exists_is_refused(ledger: Functions, of: dict[str, str]) -> None:
    with pytest.raises(psycopg.errors.CheckViolation):
        _set(ledger, **of)
