from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from k8sjob import InvalidKey, Key, Outcome
from k8sjob.errors import ConfigError
from tests.integration.callers import (
    KEY,
    NEXT_DAY,
    answers,
    applications,
    do,
    in_three_parts,
    refusals,
    ways,
)

if TYPE_CHECKING:
    from tests.fix_stores import Store

PAST, LATER = "2024-09-13T06:00:00.000000Z", "2999-01-01T00:00:00.000000Z"


def put(store: Store, state: str, reason: str = "the rate is wrong", until: str = "") -> None:
    """Give KEY a row, as an operator or an earlier attempt would have left it."""
    store.query(
        f"""INSERT INTO {store.table("periods")}
              (job, period, state, origin, reason, until, changed_at)
            VALUES ('{KEY.job}', '{KEY.period}', '{state}', 'test', '{reason}',
                    {f"'{until}'" if until else "NULL"}, '{PAST}')"""
    )


def hold(store: Store, namespace: str | None, job: str | None, until: str = "") -> None:
    values = [f"'{text}'" if text else "NULL" for text in (namespace, job, until)]
    store.query(
        f"""INSERT INTO {store.table("holds")}
              (namespace, job, until, from_at, reason, set_by, set_at)
            VALUES ({", ".join(values)}, '{PAST}', 'the bank is closed', 'ops', '{PAST}')"""
    )


def raise_floor(store: Store, text: str) -> None:
    store.query(
        f"""INSERT INTO {store.table("gate")} (job, kind, floor)
            VALUES ('{KEY.job}', 'day', '{text}')"""
    )


# ------------------------------------------------------------------------------- applied


@pytest.mark.parametrize("state", ["", "open", "blocked-until-now"])
def test_a_period_that_is_absent_open_or_blocked_until_now_is_applied(
    store: Store, state: str
) -> None:
    if state:
        put(store, state.partition("-")[0], until=PAST if "until" in state else "")
    for given in applications(store):
        assert given
        assert (given.applied, given.outcome, given.key) == (True, Outcome.APPLIED, KEY)
        assert (given.reason, given.until, given.payload_sha256) == (None, None, None)
        assert given.attempt
        assert given.done_at
        assert given.done_at.utcoffset() == timedelta(0)


def test_a_key_is_given_as_text_too(store: Store) -> None:
    assert all(given.key == KEY for given in applications(store, str(KEY)))


@pytest.mark.parametrize(
    "key", ["billing/daily-credit", "billing/daily-credit:13.9.2024", "x:once"]
)
def test_a_text_that_is_no_key_is_refused_before_anything_is_sent(store: Store, key: str) -> None:
    for begin in ways(store):
        with begin(store) as caller:
            with pytest.raises(InvalidKey, match="nothing was done"):
                caller.claim(key)
            assert caller.is_open()


def test_a_claim_that_is_rolled_back_leaves_the_period_as_it_was(store: Store) -> None:
    applications(store)
    assert store.query(f"SELECT * FROM {store.table('periods')}") == []


# ----------------------------------------------------------------- duplicate and conflict


def test_a_period_that_is_done_is_a_duplicate_and_the_answer_tells_by_whom(store: Store) -> None:
    first = do(store, payload=b"10 to alice")
    for refusal in refusals(store, payload="10 to alice"):
        assert (refusal.outcome, refusal.reason, refusal.exit_code) == ("duplicate", None, 0)
        assert in_three_parts(refusal)
        assert str(first.attempt)[:13] in str(refusal)
        assert f"{first.done_at:%Y-%m-%d %H:%M:%SZ}" in str(refusal)
    for answer in answers(store, payload="10 to alice"):
        assert not answer
        assert answer.outcome is Outcome.DUPLICATE
        assert (answer.attempt, answer.done_at) == (first.attempt, first.done_at)
        assert answer.payload_sha256 == first.payload_sha256 == sha256(b"10 to alice").digest()


@pytest.mark.parametrize("function", ["claim", "try_claim"])
def test_another_payload_is_a_conflict_and_the_message_has_both_digests(
    store: Store, function: str
) -> None:
    first = do(store, payload="10 to alice")
    for refusal in refusals(store, function=function, payload="11 to alice"):
        assert (refusal.outcome, refusal.exit_code) == ("conflict", 65)
        assert in_three_parts(refusal)
        for text in (b"10 to alice", b"11 to alice"):
            assert sha256(text).hexdigest()[:16] in str(refusal)
        assert str(first.attempt)[:13] in str(refusal)
        assert f'k8sjob reopen {KEY} --reason "' in str(refusal)


@pytest.mark.parametrize(
    ("then", "now", "outcome"),
    [
        (None, None, "duplicate"),
        ("é", "é".encode(), "duplicate"),
        (b"", "", "duplicate"),
        (None, "", "conflict"),
        ("", None, "conflict"),
        ("a", "a ", "conflict"),
        ("é", "e\u0301", "conflict"),  # the same letter to a person, other bytes
    ],
)
def test_payloads_are_the_same_if_their_bytes_are(
    store: Store, then: str | bytes | None, now: str | bytes | None, outcome: str
) -> None:
    do(store, payload=then)
    for refusal in refusals(store, payload=now):
        assert refusal.outcome == outcome


# ---------------------------------------------------------- blocked, awaiting and skipped


@pytest.mark.parametrize("until", ["", LATER], ids=["for-good", "until"])
def test_a_blocked_period_is_refused_with_its_reason_and_until_when(
    store: Store, until: str
) -> None:
    put(store, "blocked", "the rate is wrong", until)
    for refusal in refusals(store):
        assert (refusal.outcome, refusal.reason) == ("blocked", "the rate is wrong")
        assert in_three_parts(refusal)
        assert ("until 2999-01-01 00:00:00Z" in str(refusal)) is bool(until)
        assert f'k8sjob release {KEY} --reason "' in str(refusal)
    for answer in answers(store):
        assert (answer.outcome, answer.reason) == (Outcome.BLOCKED, "the rate is wrong")
        assert answer.until == (datetime(2999, 1, 1, tzinfo=UTC) if until else None)


@pytest.mark.parametrize(("state", "advice"), [("awaiting", "confirm"), ("skipped", "reopen")])
def test_a_period_that_was_handed_over_or_skipped_is_refused_with_its_reason(
    store: Store, state: str, advice: str
) -> None:
    put(store, state, "ask the bank")
    for refusal in refusals(store):
        assert (refusal.outcome, refusal.reason, refusal.exit_code) == (state, "ask the bank", 0)
        assert in_three_parts(refusal)
        assert f"k8sjob {advice} {KEY}" in str(refusal)
    for answer in answers(store):
        assert (answer.outcome, answer.reason, answer.applied) == (state, "ask the bank", False)


# --------------------------------------------------------------------------------- holds

HOLDS = {
    "of-the-job": ("billing", str(KEY.job)),
    "of-the-namespace": ("billing", None),
    "of-all": (None, None),
}


@pytest.mark.parametrize("held", HOLDS.values(), ids=HOLDS)
@pytest.mark.parametrize("until", ["", LATER], ids=["for-good", "until"])
def test_a_hold_blocks_with_its_reason_and_until_when(
    store: Store, held: tuple[str | None, str | None], until: str
) -> None:
    hold(store, *held, until)
    for refusal in refusals(store):
        assert (refusal.outcome, refusal.reason) == ("blocked", "the bank is closed")
        assert in_three_parts(refusal)
    for answer in answers(store, Key.of(f"{KEY.job}/eu", KEY.period)):
        assert (answer.outcome, answer.reason) == (Outcome.BLOCKED, "the bank is closed")
        assert answer.until == (datetime(2999, 1, 1, tzinfo=UTC) if until else None)
    assert store.query(f"SELECT * FROM {store.table('periods')}") == []


@pytest.mark.parametrize(
    ("namespace", "job", "until"),
    [("billing", "billing/other", ""), ("shop", None, ""), (None, None, PAST)],
    ids=["another-jobs", "another-namespaces", "over"],
)
def test_a_hold_of_others_or_one_that_is_over_blocks_nothing(
    store: Store, namespace: str | None, job: str | None, until: str
) -> None:
    hold(store, namespace, job, until)
    assert all(applications(store))


def test_a_hold_that_was_lifted_blocks_nothing(store: Store) -> None:
    hold(store, None, None)
    store.query(
        f"UPDATE {store.table('holds')} SET lifted_at = '{PAST}', lift_reason = 'open again'"
    )
    assert all(applications(store))


@pytest.mark.parametrize("state", ["awaiting", "skipped", "blocked"])
def test_what_is_known_of_the_period_itself_goes_before_a_hold(store: Store, state: str) -> None:
    put(store, state, "ask the bank")
    hold(store, None, None)
    for refusal in refusals(store):
        assert (refusal.outcome, refusal.reason) == (state, "ask the bank")


def test_a_period_that_is_done_stays_a_duplicate_under_a_hold(store: Store) -> None:
    do(store)
    hold(store, None, None)
    assert [answer.outcome for answer in answers(store)] == ["duplicate"] * len(ways(store))


# ------------------------------------------------------------------------------- expired


@pytest.mark.parametrize("floor", ["2024-09-13", "2024-09-14"], ids=["at", "below"])
@pytest.mark.parametrize("function", ["claim", "try_claim"])
def test_a_period_at_or_below_the_floor_without_a_row_is_expired(
    store: Store, floor: str, function: str
) -> None:
    raise_floor(store, floor)
    for refusal in refusals(store, function=function):
        assert (refusal.outcome, refusal.reason, refusal.exit_code) == ("expired", None, 82)
        assert in_three_parts(refusal)
        assert "pruned" in str(refusal)


def test_a_period_above_the_floor_or_one_that_is_open_below_it_is_applied(store: Store) -> None:
    raise_floor(store, str(KEY.period))
    put(store, "open")
    assert all(applications(store, NEXT_DAY))
    assert all(applications(store, KEY))


# ---------------------------------------------------------------------- busy, other kinds


@pytest.mark.parametrize("function", ["claim", "try_claim"])
def test_a_period_that_another_transaction_holds_too_long_is_busy(
    store: Store, function: str
) -> None:
    with ways(store)[0](store) as rival:
        rival.claim(KEY)
        for refusal in refusals(store, function=function):
            assert (refusal.outcome, refusal.reason, refusal.exit_code) == ("busy", None, 75)
            assert in_three_parts(refusal)
    assert all(applications(store))


def test_a_period_of_another_kind_than_the_jobs_is_refused(store: Store) -> None:
    do(store)
    for begin in ways(store):
        with (
            begin(store) as caller,
            pytest.raises(ConfigError, match="has periods of kind day, this one is of kind month"),
        ):
            caller.claim("billing/daily-credit:2024-09")
