"""The period of a scheduled Job, found inside its Pod by a service account that may do no more."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.e2e import audit, manifests
from tests.e2e.scene import TIMESTAMP, message, period, slot

if TYPE_CHECKING:
    from tests.e2e.cluster import Object
    from tests.e2e.scene import Scene

ROME: Object = {"timeZone": "Europe/Rome"}


@dataclass
class Seen:
    """One slot, run by an account that may get Jobs and by one that may not.

    ``nameless`` is the latter's too, and not told the CronJob's name.
    """

    stamp: str
    slot: datetime
    attempts: dict[str, Object]
    periods: list[Object]
    ends: dict[str, str]
    denied: str
    asked: dict[str, set[str]] = field(default_factory=dict)
    refused: dict[str, set[str]] = field(default_factory=dict)
    end_with_the_right: str = ""


def play(scene: Scene) -> Seen:
    """Start one CronJob per account, and see what each came to."""
    scene.apply(*manifests.account(scene.namespace, "nobody"))
    scene.start_cronjob("runner", "run", "credit:credit", **ROME)
    account = {"serviceAccountName": "nobody"}
    scene.start_cronjob("nobody", "run", "credit:credit", pod=account, **ROME)
    env = {"K8SJOB_JOB": f"{scene.namespace}/nameless"}
    scene.start_cronjob("nameless", "run", "credit:credit", pod=account, env=env, **ROME)
    now = datetime.now(UTC)
    jobs = {name: scene.scheduled(name, now) for name in ("runner", "nobody", "nameless")}
    names = {name: job["metadata"]["name"] for name, job in jobs.items()}
    ends = {name: scene.end_of(job) for name, job in names.items()}
    for name in ("runner", "nobody"):
        scene.patch(f"cronjob/{name}", '{"spec": {"suspend": true}}')
    seen = Seen(
        stamp=jobs["runner"]["metadata"]["annotations"][TIMESTAMP],
        slot=slot(jobs["runner"]),
        attempts={row["job_name"]: row for row in scene.attempts()},
        periods=scene.rows("SELECT * FROM k8sjob.periods ORDER BY job"),
        ends=ends,
        denied=message(scene.pods(names["nameless"])[0]),
    )
    seen.attempts = {
        name: seen.attempts[job] for name, job in names.items() if job in seen.attempts
    }
    if audit.log():
        for name in ("runner", "nobody"):
            seen.asked[name] = audit.asked(scene.namespace, name)
            seen.refused[name] = audit.asked(scene.namespace, name, allowed=False)
    for line in re.findall(r"^ *kubectl (create .*)$", seen.denied, re.MULTILINE):
        assert scene.cluster.kubectl(*shlex.split(line)).good
    job = scene.scheduled("nameless", seen.slot)
    seen.end_with_the_right = scene.end_of(job["metadata"]["name"])
    return seen


def test_the_annotation_has_the_offset_of_the_zone(seen: Seen) -> None:
    assert seen.stamp.endswith(("+01:00", "+02:00"))


def test_the_period_is_the_nominal_minute_in_utc(seen: Seen) -> None:
    attempt = seen.attempts["runner"]
    assert attempt["source"] == "scheduled-timestamp"
    assert attempt["period"] == period(seen.slot)
    assert attempt["outcome"] == "applied"
    assert seen.ends["runner"] == "Complete"


def test_without_the_right_the_guarded_name_tells_the_same(seen: Seen) -> None:
    attempt = seen.attempts["nobody"]
    assert attempt["source"] == "job-name"
    assert attempt["period"] == period(seen.slot)


def test_where_nothing_else_tells_it_is_refused_with_77_and_lines_that_give_the_right(
    seen: Seen,
) -> None:
    assert "exit code 77" in seen.ends["nameless"]
    assert seen.end_with_the_right == "Complete", seen.denied


@pytest.mark.usefixtures("audit_log")
def test_the_api_server_was_asked_for_the_job_and_nothing_else(seen: Seen) -> None:
    assert seen.asked["runner"] == {"get jobs.batch"}
    assert seen.refused["runner"] == set()


@pytest.mark.usefixtures("audit_log")
def test_what_another_account_lacks_is_that_right_alone(seen: Seen) -> None:
    assert seen.asked["nobody"] == set()
    assert seen.refused["nobody"] == {"get jobs.batch"}
