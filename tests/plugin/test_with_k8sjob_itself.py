"""The command that runs in the control Pod is k8sjob: what it makes of what it is told."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.plugin.conftest import Laptop

KEY = "billing/daily-credit:2026-09-13"
LONG = ["backfill", KEY, "--local", "--record-on-success", "--", "sh", "-c"]


@pytest.fixture(autouse=True)
def _in_the_pod(laptop: Laptop, sqlite_path: Path) -> None:
    laptop.cluster.runs = True
    laptop.cluster.env |= {"K8SJOB_DSN": f"sqlite:///{sqlite_path}", "K8SJOB_BY": "the Pod"}


def test_a_decision_has_the_persons_name(laptop: Laptop, sqlite_path: Path) -> None:
    told = laptop.call("block", "daily-credit:2026-09-13", "--reason", "it's; so", "--yes")

    assert told.code == 0
    with closing(sqlite3.connect(sqlite_path)) as ledger:
        found = ledger.execute('SELECT job, period, "by", reason FROM k8sjob_events').fetchall()
    assert found == [("billing/daily-credit", "2026-09-13", "alice@example.com", "it's; so")]


def test_a_name_of_the_commands_own_goes_first(laptop: Laptop, sqlite_path: Path) -> None:
    assert laptop.call("block", KEY, "--reason", "x", "--by", "bob", "--yes").code == 0

    with closing(sqlite3.connect(sqlite_path)) as ledger:
        assert ledger.execute('SELECT "by" FROM k8sjob_events').fetchall() == [("bob",)]


def test_json_is_clean(laptop: Laptop) -> None:
    laptop.call("block", KEY, "--reason", "no feed", "--yes")

    told = laptop.call("get", "periods", "-o", "json")

    assert (told.code, told.err) == (0, "")
    assert [found["period"] for found in json.loads(told.out)["periods"]] == ["2026-09-13"]


def test_without_a_name_the_contexts_namespace_is_looked_at(laptop: Laptop) -> None:
    for job in ("billing/daily-credit", "ops/vacuum"):
        laptop.call("block", f"{job}:2026-09-13", "--reason", "no feed", "--yes")

    assert laptop.call("get", "periods", "-o", "name").out == f"{KEY}\n"
    assert laptop.call("get", "periods", "-A", "-o", "name").out == (
        f"{KEY}\nops/vacuum:2026-09-13\n"
    )


@pytest.mark.parametrize(("words", "code"), [(["get", "periods", "--nope"], 64), (["nope"], 64)])
def test_what_k8sjob_refuses(laptop: Laptop, words: list[str], code: int) -> None:
    told = laptop.call(*words)

    assert told.code == code
    assert "command terminated" not in told.err


@pytest.mark.parametrize("words", [["version"], ["get", "--help"]])
def test_what_needs_no_ledger(laptop: Laptop, words: list[str]) -> None:
    told = laptop.call(*words)

    assert (told.code, told.err) == (0, "")
    assert told.out


@pytest.fixture
def endless(laptop: Laptop) -> Iterator[subprocess.Popen[bytes]]:
    """Start a command that goes on for ever, and see that it does."""
    running = subprocess.Popen(
        [*laptop.command, *LONG, "echo started; exec sleep 600"],
        env=laptop.environment(),
        cwd=laptop.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    with running:
        try:
            assert running.stdout is not None
            assert b"started\n" in iter(running.stdout.readline, b"")
            yield running
        finally:
            if running.returncode is None:  # a failed test: the command may hold the pipes
                os.killpg(running.pid, signal.SIGTERM)
                with suppress(FileNotFoundError, ProcessLookupError):
                    os.killpg(int((laptop.folder / "child").read_text()), signal.SIGKILL)


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_what_stops_the_plugin_stops_the_command_too(
    endless: subprocess.Popen[bytes], name: str, code: int
) -> None:
    if name == "SIGINT":  # a terminal tells all programs of its foreground
        os.killpg(endless.pid, signal.SIGINT)
    else:
        endless.send_signal(signal.Signals[name])

    _, said = endless.communicate(timeout=60)  # it ends with the last program that may write

    assert endless.returncode == code
    assert b"kubectl k8sjob: stopped; the command in the control Pod is told to stop, too\n" in said


def test_a_command_whose_kubectl_dies_is_stopped(
    laptop: Laptop, endless: subprocess.Popen[bytes]
) -> None:
    os.kill(laptop.calls[-1]["pid"], signal.SIGKILL)
    _, said = endless.communicate(timeout=60)

    assert endless.returncode == 69
    assert b"how the command ended is not known" in said
