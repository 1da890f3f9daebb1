"""Whether a reconciler still looks after the jobs is told by namespaces."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from k8sjob.key import JobName
from k8sjob.ledger.read import PassRow
from k8sjob.serve.watching import watches
from tests.serve.paper import job_row
from tests.serve.scene import NOW

MINUTE = timedelta(minutes=1)


def passes(scope: str = "*", ago: int = 1, count: int = 5, **last: Any) -> list[PassRow]:
    """Return passes, one a minute, the last so many minutes ago."""
    made = []
    for number in range(count):
        start = NOW - (ago + number) * MINUTE
        values: dict[str, Any] = {"ok": True, "failing": 0, "message": ""}
        values |= {"ended_at": start + timedelta(seconds=1)}
        made.append(
            PassRow(scope=scope, started_at=start, **(values | (last if not number else {})))
        )
    return made


def told(found: list[PassRow], *spaces: str) -> list[tuple[str, str, bool]]:
    """Return what is told of jobs in these namespaces."""
    jobs = [job_row(job=JobName(space, "credit")) for space in spaces or ("billing", "ops")]
    newest = sorted(found, key=lambda one: one.started_at, reverse=True)
    return [(w.namespaces, w.told, w.stale) for w in watches(jobs, newest, NOW)]


def test_a_reconciler_of_all_is_told_in_one_line() -> None:
    usual = "last complete pass 60s ago, usually one every 60s"
    assert told(passes()) == [("all namespaces", usual, False)]


def test_a_reconciler_that_has_not_come_for_three_times_as_long_as_usual_is_stale() -> None:
    assert not told(passes(ago=3))[0][2]
    assert told(passes(ago=4))[0][2]


def test_no_pass_at_all_is_stale() -> None:
    assert told([]) == [("all namespaces", "no complete pass is known", True)]


def test_jobs_that_nobody_tracks_need_no_reconciler() -> None:
    assert watches([job_row(tracked_since=None)], [], NOW) == []


def test_namespaces_are_told_apart_by_who_looks_after_them_the_stale_ones_first() -> None:
    found = [*passes("billing,web"), *passes("ops", ago=60)]
    assert [(n, s) for n, _, s in told(found, "billing", "ops", "web")] == [
        ("ops", True),
        ("billing, web", False),
    ]


def test_a_scope_that_nobody_uses_any_more_is_no_alarm() -> None:
    assert [s for _, _, s in told([*passes("*"), *passes("billing", ago=600)])] == [False, False]


def test_a_namespace_that_no_scope_has_is_stale() -> None:
    assert told(passes("billing"))[0][:2] == ("ops", "no complete pass is known")


def test_more_than_five_namespaces_are_counted() -> None:
    spaces = [f"n{number}" for number in range(8)]
    assert told(passes("billing"), "billing", *spaces)[0][0] == "n0, n1, n2, n3, n4 and 3 more"


def test_what_kept_the_last_pass_from_being_complete_is_told() -> None:
    found = passes(ok=False, message="Jobs could not be listed: 403", failing=0)
    assert told(found)[0][1].endswith("; the last one: Jobs could not be listed: 403")


def test_a_last_pass_without_an_end_is_told() -> None:
    found = passes(ok=None, ended_at=None)
    assert told(found)[0][1].endswith("; the last one: under way, or it was killed")


def test_a_complete_pass_tells_of_the_jobs_that_it_could_not_look_after() -> None:
    found = passes(ok=False, failing=2, message="2 jobs failed")
    assert told(found)[0][1].endswith("usually one every 60s, 2 jobs failed")
