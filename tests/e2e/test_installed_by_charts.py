"""Both charts, from the first install to the uninstall: what came of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.half_hour import HISTORY, play

if TYPE_CHECKING:
    from tests.e2e.half_hour import Seen

__all__ = ["play"]  # which the stage calls

STEPS = ["install", "upgrade", "test", *HISTORY, "jobs test", "backfill", "rollback"]


@pytest.mark.parametrize("step", [*STEPS, "jobs uninstall", "uninstall"])
def test_each_step_goes_well(seen: Seen, step: str) -> None:
    assert seen.steps[step].code == 0, seen.steps[step]


def test_the_first_install_makes_the_ledger(seen: Seen) -> None:
    assert seen.first


@pytest.mark.parametrize("chart", ["k8sjob", "k8sjob-jobs"])
def test_the_upgrade_was_one_from_the_parent_commit(seen: Seen, chart: str) -> None:
    if chart not in seen.from_parent:
        pytest.skip("the parent commit has no such chart, or cannot be asked for")
    step = {"k8sjob": "upgrade", "k8sjob-jobs": "jobs upgrade"}[chart]
    assert "has been upgraded" in seen.steps[step].out


def test_each_step_of_the_jobs_changes_the_cronjobs_in_place(seen: Seen) -> None:
    for name, first in seen.crons["jobs"].items():
        each = {step: crons[name] for step, crons in seen.crons.items()}
        kept = {step: cron["spec"]["successfulJobsHistoryLimit"] for step, cron in each.items()}
        assert kept == HISTORY
        assert {cron["metadata"]["uid"] for cron in each.values()} == {first["metadata"]["uid"]}


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


@pytest.mark.usefixtures("prometheus_beside")
def test_prometheus_fires_by_the_rules_in_the_cluster(seen: Seen) -> None:
    assert seen.fired
    assert seen.missed.partition(":")[2] in seen.fired.annotations["description"]


def test_a_backfill_from_a_laptop_does_it(seen: Seen) -> None:
    assert seen.done["state"] == "done"


@pytest.mark.usefixtures("prometheus_beside")
def test_then_the_alert_is_silent(seen: Seen) -> None:
    assert seen.silent


def test_an_upgrade_with_the_database_away_fails(seen: Seen) -> None:
    assert seen.steps["upgrade in vain"].code != 0


def test_it_changes_nothing_of_what_would_run_next(seen: Seen) -> None:
    assert {"k8sjob-exporter", "k8sjob-control", "k8sjob-reconciler"} <= set(seen.before)
    assert seen.after == seen.before


def test_a_job_in_mid_run_goes_on_as_if_there_were_no_upgrade(seen: Seen) -> None:
    (meanwhile,) = seen.held_meanwhile
    assert meanwhile["ended_at"] is None
    (attempt,) = seen.held
    assert (attempt["id"], attempt["outcome"]) == (meanwhile["id"], "applied")
    assert seen.ends["held"] == "Complete"


def test_with_the_database_away_for_the_owner_jobs_are_started(seen: Seen) -> None:
    assert seen.ends["with the database away"] == "Complete"


def test_an_uninstall_takes_all_but_the_ledger(seen: Seen) -> None:
    assert seen.gone
    assert seen.left > 0


def test_no_kind_that_was_made_for_this_is_left(seen: Seen) -> None:
    assert seen.kinds_left == []


#: Rules for what does not happen in this play.
NOT_ASKED = {
    # A Job is got only where a create finds its name taken, by another one at the same time.
    "control": {"get jobs.batch"},
}


@pytest.mark.usefixtures("audit_log")
@pytest.mark.parametrize("part", ["reconciler", "control", "exporter", "jobs"])
def test_each_account_asked_for_what_its_rules_allow_and_for_no_more(seen: Seen, part: str) -> None:
    seen.rights[part].check(NOT_ASKED.get(part, set()))
    assert bool(seen.rights[part].given) == (part != "exporter")
