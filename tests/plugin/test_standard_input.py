"""What the command in the control Pod gets on standard input, and which files are read here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Laptop

#: A CronJob without a time zone, which lint has something to say about.
CRONJOB = """\
apiVersion: batch/v1
kind: CronJob
metadata: {name: daily-credit}
spec:
  schedule: "0 2 * * *"
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: []}}}}
"""
LOCAL = '#!/bin/sh\necho local "$@"\nexit 3\n'


def test_a_dash_passes_standard_input(laptop: Laptop) -> None:
    laptop.cluster.runs = True

    told = laptop.call("lint", "-", "-o", "json", stdin=CRONJOB.encode())

    assert told.code == 1
    assert '"no-time-zone"' in told.out
    assert "--attached" not in laptop.remote


def test_without_a_dash_standard_input_is_left_alone(laptop: Laptop) -> None:
    loop = 'while read -r job; do "$@" get periods "$job" || exit; done'
    shell, plugin = laptop.shell, laptop.command
    laptop.shell = [*shell, "-c", loop, "loop", *plugin[:-1]]

    told = laptop.call(stdin=b"a\nb\nc\n")

    assert told.code == 0
    called = [call["args"][-1] for call in laptop.calls if call["verb"] == "exec"]
    assert called == ["a", "b", "c"]


@pytest.mark.parametrize("command", ["lint", "inject", "completion"])
def test_a_k8sjob_on_this_machine_reads_the_files(laptop: Laptop, command: str) -> None:
    laptop.install("k8sjob", LOCAL)

    told = laptop.call("--context", "prod", command, "a file", "--x")

    assert told == (3, f"local {command} a file --x\n", "")
    assert laptop.calls == []


@pytest.mark.parametrize("command", ["get", "preview", "version"])
def test_it_reads_nothing_else(laptop: Laptop, command: str) -> None:
    laptop.install("k8sjob", LOCAL)

    assert laptop.call(command) == (0, "", "")


def test_without_one_the_control_pod_reads_the_file(laptop: Laptop) -> None:
    laptop.cluster.runs = True
    (laptop.folder / "a file").write_text(CRONJOB, "utf-8")

    told = laptop.call("lint", "-o", "json", "a file")

    assert told.code == 1
    assert '"no-time-zone"' in told.out
    assert laptop.remote[-4:] == ["lint", "-o", "json", "-"]


@pytest.mark.parametrize("words", [["--", "-file"], ["-x", "file"], ["--owner", "me", "file"]])
def test_options_and_their_values_are_no_files(laptop: Laptop, words: list[str]) -> None:
    (laptop.folder / words[-1]).write_text(CRONJOB, "utf-8")

    assert laptop.call("inject", *words).code == 0

    assert laptop.remote[-len(words) :] == [*words[:-1], "-"]


def test_without_one_a_second_file_is_refused(laptop: Laptop) -> None:
    for name in ("a", "b"):
        (laptop.folder / name).write_text(CRONJOB, "utf-8")

    told = laptop.call("lint", "a", "b")

    assert told.code == 64
    assert "only one file is read where this machine has no k8sjob. Nothing was done." in told.err
    assert "pip install 'k8sjob[manifest]'" in told.err


@pytest.mark.parametrize("name", ["none", "."])
def test_a_file_that_cannot_be_read_is_refused(laptop: Laptop, name: str) -> None:
    told = laptop.call("lint", name)

    assert (told.code, laptop.calls) == (64, [])
    assert "there is no such file, or it cannot be read. Nothing was done." in told.err


def test_their_help_needs_no_file(laptop: Laptop) -> None:
    assert laptop.call("lint", "--help").code == 0

    assert laptop.remote[-2:] == ["lint", "--help"]
