"""The hook makes the ledger after an install and before an upgrade, and nothing ever takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from k8sjob.duration import parse_duration
from k8sjob.errors import EXIT_TABLE
from tests import fix_chart
from tests.alerts.commands import fault_of
from tests.chart.control import CI, FOLDER, everything, pod_specs, render, render_file

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fix_chart import Object

pytestmark = pytest.mark.usefixtures("helm")

#: What helm waits for a hook where nobody says otherwise (seconds).
_HELM_WAITS = 300
#: How long a Job waits before its second try (seconds), and a Pod may need to start.
_PAUSE, _START = 10, 5
_PERMANENT = sorted(int(code) for code, meaning in EXIT_TABLE.items() if meaning.permanent)


def hooks(objects: list[Object]) -> dict[str, str]:
    """Return when each hook runs, by its name."""
    return {
        one["metadata"]["name"]: notes["helm.sh/hook"]
        for one in objects
        if "helm.sh/hook" in (notes := one["metadata"].get("annotations", {}))
    }


@pytest.mark.parametrize("path", CI, ids=lambda path: path.name)
def test_nothing_runs_when_a_release_goes_or_goes_back(path: Path) -> None:
    """A ledger outlives them: newer than the code after a rollback, alone after an uninstall."""
    when = {"post-install,pre-upgrade", "pre-upgrade", "test"}
    assert set(hooks(render_file(path).objects).values()) <= when


def test_the_hook_runs_after_an_install_and_before_an_upgrade() -> None:
    job = render().one("Job", "k8sjob-migrate")
    assert job["metadata"]["annotations"] == {
        "helm.sh/hook": "post-install,pre-upgrade",
        "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded",
        "helm.sh/hook-weight": "0",
    }


def test_the_hook_needs_nothing_of_the_release() -> None:
    """Before an upgrade there is what the old release had, which may be less."""
    spec = dict(pod_specs(render().objects))["k8sjob-migrate"]
    assert spec["serviceAccountName"] == "default"
    assert spec["automountServiceAccountToken"] is False
    assert [volume["name"] for volume in spec["volumes"]] == ["ledgers"]


def test_it_gives_up_before_helm_does() -> None:
    """So that helm tells of a failed hook, and its Pods are there to be asked why."""
    spec = render().one("Job", "k8sjob-migrate")["spec"]
    args = spec["template"]["spec"]["containers"][0]["args"]
    wait = parse_duration(next(arg for arg in args if "--wait=" in arg).partition("=")[2])
    tries = spec["backoffLimit"] + 1
    assert tries * (wait + _START) + _PAUSE < spec["activeDeadlineSeconds"] < _HELM_WAITS


@pytest.mark.parametrize(
    ("wait", "limit", "seconds"),
    [
        ("6h", 1, 2 * 21_610 + 10 + 20),
        ("10m", 0, 610 + 20),
        ("0s", 8, 9 * 10 + (10 + 20 + 40 + 80 + 160 + 320 + 360 + 360) + 20),
    ],
)
def test_it_has_the_time_that_its_tries_need(wait: str, limit: int, seconds: int) -> None:
    """A longer wait that nothing ends too early."""
    rendered = render({"migrate": {"wait": wait, "backoffLimit": limit}})
    assert rendered.one("Job")["spec"]["activeDeadlineSeconds"] == seconds
    warned = f"An upgrade's hook may take {seconds} seconds, and Helm waits for 300"
    assert warned in rendered.notes
    assert f"`helm upgrade … --timeout {seconds + 60}s`" in rendered.notes


def test_a_deadline_of_ones_own_is_taken_where_the_tries_fit() -> None:
    rendered = render({"migrate": {"wait": "1m", "activeDeadlineSeconds": 280}})
    assert rendered.one("Job")["spec"]["activeDeadlineSeconds"] == 280
    assert "Helm waits for 300" not in rendered.notes


def test_each_ledger_is_made_by_a_container_of_its_own() -> None:
    """They run at once, so one that fails keeps no other from being made."""
    rendered = render_file(FOLDER / "ci" / "several-ledgers-values.yaml")
    spec = rendered.one("Job", "k8sjob-migrate")["spec"]
    found = {one["name"]: one["args"] for one in spec["template"]["spec"]["containers"]}
    assert found == {
        "migrate-billing": ["migrate", "--ledger=billing", "--wait=2m"],
        "migrate-default": ["migrate", "--ledger=default", "--wait=2m", "--grant-runner=shop_app"],
    }
    *rules, last = spec["podFailurePolicy"]["rules"]
    assert [rule["onExitCodes"]["containerName"] for rule in rules] == list(found)
    assert last["action"] == "Ignore", "a node that is drained is no failed try"


def test_roles_are_let_in() -> None:
    args = everything().one("Job")["spec"]["template"]["spec"]["containers"][0]["args"]
    assert args[3:] == [
        "--grant-operator=k8sjob_operator",
        "--grant-runner=shop_app",
        "--grant-runner=Billing App",
        "--grant-reader=k8sjob_reader",
    ]


@pytest.mark.parametrize("kind", ["Job", "CronJob"])
def test_what_another_try_cannot_mend_is_not_tried_again(kind: str) -> None:
    spec = render().one(kind)["spec"]
    spec = spec["jobTemplate"]["spec"] if kind == "CronJob" else spec
    rules = spec["podFailurePolicy"]["rules"]
    codes = [rule["onExitCodes"] for rule in rules if "onExitCodes" in rule]
    assert [one["values"] for one in codes] == [_PERMANENT]
    assert codes[0]["containerName"] in {c["name"] for c in spec["template"]["spec"]["containers"]}


def test_a_test_can_be_called_again_and_leaves_only_what_failed() -> None:
    for one in everything().all("Pod"):
        notes = one["metadata"]["annotations"]
        assert notes["helm.sh/hook"] == "test"
        assert notes["helm.sh/hook-delete-policy"] == "before-hook-creation,hook-succeeded"
        assert one["spec"]["restartPolicy"] == "Never"


def test_each_test_runs_under_the_account_that_it_is_about() -> None:
    rendered = render({"backfill": {"enabled": True}, "scope": {"namespaces": ["shop", "billing"]}})
    found = {
        one["metadata"]["name"]: (
            one["spec"]["serviceAccountName"],
            one["spec"]["containers"][0]["args"],
        )
        for one in rendered.all("Pod")
    }
    where = ["--namespace=billing", "--namespace=shop"]
    assert found == {
        "k8sjob-test-backfill": ("k8sjob-control", ["doctor", "--for=backfill", *where]),
        "k8sjob-test-reconcile": ("k8sjob-reconciler", ["doctor", "--for=reconcile", *where]),
        "k8sjob-test-serve": ("k8sjob-exporter", ["doctor", "--for=serve"]),
    }


@pytest.mark.parametrize("path", CI, ids=lambda path: path.name)
def test_the_command_line_takes_all_arguments(path: Path) -> None:
    for name, spec in pod_specs(render_file(path).objects):
        for container in spec["containers"]:
            if "args" in container:
                line = " ".join(f"'{word}'" for word in ["k8sjob", *container["args"]])
                assert fault_of(line) is None, (name, line)


def test_an_install_and_an_upgrade_are_of_the_same_objects() -> None:
    values = fix_chart.values_of(FOLDER / "ci" / "everything-values.yaml")
    assert render(values).objects == render(values, upgrade=True).objects
