"""Who it is, the namespace, kubectl's flags and each word as it was typed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from k8sjob.cli.main import COMMANDS
from tests.plugin.conftest import PLUGIN

if TYPE_CHECKING:
    from tests.plugin.conftest import Laptop

HOSTILE = [
    "two words",
    "a'b\"c",
    "$(touch here)",
    "`touch here`",
    "; touch here",
    "&& touch here",
    "*",
    "~",
    "$HOME",
    "\\n\\",
    "two\nlines\n",
    "",
    "--",
    "-n",
    "--context",
    "é€",
]


def test_it_says_who_decides(laptop: Laptop) -> None:
    laptop.call("block", "billing/daily-credit", "--reason", "no feed")

    assert laptop.remote == [
        "k8sjob",
        "--by=alice@example.com",
        "--namespace=billing",
        "--attached",
        "block",
        "billing/daily-credit",
        "--reason",
        "no feed",
    ]


@pytest.mark.parametrize("how", ["flag", "flag=", "variable"])
def test_somebody_else_can_be_named(laptop: Laptop, how: str) -> None:
    if how == "variable":
        laptop.env["K8SJOB_BY"] = "on call; see 'OPS-1'"
    flags = {"flag": ["--by", "on call; see 'OPS-1'"], "flag=": ["--by=on call; see 'OPS-1'"]}

    laptop.call(*flags.get(how, []), "release", "billing/daily-credit")

    assert laptop.remote[1] == "--by=on call; see 'OPS-1'"


def test_a_cluster_that_does_not_know_who_it_is_gets_the_user_of_this_machine(
    laptop: Laptop,
) -> None:
    laptop.cluster.whoami = None

    laptop.call("release", "billing/daily-credit")

    assert re.fullmatch(r"--by=[^@]+@[^@]+", laptop.remote[1])


@pytest.mark.parametrize("command", ["get", "describe", "preview", "version", "doctor"])
def test_who_only_looks_is_not_asked_for(laptop: Laptop, command: str) -> None:
    laptop.call(command)

    assert laptop.remote == ["k8sjob", "--namespace=billing", "--attached", command]
    assert [call["verb"] for call in laptop.calls] == ["get", "config", "exec"]


@pytest.mark.parametrize(
    ("flags", "variable", "context", "namespace"),
    [
        ([], "", "billing", "billing"),
        ([], "", "", "default"),
        ([], "ops", "billing", "ops"),
        (["-n", "team"], "ops", "billing", "team"),
        (["-nteam"], "", "billing", "team"),
        (["-n=team"], "", "billing", "team"),
        (["--namespace", "team"], "", "billing", "team"),
        (["--namespace=team"], "", "billing", "team"),
    ],
)
def test_jobs_named_without_a_namespace_are_of_the_contexts(
    laptop: Laptop, flags: list[str], variable: str, context: str, namespace: str
) -> None:
    laptop.env["K8SJOB_NAMESPACE"] = variable
    laptop.cluster.namespace = context

    laptop.call(*flags, "get", "periods", "daily-credit", "-n", "x")

    assert f"--namespace={namespace}" in laptop.remote
    assert laptop.remote[-2:] == ["-n", "x"]


def test_kubectls_own_flags_go_to_each_call_of_kubectl(laptop: Laptop) -> None:
    flags = ["--context", "prod; x", "--as=bob", "--as-group", "a b", "--as-group=c", "-v6"]
    flags += ["--kubeconfig", "it's here", "--insecure-skip-tls-verify"]

    assert laptop.call(*flags, "release", "x").code == 0

    assert [call["verb"] for call in laptop.calls] == ["get", "config", "auth", "exec"]
    for call in laptop.calls:
        assert call["args"][: len(flags)] == flags


@pytest.mark.parametrize("flag", ["--nope", "-A", "-o"])
def test_an_unknown_flag_before_the_command_is_refused(laptop: Laptop, flag: str) -> None:
    told = laptop.call(flag, "get", "jobs")

    assert told.code == 64
    assert f"{flag} is no option of kubectl k8sjob, nor one of kubectl's." in told.err
    assert laptop.calls == []


@pytest.mark.parametrize("flag", ["--context", "-n", "--by", "--control-namespace"])
def test_a_flag_without_its_value_is_refused(laptop: Laptop, flag: str) -> None:
    told = laptop.call(flag)

    assert told.code == 64
    assert f"{flag} needs a value. Nothing was done." in told.err


def test_no_word_is_read_again(laptop: Laptop) -> None:
    laptop.call("get", *HOSTILE)

    assert laptop.remote[-len(HOSTILE) - 1 :] == ["get", *HOSTILE]
    assert not (laptop.folder / "here").exists()


def test_no_value_of_a_flag_is_read_again(laptop: Laptop) -> None:
    groups = [word for text in HOSTILE for word in ("--as-group", text)]
    name = "".join(HOSTILE)

    laptop.call(*groups, "--by", name, "-n", name, "release", "x")

    assert laptop.called("exec")[: len(groups)] == groups
    assert laptop.remote[1:3] == [f"--by={name}", f"--namespace={name}"]
    assert not (laptop.folder / "here").exists()


def test_no_name_of_the_deployment_is_read_again(laptop: Laptop) -> None:
    name = "".join(HOSTILE)

    laptop.call("--control-instance", name, "--control-namespace", name, "get", "jobs")

    _, _, scope, selector, output = laptop.called("get")
    assert scope == f"--namespace={name}"
    assert selector.endswith(f",app.kubernetes.io/instance={name}")
    assert output.startswith("--output=jsonpath={range .items[*]}{.metadata.namespace} ")
    assert not (laptop.folder / "here").exists()


def test_a_command_may_follow_two_dashes(laptop: Laptop) -> None:
    laptop.call("--", "get", "jobs")

    assert laptop.remote[-2:] == ["get", "jobs"]


@pytest.mark.parametrize(
    ("name", "value", "times"), [("NO_COLOR", "1", 1), ("NO_COLOR", "", 0), ("TERM", "dumb", 1)]
)
def test_who_wants_no_colour_gets_none(laptop: Laptop, name: str, value: str, times: int) -> None:
    laptop.env[name] = value

    laptop.call("get", "jobs")

    assert laptop.remote.count("--no-color") == times


@pytest.mark.parametrize("command", ["run", "resolve", "sidecar", "serve"])
def test_what_is_for_other_containers_is_refused(laptop: Laptop, command: str) -> None:
    told = laptop.call(command, "x")

    assert told.code == 64
    assert f"{command} is for a container of its own" in told.err
    assert laptop.calls == []


def test_each_command_of_k8sjob_stands_in_the_help(laptop: Laptop) -> None:
    told = laptop.call("--help")

    assert (told.code, told.err, laptop.calls) == (0, "", [])
    assert set(COMMANDS) <= set(re.findall(r"[a-z]+", told.out))
    assert max(map(len, told.out.splitlines())) <= 100


def test_without_a_command_the_help_is_talk(laptop: Laptop) -> None:
    help_text = laptop.call("-h").out

    assert laptop.call() == (64, "", help_text)


def test_it_can_be_called_as_kubectl_calls_it() -> None:
    assert PLUGIN.stat().st_mode & 0o111 == 0o111
    assert PLUGIN.read_text("utf-8").startswith("#!/bin/sh\n")
