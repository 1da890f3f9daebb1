"""What a command names, and what is refused because it could mean too much."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from k8sjob.errors import InvalidKey, UsageError
from k8sjob.key import JobName, Key
from k8sjob.ledger.operate import Scope
from k8sjob.people.order import (
    MOST_PERIODS,
    Targets,
    Verb,
    count_periods,
    parse_moment,
    read_targets,
)

CREDIT = "billing/daily-credit"
PERIODS_ONLY = [verb for verb in Verb if not verb.rule.holds]
WIDE = [verb for verb in Verb if verb.rule.holds]


def test_keys_ranges_and_jobs_are_told_apart() -> None:
    words = [f"{CREDIT}:2026-09-13", f"{CREDIT}/part-1:once", f"{CREDIT}:2026-01..2026-03", CREDIT]
    keys, ranges, scopes = read_targets(Verb.BLOCK, Targets(words=words))
    assert [str(key) for key in keys] == words[:2]
    assert [str(span) for span in ranges] == words[2:3]
    assert scopes == [Scope.of_job(JobName.parse(CREDIT))]


def test_what_is_named_twice_counts_once() -> None:
    words = [f"{CREDIT}:2026-09-13"] * 2 + [CREDIT] * 2 + [f"{CREDIT}:2026-01..2026-03"] * 2
    assert [len(found) for found in read_targets(Verb.BLOCK, Targets(words=words))] == [1, 1, 1]


@pytest.mark.parametrize("where", [{"namespace": "billing"}, {"space": "billing"}])
def test_a_name_without_a_namespace_gets_it(where: dict[str, str]) -> None:
    words = ["daily-credit:2026-09-13"]
    (key,), _, _ = read_targets(Verb.SKIP, Targets(words=words, **where))  # type: ignore[arg-type]
    assert str(key) == f"{CREDIT}:2026-09-13"


def test_a_namespace_that_contradicts_the_name_is_refused() -> None:
    with pytest.raises(UsageError, match="is not of namespace ops"):
        read_targets(Verb.BLOCK, Targets(words=[CREDIT], namespace="ops"))
    named = Targets(words=[CREDIT], space="ops")  # the environment only fills in
    assert read_targets(Verb.BLOCK, named)[2] == [Scope.of_job(JobName.parse(CREDIT))]


@pytest.mark.parametrize("verb", WIDE)
def test_a_namespace_or_all_is_named_by_its_flag_alone(verb: Verb) -> None:
    assert read_targets(verb, Targets(namespace="billing"))[2] == [Scope("billing")]
    assert read_targets(verb, Targets(everything=True))[2] == [Scope()]
    assert read_targets(verb, Targets(everything=True, space="billing"))[2] == [Scope()]


@pytest.mark.parametrize("verb", Verb)
def test_the_environments_namespace_never_means_all_of_it(verb: Verb) -> None:
    with pytest.raises(UsageError, match="nothing is named"):
        read_targets(verb, Targets(space="billing"))


@pytest.mark.parametrize(
    "named",
    [
        Targets(everything=True, words=[CREDIT]),
        Targets(everything=True, namespace="billing"),
        Targets(namespace=""),
        Targets(),
    ],
)
def test_two_things_at_once_or_nothing_is_refused(named: Targets) -> None:
    with pytest.raises(UsageError, match=r"Nothing was changed\."):
        read_targets(Verb.BLOCK, named)


@pytest.mark.parametrize("word", ["", ":2026-09-13", "billing/:2026-09-13", "billing/x:", "a b"])
def test_an_empty_shell_variable_is_no_target(word: str) -> None:
    with pytest.raises(InvalidKey):
        read_targets(Verb.BLOCK, Targets(words=[word], space="billing"))


@pytest.mark.parametrize("verb", PERIODS_ONLY)
def test_only_block_and_release_take_more_than_periods(verb: Verb) -> None:
    for named in (
        Targets(words=[CREDIT]),
        Targets(namespace="billing"),
        Targets(everything=True),
    ):
        with pytest.raises(UsageError, match="only periods can be"):
            read_targets(verb, named)


def test_a_hold_is_of_a_job_and_not_of_a_part() -> None:
    with pytest.raises(UsageError, match="is a part"):
        read_targets(Verb.BLOCK, Targets(words=[f"{CREDIT}/part-1"]))


def test_a_natural_range_is_counted_and_a_scheduled_one_is_not() -> None:
    words = [
        f"{CREDIT}:2026-12-30..2027-01-02",
        "ops/vacuum:2026-09-13T00:00:00Z..2026-09-14T00:00:00Z",
    ]
    keys, ranges, _ = read_targets(Verb.SKIP, Targets(words=[*words, f"{CREDIT}:2026-12-31"]))
    counted = count_periods(keys, ranges)
    assert counted == ranges[:1]
    assert sorted(str(key.period) for key in keys) == [
        "2026-12-30", "2026-12-31", "2027-01-01", "2027-01-02",
    ]  # fmt: skip


def test_a_range_of_too_many_periods_is_a_slip() -> None:
    keys, ranges, _ = read_targets(Verb.SKIP, Targets(words=[f"{CREDIT}:2026-01-01..2206-01-01"]))
    with pytest.raises(UsageError, match=f"more than {MOST_PERIODS} periods"):
        count_periods(keys, ranges)


def test_a_time_is_a_duration_or_an_instant() -> None:
    assert parse_moment("1d") == timedelta(days=1)
    assert parse_moment("2026-09-14T19:00:00Z") == datetime(2026, 9, 14, 19, tzinfo=UTC)
    assert parse_moment("2026-09-14T21:00:00+02:00") == datetime(2026, 9, 14, 19, tzinfo=UTC)


@pytest.mark.parametrize("text", ["2026-09-14T19:00:00", "2026-09-14", "2026-13-01T00:00:00Z", "x"])
def test_a_time_without_its_offset_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_moment(text)


def test_a_scope_covers_its_jobs() -> None:
    part = Key.parse(f"{CREDIT}/part-1:once").job
    assert Scope().covers(part)
    assert Scope("billing").covers(part)
    assert Scope.of_job(part.job).covers(part)
    assert not Scope("ops").covers(part)
    assert not Scope.of_job(JobName.parse("billing/other")).covers(part)
