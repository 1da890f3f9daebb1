"""``get -l owner=payments``: jobs by what their CronJobs say of themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.view.conftest import JOB, at, period

if TYPE_CHECKING:
    from tests.view.conftest import Ledger
    from tests.view.tracked import Tracked

VACUUM = "ops/vacuum"


@pytest.fixture
def two(credit: Tracked) -> Tracked:
    """Give the jobs of two teams to the test, each with a period and an attempt."""
    credit.track(VACUUM, owner="infra")
    credit.put(12, "blocked", job=VACUUM, reason="disk full")
    ended: dict[str, Any] = {"ended_at": at("12T00:00:06"), "outcome": "failed", "exit_code": 1}
    credit.tried(1, 11, "12T00:00:05", **ended)
    credit.tried(2, 12, "12T00:00:05", job=VACUUM, **ended)
    return credit


@pytest.mark.parametrize(
    ("selector", "jobs"),
    [
        ("owner=payments", {JOB}),
        ("k8sjob.io/owner == payments", {JOB}),
        ("owner!=payments", {VACUUM}),
        ("severity=", {VACUUM}),
        ("owner=payments,severity=page,catch-up=every", {JOB}),
        ("cronjob=credit-cron", {JOB}),
        ("owner=nobody", set()),
        ("owner=payments,owner=infra", set()),
    ],
)
def test_each_list_is_narrowed_down(two: Tracked, selector: str, jobs: set[str]) -> None:
    def listed(what: str) -> list[dict[str, str]]:
        told = two.call("get", what, "-A", "-l", selector, "-o", "json")
        assert told.code == 0, told
        return list(told.json[what])

    assert {f"{one['namespace']}/{one['name']}" for one in listed("jobs")} == jobs
    assert {one["job"] for one in listed("periods")} == jobs
    assert {one["job"] for one in listed("attempts")} == jobs


def test_what_matches_in_another_namespace_is_not_listed(two: Tracked) -> None:
    told = two.call("get", "periods", "-n", "ops", "-l", "owner=payments")
    assert (told.code, told.out, told.err) == (0, "", "no periods found\n")


@pytest.mark.parametrize("selector", ["", "team=a", "owner", "owner in (a, b)", "owner=a=b", ","])
def test_what_is_no_condition_says_what_there_is(ledger: Ledger, selector: str) -> None:
    told = ledger.call("get", "jobs", "-A", "-l", selector)
    assert told.code == 64
    assert "KEY is owner, severity, cycle, catch-up, cronjob" in told.err


def test_a_selector_and_a_name_do_not_go_together(two: Tracked) -> None:
    told = two.call("get", "periods", f"{JOB}:{period(12)}", "-l", "owner=payments")
    assert told.code == 64
    assert "Leave one of them out" in told.err
