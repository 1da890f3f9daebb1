"""A Job that somebody deleted: its period is listed as missing, and done by a backfill."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.e2e import audit
from tests.e2e.missed import miss_a_slot
from tests.e2e.scene import period

if TYPE_CHECKING:
    from tests.e2e.audit import Rights
    from tests.e2e.cluster import Object, Told
    from tests.e2e.scene import Scene


@dataclass
class Seen:
    """What was shown, step by step."""

    key: str
    row: Object
    missing: list[str]
    backfill: Told
    again: Told
    jobs: list[Object]
    attempts: list[Object]
    left: list[str]
    balance: int
    rights: Rights | None = None


def play(scene: Scene) -> Seen:
    """Miss a slot, look at the list, and backfill what is missing, twice."""
    at = miss_a_slot(scene)
    key = f"{scene.namespace}/credit:{period(at)}"
    row = scene.row("credit", at)
    assert row
    missing = scene.listed("missing")
    backfill = scene.k8sjob("backfill", f"{scene.namespace}/credit", "--missing", "--wait")
    job, text = key.split(":", 1)
    again = scene.k8sjob("backfill", job, "--from", text, "--to", text, "--wait")
    seen = Seen(
        key=key,
        row=row,
        missing=missing,
        backfill=backfill,
        again=again,
        jobs=[job for job in scene.jobs() if _period_of(job) == text],
        attempts=[attempt for attempt in scene.attempts() if attempt["period"] == text],
        left=scene.listed("missing"),
        balance=scene.balance,
    )
    if audit.log():
        seen.rights = audit.rights(scene.cluster, scene.namespace, "operator")
    return seen


def _period_of(job: Object) -> str | None:
    text: str | None = job["metadata"].get("annotations", {}).get("k8sjob.io/period")
    return text


def test_its_period_is_listed_as_missing(seen: Seen) -> None:
    # Before it there may be one of the time when tracking began, which nobody can be sure of.
    assert seen.missing[-1] == seen.key
    assert seen.row["state"] == "open"


def test_the_reason_says_that_the_job_is_gone(seen: Seen) -> None:
    assert seen.row["reason_code"] == "job-gone"


def test_a_backfill_does_it_with_a_real_job(seen: Seen) -> None:
    assert seen.backfill.code == 0, seen.backfill
    (job,) = seen.jobs
    assert [attempt["job_uid"] for attempt in seen.attempts] == [job["metadata"]["uid"]]
    assert seen.balance == 10 * len(seen.missing)
    assert seen.left == []


def test_a_second_backfill_has_nothing_to_do(seen: Seen) -> None:
    assert seen.again.code == 0, seen.again
    assert len(seen.jobs) == 1


@pytest.mark.usefixtures("audit_log")
def test_reconciler_and_backfill_ask_for_what_their_rules_allow_and_for_no_more(
    seen: Seen,
) -> None:
    assert seen.rights
    # A Job is got only where a create finds its name taken, by another one at the same time.
    seen.rights.check(not_asked={"get jobs.batch"})
