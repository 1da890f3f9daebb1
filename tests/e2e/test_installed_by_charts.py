"""Both charts, from the first install to the uninstall: what came of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e import audit, watched
from tests.e2e.half_hour import play

if TYPE_CHECKING:
    from tests.e2e.half_hour import Seen

__all__ = ["play"]  # which the stage calls

STEPS = ["install", "upgrade", "test", "jobs", "jobs test", "backfill", "rollback"]


@pytest.mark.parametrize("step", [*STEPS, "jobs uninstall", "uninstall"])
def test_each_step_goes_well(seen: Seen, step: str) -> None:
    assert seen.steps[step].code == 0, seen.steps[step]


def test_the_first_install_makes_the_ledger(seen: Seen) -> None:
    assert seen.first


def test_the_upgrade_was_one_from_the_parent_commit(seen: Seen) -> None:
    if not seen.from_parent:
        pytest.skip("the parent commit has no such chart, or cannot be asked for")
    assert seen.steps["upgrade"].code == 0


@pytest.mark.parametrize("mode", ["credit", "foreign"])
def test_a_scheduled_job_of_each_mode_is_done(seen: Seen, mode: str) -> None:
    assert seen.ends[mode] == "Complete"
    assert (seen.attempts[mode]["outcome"], seen.attempts[mode]["exit_code"]) == ("applied", 0)


@pytest.mark.parametrize("mode", ["credit", "foreign"])
def test_its_root_is_read_only_in_a_restricted_namespace(seen: Seen, mode: str) -> None:
    spec = seen.pods[mode]["spec"]
    containers: list[Any] = [*spec["containers"], *spec.get("initContainers", ())]
    assert all(one["securityContext"]["readOnlyRootFilesystem"] for one in containers)
    assert spec["automountServiceAccountToken"] is False


def test_the_missing_period_is_listed_in_clean_json(seen: Seen) -> None:
    assert seen.listed
    periods = json.loads(seen.listed.good)["periods"]
    states = {one["key"]: one["state"] for one in periods}
    assert states[seen.missed] == "missing"


def test_prometheus_fires_by_the_rules_in_the_cluster(seen: Seen) -> None:
    if not watched.is_here():
        pytest.skip("prometheus is not on PATH")
    assert seen.fired
    assert seen.missed.partition(":")[2] in seen.fired.annotations["description"]


def test_a_backfill_from_a_laptop_clears_it(seen: Seen) -> None:
    assert seen.done["state"] == "done"
    if watched.is_here():
        assert seen.silent


def test_an_upgrade_with_the_database_away_fails_and_jobs_go_on(seen: Seen) -> None:
    assert seen.steps["upgrade in vain"].code != 0
    assert seen.end_with_the_database_away == "Complete"


def test_an_uninstall_takes_all_but_the_ledger(seen: Seen) -> None:
    assert seen.gone
    assert seen.left > 0


def test_each_account_asked_for_what_its_rules_allow_and_for_no_more(seen: Seen) -> None:
    if not audit.log():
        pytest.skip("the API server's audit log is not to be read here")
    assert seen.refused == {name: set() for name in seen.asked}
    lists = {"list cronjobs", "list jobs", "list pods", "list events"}
    reconciler, control, exporter, jobs = seen.asked.values()
    review = "create selfsubjectaccessreviews"
    assert reconciler - {review} == lists
    assert control - {review, "get jobs"} == {"get cronjobs", "create jobs", "list jobs"}
    assert exporter == set()
    assert jobs - {review} == {"get jobs"}
