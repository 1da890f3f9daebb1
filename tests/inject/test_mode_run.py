"""Mode run: the command behind k8sjob run, and what its container is told."""

from __future__ import annotations

import pytest

from k8sjob.manifest.inject.record import Mode
from tests.inject.examples import BLOCKS, COMMENTED, FLOW, UNINDENTED
from tests.inject.injected import covered, cronjobs, env_of, main_of, pod_of, told
from tests.manifest.manifests import cronjob

RECORDED = ["k8sjob", "run", "--record-on-success", "--"]


def test_the_command_stands_behind_the_runner_in_every_style() -> None:
    commands = [
        main_of(one)["command"]
        for text in (COMMENTED, UNINDENTED, FLOW, BLOCKS)
        for one in cronjobs(covered(text))
    ]
    assert [command[:5] for command in commands] == [
        [*RECORDED, "./credit.sh"],
        [*RECORDED, "./credit.sh"],
        [*RECORDED, "./credit.sh"],
        [*RECORDED, "sh"],
    ]


def test_a_command_that_claims_is_not_recorded_by_its_exit() -> None:
    (one,) = cronjobs(covered(COMMENTED, claims=True))
    assert main_of(one)["command"] == ["k8sjob", "run", "--", "./credit.sh", "--fast"]
    there = covered(COMMENTED, claims=True)
    assert covered(there, claims=False) == covered(COMMENTED)
    assert covered(there) == there


def test_the_container_is_told_who_it_is_and_where_its_ledger_is() -> None:
    (one,) = cronjobs(covered(COMMENTED, secret="ledger", key="dsn"))
    env = env_of(main_of(one))
    assert env.pop("MODE") == "on"
    assert env.pop("DATABASE_URL")
    fields = {
        name: source["fieldRef"]["fieldPath"]
        for name, source in env.items()
        if "fieldRef" in source
    }
    assert fields == {
        "K8SJOB_NAMESPACE": "metadata.namespace",
        "K8SJOB_JOB_NAME": "metadata.labels['batch.kubernetes.io/job-name']",
        "K8SJOB_JOB_UID": "metadata.labels['batch.kubernetes.io/controller-uid']",
        "K8SJOB_POD_NAME": "metadata.name",
        "K8SJOB_POD_UID": "metadata.uid",
        "K8SJOB_NODE": "spec.nodeName",
    }
    assert env["K8SJOB_CRONJOB"] == "daily-credit"
    assert env["K8SJOB_DSN"] == {"secretKeyRef": {"name": "ledger", "key": "dsn"}}
    assert set(env) == {*fields, "K8SJOB_CRONJOB", "K8SJOB_DSN"}


def test_the_first_run_knows_the_kind_of_period_and_the_job() -> None:
    notes = {"cycle": "week", "job": "billing/credit"}
    for mode, where in ((Mode.RUN, "containers"), (Mode.SIDECAR, "initContainers")):
        (one,) = cronjobs(covered(COMMENTED, mode=mode, annotations=notes))
        env = env_of(pod_of(one)[where][0])
        assert (env["K8SJOB_CYCLE"], env["K8SJOB_TIME_ZONE"]) == ("week", "Europe/Rome")
        assert env["K8SJOB_JOB"] == "billing/credit"
    by_hand = cronjob(metadata="annotations: {k8sjob.io/cycle: once}")
    (one,) = cronjobs(covered(by_hand))
    assert env_of(main_of(one))["K8SJOB_CYCLE"] == "once"
    assert "K8SJOB_TIME_ZONE" not in env_of(main_of(one))  # once has no zone


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("env: [{name: K8SJOB_DSN, value: 'sqlite:///a'}]", True),
        ("env: [{name: K8SJOB_DSN_FILE, value: /dsn}]", True),
        ("env: [{name: PGHOST, value: db}]", False),
        ("envFrom: [{secretRef: {name: db}}]", False),
    ],
)
def test_a_ledger_that_is_there_is_left(line: str, *, kept: bool) -> None:
    text = cronjob(container=line)
    assert "secretKeyRef" not in covered(text)
    assert any("taken to tell the ledger" in warning for warning in told(text).warnings)
    assert ("secretKeyRef" not in covered(text, secret="asked")) == kept


def test_a_command_keeps_the_time_that_its_pod_has_to_stop() -> None:
    graces = {"120": "115s", "30": None, "10": "5000ms", "1": "500ms"}
    for grace, stop in graces.items():
        text = COMMENTED.replace(
            "restartPolicy:", f"terminationGracePeriodSeconds: {grace}\n          restartPolicy:"
        )
        (one,) = cronjobs(covered(text))
        assert env_of(main_of(one)).get("K8SJOB_STOP_GRACE") == stop


@pytest.mark.parametrize("claims", [True, False])
def test_it_is_told_that_the_image_has_to_have_k8sjob(*, claims: bool) -> None:
    """Without it the container cannot start, and the job that ran until now would not."""
    (note,) = [
        one for one in told(COMMENTED, claims=claims).notes if "command" in one.split(":")[0]
    ]
    assert ", which its image has to have: " in note
