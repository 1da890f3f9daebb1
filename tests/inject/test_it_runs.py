"""What was put in does its work: the command of a covered CronJob, started as its Pod would be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.manifest.inject.record import Mode
from k8sjob.manifest.inject.sidecar import FOLDER
from tests.inject.injected import covered, cronjobs, env_of, main_of, pod_of
from tests.manifest.manifests import CRONJOB

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[2]
ADD = "echo done >> effect"
CLAIM = """
import k8sjob, sqlite3
conn = sqlite3.connect("ledger.db")
with conn:
    k8sjob.claim(conn, k8sjob.current_key())
    print("claimed", k8sjob.current_key(), file=open("effect", "a"))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the program k8sjob in it, and an empty ledger."""
    program = tmp_path / "k8sjob"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m k8sjob "$@"\n')
    program.chmod(0o755)
    run(tmp_path, ["k8sjob", "migrate"], {})
    return tmp_path


def run(folder: Path, words: list[str], env: Mapping[str, str]) -> int:
    """Run a command in ``folder`` as a container with ``env`` would; return its exit code."""
    base = {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "K8SJOB_DSN": "sqlite:///ledger.db",
    }
    done = subprocess.run(words, cwd=folder, env={**base, **env}, timeout=60, check=False)
    return done.returncode


def in_a_pod(container: Any) -> dict[str, str]:
    """Return a container's variables as the kubelet sets them, in a Job of the last minute."""
    fields = {
        "metadata.namespace": "billing",
        "metadata.labels['batch.kubernetes.io/job-name']": f"credit-{int(time.time()) // 60 - 1}",
        "metadata.labels['batch.kubernetes.io/controller-uid']": "5e2a",
        "metadata.name": "credit-x",
        "metadata.uid": "77aa",
        "spec.nodeName": "node",
    }
    return {
        name: source if isinstance(source, str) else fields[source["fieldRef"]["fieldPath"]]
        for name, source in env_of(container).items()
        if name != "K8SJOB_DSN"  # of a Secret, which the test has no need of
    }


def periods(folder: Path) -> list[tuple[str, str]]:
    """Return job and state of each period in the ledger."""
    env = {"PYTHONPATH": str(ROOT), "K8SJOB_DSN": f"sqlite:///{folder}/ledger.db"}
    words = [sys.executable, "-m", "k8sjob", "get", "periods", "-A", "-o", "json"]
    done = subprocess.run(words, env=env, check=True, capture_output=True, timeout=60)
    return [(one["job"], one["state"]) for one in json.loads(done.stdout)["periods"]]


def plain(*words: str) -> str:
    """Return a CronJob with this command."""
    return CRONJOB.replace('[k8sjob, run, "billing.credit:credit"]', json.dumps(words))


def test_a_plain_command_is_recorded_once(folder: Path) -> None:
    (one,) = cronjobs(covered(plain("sh", "-c", ADD)))
    main = main_of(one)
    env = in_a_pod(main)
    for _ in range(2):  # a second Pod of the same Job
        assert run(folder, main["command"], env) == 0
    assert periods(folder) == [("billing/credit", "done")]
    assert (folder / "effect").read_text() == "done\n"


def test_a_command_that_does_not_claim_as_it_said_is_unproven(folder: Path) -> None:
    (one,) = cronjobs(covered(plain("sh", "-c", ADD), claims=True))
    main = main_of(one)
    assert run(folder, main["command"], in_a_pod(main)) == 81


def test_a_command_beside_a_sidecar_gets_the_period_that_was_found(folder: Path) -> None:
    (one,) = cronjobs(covered(plain(sys.executable, "-c", CLAIM), mode=Mode.SIDECAR))
    find, _ = pod_of(one)["initContainers"]
    shared = folder / "shared"
    shared.mkdir()

    def here(words: list[str]) -> list[str]:
        return [word.replace(FOLDER, str(shared)) for word in words]

    assert run(folder, ["k8sjob", *here(find["args"])], in_a_pod(find)) == 0
    front, command = main_of(one)["command"][:4], main_of(one)["command"][4:]
    assert run(folder, [*here(front), *command], {}) == 0
    assert periods(folder) == [("billing/credit", "done")]
    assert (folder / "effect").read_text().startswith("claimed billing/credit:")
    assert (shared / "exit").read_text() == "0\n"
    assert run(folder, [*here(front), *command], {}) == 1  # a duplicate, which it does not catch
    assert (shared / "exit").read_text() == "1\n"
