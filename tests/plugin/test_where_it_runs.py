"""The control Deployment is found, or it is said why not and what to do."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Laptop


def test_it_is_found_by_its_labels_in_all_namespaces(laptop: Laptop) -> None:
    assert laptop.call("get", "jobs").code == 0

    asked, ran = laptop.called("get"), laptop.called("exec")
    assert "--all-namespaces" in asked
    assert "--selector=app.kubernetes.io/name=k8sjob,app.kubernetes.io/component=control" in asked
    assert ran[: ran.index("k8sjob")] == [
        "exec",
        "--namespace=k8sjob",
        "--container=control",
        "--stdin",
        "deployment/k8sjob-control",
        "--",
    ]


@pytest.mark.parametrize("how", ["flag", "flag=", "variable"])
def test_only_the_namespace_that_is_named_is_asked(laptop: Laptop, how: str) -> None:
    laptop.cluster.deployments.append(("other", "k8sjob-control", "1"))
    flags = {"flag": ["--control-namespace", "other"], "flag=": ["--control-namespace=other"]}
    if how == "variable":
        laptop.env["K8SJOB_CONTROL_NAMESPACE"] = "other"

    assert laptop.call(*flags.get(how, []), "version").code == 0

    assert "--namespace=other" in laptop.called("get")
    assert "--all-namespaces" not in laptop.called("get")
    assert "--namespace=other" in laptop.called("exec")


@pytest.mark.parametrize("how", ["flag", "variable"])
def test_of_two_in_one_namespace_the_instance_tells(laptop: Laptop, how: str) -> None:
    laptop.cluster.deployments = [("ops", "one-control", "1"), ("ops", "two-control", "1")]
    if how == "variable":
        laptop.env["K8SJOB_CONTROL_INSTANCE"] = "two"

    told = laptop.call(*(["--control-instance", "two"] if how == "flag" else []), "version")

    assert told.code == 0
    assert "deployment/two-control" in laptop.called("exec")


def test_without_one_it_is_said_what_was_looked_for(laptop: Laptop) -> None:
    laptop.cluster.deployments = []

    told = laptop.call("get", "jobs")

    assert (told.code, told.out) == (78, "")
    assert told.err == (
        "kubectl k8sjob: there is no control Deployment in any namespace. Nothing was done.\n"
        "  It has the labels app.kubernetes.io/name=k8sjob,app.kubernetes.io/component=control.\n"
        "  The chart k8sjob makes it; another cluster is named with --context, as for kubectl.\n"
    )


def test_of_several_none_is_taken(laptop: Laptop) -> None:
    laptop.cluster.deployments.append(("other", "k8sjob-control", "1"))

    told = laptop.call("get", "jobs")

    assert (told.code, told.out) == (64, "")
    assert told.err == (
        "kubectl k8sjob: there are several control Deployments. Nothing was done.\n"
        "  k8sjob/k8sjob-control\n"
        "  other/k8sjob-control\n"
        "  Name one, with --control-namespace or --control-instance.\n"
    )


@pytest.mark.parametrize("ready", ["", "0"])
def test_without_a_ready_pod_nothing_is_waited_for(laptop: Laptop, ready: str) -> None:
    laptop.cluster.deployments = [("k8sjob", "k8sjob-control", ready)]

    told = laptop.call("get", "jobs")

    assert told.code == 69
    assert "no Pod of the control Deployment is ready. Nothing was done." in told.err
    assert "kubectl -n k8sjob get pods -l app.kubernetes.io/name=k8sjob" in told.err


def test_who_may_not_look_everywhere_is_told_to_name_the_namespace(laptop: Laptop) -> None:
    laptop.cluster.forbidden = ["deployments"]

    told = laptop.call("get", "jobs")

    assert told.code == 77
    assert 'Error from server (Forbidden): deployments.apps is forbidden: User "alice"' in told.err
    assert "you may not look for the control Deployment in any namespace." in told.err
    assert "--control-namespace or K8SJOB_CONTROL_NAMESPACE" in told.err


def test_a_cluster_that_is_away_is_no_refusal(laptop: Laptop) -> None:
    laptop.cluster.away = True

    told = laptop.call("get", "jobs")

    assert told.code == 69
    assert "no such host" in told.err
    assert "Nothing was done." in told.err


def test_who_may_not_run_commands_there_is_told_the_right(laptop: Laptop) -> None:
    laptop.cluster.forbidden = ["exec"]

    told = laptop.call("get", "jobs")

    assert told.code == 77
    assert "you may not run a command in the control Pod. Nothing was done." in told.err
    assert "create and get of pods/exec in namespace k8sjob" in told.err


def test_a_login_that_kubectl_asks_for_is_seen(laptop: Laptop) -> None:
    laptop.cluster.login = True

    told = laptop.call("get", "jobs")

    assert told == (0, "", "To sign in, open a page\n")


def test_without_kubectl_it_says_so(laptop: Laptop) -> None:
    (laptop.folder / "bin" / "kubectl").unlink()
    laptop.env["PATH"] = str(laptop.folder / "bin")
    laptop.shell = [shutil.which(laptop.shell[0]) or "", *laptop.shell[1:]]

    told = laptop.call("get", "jobs")

    assert told.code == 78
    assert "there is no kubectl on PATH. Nothing was done." in told.err
