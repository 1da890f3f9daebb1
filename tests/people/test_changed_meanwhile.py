"""Between the look and the change somebody else decides: it is planned anew, never overwritten."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from k8sjob.errors import K8sjobError, TryAgain
from k8sjob.key import Key
from k8sjob.ledger.operate import ChangedMeanwhile, Changes, Decision, Scope, Wanted
from k8sjob.people.change import carry_out
from k8sjob.people.order import Order, Verb
from k8sjob.states import State
from tests.fix_stores import wait_until_blocked
from tests.people.conftest import JOB, KEY

if TYPE_CHECKING:
    from k8sjob.ledger.operate import Hold
    from k8sjob.people.plan import Plan
    from tests.people.conftest import Desk

THE_KEY = Key.parse(KEY)
NEXT = Key.parse(f"{JOB}:2026-09-14")


def changes(*decisions: Decision, lifts: list[Hold] | None = None) -> Changes:
    return Changes(decisions=decisions, lifts=lifts or [], reason="why", by="ann")


def decision(
    before: State | None, verb: Verb = Verb.SKIP, generation: int = 0, key: Key = THE_KEY
) -> Decision:
    return Decision(str(verb), key, before, generation, verb.rule.after)


def test_a_decision_on_another_state_or_generation_changes_nothing(desk: Desk) -> None:
    desk.put("blocked")
    operator = desk.operator()
    stale = [
        decision(None),
        decision(State.OPEN),
        decision(State.BLOCKED, Verb.RELEASE, generation=1),
        decision(State.AWAITING, Verb.CONFIRM),
        decision(State.OPEN, key=NEXT),
    ]
    for wrong in stale:
        fine = decision(None, key=Key.parse(f"{JOB}:2026-09-01"))
        with pytest.raises(ChangedMeanwhile):
            operator.change(changes(fine, wrong))
    operator.close()
    assert desk.states() == {KEY: "blocked"}
    assert desk.events() == []


def test_a_hold_that_is_gone_changes_nothing(desk: Desk) -> None:
    desk.call("block", JOB, "--reason", "why")
    operator = desk.operator()
    holds = list(operator.look(Wanted(keys=[THE_KEY])).holds)
    assert [hold.scope for hold in holds] == [Scope.of_job(THE_KEY.job)]
    operator.change(changes(lifts=holds))
    with pytest.raises(ChangedMeanwhile):
        operator.change(changes(decision(None), lifts=holds))
    operator.close()
    assert desk.states() == {}


def test_it_is_looked_at_and_planned_again(desk: Desk) -> None:
    desk.put("open")
    seen: list[State | None] = []

    def agree(plan: Plan) -> None:
        seen.append(plan.steps[0].before)
        if len(seen) == 1:
            desk.call("block", KEY, "--reason", "somebody was faster")
            desk.call("release", KEY, "--reason", "and again")

    order = Order(verb=Verb.SKIP, reason="why", by="ann", keys=[THE_KEY])
    operator = desk.operator()
    made = carry_out(operator, order, dry_run=False, agree=agree)
    operator.close()
    assert seen == [State.OPEN, State.OPEN]
    assert made.steps[0].row
    assert made.steps[0].row.generation == 1
    assert [event[1] for event in desk.events()] == ["block", "release", "skip"]


def test_what_was_done_meanwhile_is_refused(desk: Desk) -> None:
    def agree(_: Plan) -> None:
        desk.put("done")

    order = Order(verb=Verb.SKIP, reason="why", by="ann", keys=[THE_KEY])
    operator = desk.operator()
    made = carry_out(operator, order, dry_run=False, agree=agree)
    operator.close()
    assert made.refused
    assert desk.states() == {KEY: "done"}


def test_what_never_stands_still_is_given_up(desk: Desk) -> None:
    desk.put("open")

    def agree(_: Plan) -> None:
        desk.query(f"UPDATE {desk.table('periods')} SET generation = generation + 1")

    order = Order(verb=Verb.SKIP, reason="why", by="ann", keys=[THE_KEY])
    operator = desk.operator()
    with pytest.raises(TryAgain, match="changes faster than it can be decided on"):
        carry_out(operator, order, dry_run=False, agree=agree)
    operator.close()
    assert desk.states() == {KEY: "open"}


def test_an_indicator_that_was_taken_meanwhile_changes_nothing(desk: Desk) -> None:
    taken = Changes(decisions=[decision(None, Verb.AWAIT)], reason="a", by="b", indicator="x")
    again = Changes(
        decisions=[decision(None, Verb.AWAIT, key=NEXT)], reason="a", by="b", indicator="x"
    )
    operator = desk.operator()
    operator.change(taken)
    with pytest.raises(K8sjobError, match="another period awaits"):
        operator.change(again)
    operator.close()
    assert desk.states() == {KEY: "awaiting"}


def test_a_decision_waits_for_the_claim_that_holds_the_key_and_then_sees_it_done(
    pg_desk: Desk,
) -> None:
    assert pg_desk.store.db
    runner = pg_desk.store.db.connect("runner")
    runner.execute("SELECT k8sjob.claim(%s, %s)", KEY.split(":"))
    operator = pg_desk.operator()
    order = Order(verb=Verb.BLOCK, reason="why", by="ann", keys=[THE_KEY])
    found: list[Plan] = []
    thread = threading.Thread(
        target=lambda: found.append(carry_out(operator, order, dry_run=False, agree=lambda _: None))
    )
    thread.start()
    admin = pg_desk.store.db.connect("admin", autocommit=True)
    wait_until_blocked(admin, operator._conn.info.backend_pid)  # type: ignore[attr-defined]  # noqa: SLF001
    runner.commit()
    thread.join(30)
    operator.close()
    assert found[0].refused
    assert found[0].refused[0].why.startswith("done ")
    assert pg_desk.states() == {KEY: "done"}


def test_a_key_that_is_held_too_long_is_told(
    pg_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K8SJOB_LOCK_TIMEOUT", "100ms")
    assert pg_desk.store.db
    runner = pg_desk.store.db.connect("runner")
    runner.execute("SELECT k8sjob.claim(%s, %s)", KEY.split(":"))
    told = pg_desk.call("block", f"{JOB}:2026-09-01", KEY, "--reason", "why", "--yes")
    assert told.code == 75
    assert f"could not block {KEY}: an attempt, or somebody else, holds it" in told.err
    assert "Nothing was changed." in told.err
    runner.rollback()
    assert pg_desk.states() == {}


def test_a_connection_that_dies_leaves_it_open_and_the_same_command_settles_it(
    pg_desk: Desk,
) -> None:
    operator = pg_desk.operator()
    pg_desk.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
        "current_database() AND application_name = 'k8sjob operator'"
    )
    with pytest.raises(K8sjobError) as caught:
        operator.change(changes(decision(None)))
    operator.close()
    assert caught.value.exit_code == 69
    assert pg_desk.call("skip", KEY, "--reason", "why").code == 0
