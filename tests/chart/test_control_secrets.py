"""Each part gets the DSNs of its role, as files, and no part gets those of another."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.chart.control import CI, FOLDER, dsns, pod, pod_specs, render, render_file

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("helm")

SEVERAL = FOLDER / "ci" / "several-ledgers-values.yaml"
ROLES = {
    "k8sjob-migrate": "owner",
    "k8sjob-reconciler": "operator",
    "k8sjob-control": "operator",
    "k8sjob-test-reconcile": "operator",
    "k8sjob-exporter": "reader",
    "k8sjob-test-serve": "reader",
}


@pytest.mark.parametrize(("name", "role"), ROLES.items())
def test_a_pod_has_the_dsn_of_its_role(name: str, role: str) -> None:
    assert dsns(pod(render(), name)) == {"default": ("k8sjob-ledger", role)}


def test_there_is_no_other_pod() -> None:
    assert set(dict(pod_specs(render().objects))) == set(ROLES)


def test_each_ledger_has_its_secret_and_its_keys() -> None:
    rendered = render_file(SEVERAL)
    assert dsns(pod(rendered, "k8sjob-exporter")) == {
        "archive": ("archive-ledger", "reader"),
        "billing": ("billing-ledger", "reader"),
        "default": ("shop-ledger", "reader"),
    }
    assert dsns(pod(rendered, "k8sjob-migrate")) == {
        "billing": ("billing-ledger", "admin"),
        "default": ("shop-ledger", "owner"),
    }


@pytest.mark.parametrize("role", ["owner", "operator", "reader"])
def test_each_role_can_have_a_secret_of_its_own(role: str) -> None:
    """As operators of databases make them: who reads one gets no other role with it."""
    rendered = render_file(FOLDER / "ci" / "several-secrets-values.yaml")
    pods = {"k8sjob-prune": "operator", "k8sjob-test-backfill": "operator", **ROLES}
    billing = ("billing-owner" if role == "owner" else "billing-ledger", role)
    for name in (name for name, its in pods.items() if its == role):
        found = dsns(pod(rendered, name))
        assert found == {"default": (f"shop-db-{role}", "uri"), "billing": billing}, name


def test_a_role_that_nobody_has_needs_no_secret() -> None:
    ledger = {"readerSecret": "shop-reader"}
    off = {key: {"enabled": False} for key in ("migrate", "reconciler", "control")}
    rendered = render({"ledgers": {"shop": ledger}, **off})
    assert dsns(pod(rendered, "k8sjob-exporter")) == {"shop": ("shop-reader", "reader")}
    ledger |= {"operatorSecret": "shop-operator"}
    assert render({"ledgers": {"shop": {**ledger, "migrate": False}}}).objects


@pytest.mark.parametrize("path", CI, ids=lambda path: path.name)
def test_containers_find_them_where_they_look(path: Path) -> None:
    """As files, which are read again at each connect; a variable would stay what it was."""
    for name, spec in pod_specs(render_file(path).objects):
        for container in spec["containers"]:
            env = {one["name"]: one for one in container["env"]}
            mounts = {one["name"]: one for one in container["volumeMounts"]}
            assert env["K8SJOB_LEDGERS_DIR"]["value"] == mounts["ledgers"]["mountPath"], name
            assert mounts["ledgers"]["readOnly"] is True
            assert "subPath" not in mounts["ledgers"], "it would not follow a change"
            assert "secretKeyRef" not in json.dumps(container)


def test_whoever_the_user_is_can_read_them() -> None:
    """A volume's files are root's, and the container's user is another one."""
    for _, spec in pod_specs(render().objects):
        assert spec["volumes"][0]["projected"]["defaultMode"] == 0o444


@pytest.mark.parametrize(
    ("ledgers", "chosen"),
    [(["default"], "default"), (["default", "shop"], "default"), (["shop"], "shop")],
)
def test_a_command_without_a_ledger_means_the_default_or_the_only_one(
    ledgers: list[str], chosen: str
) -> None:
    assert chosen_ledger(ledgers) == chosen


def test_of_several_without_a_default_none_is_guessed() -> None:
    assert chosen_ledger(["billing", "shop"]) is None


def chosen_ledger(ledgers: list[str]) -> str | None:
    """Return the ledger that a command in the control Pod looks at."""
    rendered = render({"ledgers": {name: {"existingSecret": name} for name in ledgers}})
    env = pod(rendered, "k8sjob-control")["containers"][0]["env"]
    return {one["name"]: one["value"] for one in env}.get("K8SJOB_LEDGER")
