"""Both charts as this commit has them, where nothing was: a ledger, and a period caught up."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.e2e import audit, releases
from tests.e2e.cluster import until
from tests.e2e.helm import CHARTS, helm
from tests.e2e.releases import APP, CONTROL, JOBS, NO_IMAGE
from tests.e2e.scene import period, slot, wait_until

if TYPE_CHECKING:
    from datetime import datetime

    from tests.e2e.audit import Rights
    from tests.e2e.cluster import Object, Told
    from tests.e2e.helm import Helm
    from tests.e2e.scene import Scene

PASS_S = 100  # the reconciler starts each minute
DONE_S = 200  # two passes, and a Job


@dataclass
class Seen:
    """What came of each step, in their order."""

    steps: dict[str, Told] = field(default_factory=dict)
    versions: Object = field(default_factory=dict)
    missed: str = ""
    launch: Object = field(default_factory=dict)
    job: Object = field(default_factory=dict)
    attempts: list[Object] = field(default_factory=list)
    rights: Rights | None = None
    left: list[str] = field(default_factory=list)


def play(scene: Scene) -> Seen:
    """Install, miss a slot, let the reconciler start its Job, uninstall."""
    seen = Seen()
    releases.without_ledger(scene)
    with helm(scene) as tool:
        values = releases.control_values(scene)
        values["reconciler"]["catchUp"] = {"enabled": True}
        wait = ("--wait", "--timeout", "4m")
        seen.steps["install"] = tool.put("install", CONTROL, CHARTS / "k8sjob", values, *wait)
        seen.versions = releases.migrations(scene)
        at = _miss(scene, tool, seen)
        _see_it_caught_up(scene, seen, at)
        if audit.log():
            seen.rights = audit.rights(scene.cluster, scene.namespace, "k8sjob-reconciler")
        for release in (JOBS, CONTROL):
            gone = tool.run("uninstall", release, "--wait", "--timeout", "2m")
            seen.steps[f"uninstall {release}"] = gone
    until("the end of what was installed", lambda: not releases.installed(scene))
    seen.left = sorted(releases.migrations(scene))
    return seen


def _miss(scene: Scene, tool: Helm, seen: Seen) -> datetime:
    """Return a slot whose Job could not start and is gone; those to come can start."""
    late = APP | {"concurrencyPolicy": "Allow", "catchUp": "every"}
    chart, stuck = CHARTS / "k8sjob-jobs", releases.jobs_values(scene, {"late": late | NO_IMAGE})
    seen.steps["jobs"] = tool.put("install", JOBS, chart, stuck)
    at = slot(scene.scheduled_and_tracked("late", PASS_S))
    # Marks of writes have whole seconds: one in the slot's own could be before it or after.
    wait_until(at + timedelta(seconds=2))
    free = releases.jobs_values(scene, {"late": late})
    seen.steps["jobs upgrade"] = tool.put("upgrade", JOBS, chart, free)
    stuck_jobs = [job["metadata"]["name"] for job in scene.made_by("late") if slot(job) <= at]
    assert scene.kubectl("delete", "job", *stuck_jobs, "--wait").good
    seen.missed = period(at)
    return at


def _see_it_caught_up(scene: Scene, seen: Seen, at: datetime) -> None:
    def done() -> bool:
        return (scene.row("late", at) or {}).get("state") == "done"

    until("the end of the missed period", done, seconds=DONE_S)
    this = f"period = '{period(at)}'"
    (seen.launch,) = scene.rows(f"SELECT * FROM k8sjob.launches WHERE {this}")
    seen.job = scene.job(seen.launch["k8s_name"])
    seen.attempts = [row for row in scene.attempts() if row["period"] == period(at)]


STEPS = ["install", "jobs", "jobs upgrade", f"uninstall {JOBS}", f"uninstall {CONTROL}"]


@pytest.mark.parametrize("step", STEPS)
def test_each_step_goes_well(seen: Seen, step: str) -> None:
    assert seen.steps[step].code == 0, seen.steps[step]


def test_a_first_install_makes_the_ledger_and_an_uninstall_leaves_it(seen: Seen) -> None:
    assert seen.versions
    assert seen.left == sorted(seen.versions)


def test_the_reconciler_starts_a_job_for_the_missed_period(seen: Seen) -> None:
    assert seen.launch["reason"] == "catch-up"
    assert seen.launch["uid"] == seen.job["metadata"]["uid"]
    assert seen.job["metadata"]["annotations"]["k8sjob.io/period"] == seen.missed


def test_that_job_does_it_once(seen: Seen) -> None:
    assert [row["job_uid"] for row in seen.attempts] == [seen.launch["uid"]]
    assert [row["outcome"] for row in seen.attempts] == ["applied"]


@pytest.mark.usefixtures("audit_log")
def test_the_reconciler_asked_for_what_its_rules_allow_and_for_no_more(seen: Seen) -> None:
    assert seen.rights
    # A Job is got only where a create finds its name taken, by another one at the same time.
    seen.rights.check(not_asked={"get jobs.batch"})
    assert "create jobs.batch" in seen.rights.asked
