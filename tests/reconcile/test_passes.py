"""Whole passes by the command line: what of a real ledger and an API server may be away."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

import pytest

from k8sjob.kube.client import Cluster
from k8sjob.ledger.settings import parse
from k8sjob.reconcile.passes import Orders, run_pass
from tests.kube.apiserver import serving
from tests.reconcile.scene import CREDIT, WAIT, Held, Scene, Told

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from k8sjob.reconcile.report import Report

#: All rights but the list of Events.
WITHOUT_EVENTS = {("list", "cronjobs"), ("list", "jobs"), ("list", "pods"), ("create", "jobs")}


@pytest.fixture
def dead() -> Iterator[str]:
    """Return the address of a ledger that nobody serves."""
    with socket.socket() as bound:  # it keeps the port, and does not listen
        bound.bind(("127.0.0.1", 0))
        yield f"postgresql://nobody@127.0.0.1:{bound.getsockname()[1]}/none"


# --------------------------------------------------------------------------------- all is well


def test_what_was_due_is_stored_and_the_pass_is_noted(scene: Scene) -> None:
    scene.add()
    scene.begin()
    told = scene.call()
    assert told.code == 0
    assert told.err == "ledger default: 1 jobs, 3 missing\n"
    assert scene.missing() == scene.periods(3, 2, 1)
    assert scene.column("SELECT ok FROM k8sjob.passes ORDER BY id") == [True, True]
    assert scene.call() == Told(0, "", "ledger default: 1 jobs, nothing to do\n")


def test_json_tells_each_ledger_and_each_action(scene: Scene) -> None:
    scene.add()
    scene.begin(hours=1)
    told = scene.call("-o", "json")
    (period,) = scene.periods(1)
    assert told.code == 0
    assert json.loads(told.out) == {
        "ledgers": [
            {
                "ledger": "default",
                "scope": "*",
                "dry_run": False,
                "ok": True,
                "jobs": 1,
                "failing": 0,
                "trouble": None,
                "actions": [
                    {
                        "what": f"{CREDIT}:{period}",
                        "action": "missing",
                        "reason": "no Job was created (controller down?)",
                    }
                ],
            }
        ]
    }


@pytest.mark.parametrize("output", ["table", "json"])
def test_a_dry_run_prints_the_same_and_writes_nothing(scene: Scene, output: str) -> None:
    scene.add(catch_up="every")
    scene.add("billing/audit", catch_up="skip")
    scene.begin()
    scene.add("billing/new")
    scene.add("billing/lost", ledger="elsewhere")
    scene.attempt(*scene.periods(3))
    before = scene.stored()
    dry = scene.call("--dry-run", "-o", output)
    assert (scene.stored(), scene.api.jobs()) == (before, [])
    real = scene.call("-o", output)
    assert dry.out.replace('"dry_run": true', '"dry_run": false') == real.out
    assert dry.err.replace(" (dry run: nothing was changed)", "") == real.err
    for action in ("schedule", "broken", "lost", "missing", "skipped", "started"):
        assert action in real.out
    assert (dry.code, real.code, len(scene.api.jobs())) == (1, 1, 3)


# --------------------------------------------------------------------- the cluster is away, or half


@pytest.mark.parametrize("status", [403, 410])
def test_without_all_cronjobs_nothing_is_judged_beyond_the_last_list(
    scene: Scene, status: int
) -> None:
    scene.add("billing/audit")
    scene.add()
    scene.begin()
    before = scene.column("SELECT last_complete_list_at FROM k8sjob.scopes")
    scene.api.page_limit = 1
    scene.api.fail("list", "cronjobs", status, after=1, times=100)
    told = scene.call()
    assert told.code == 1
    assert "ledger default: not complete: CronJobs could not be listed" in told.err
    assert (scene.missing(), scene.is_anything_gone()) == ([], False)
    assert scene.column("SELECT last_complete_list_at FROM k8sjob.scopes") == before
    assert scene.column("SELECT ok FROM k8sjob.passes ORDER BY id") == [True, False]
    scene.api.faults.clear()
    assert scene.call().code == 0
    for job in (CREDIT, "billing/audit"):
        assert scene.missing(job) == scene.periods(3, 2, 1)


def test_without_pods_nothing_is_lost_and_nothing_started(scene: Scene) -> None:
    scene.add(catch_up="every")
    scene.begin()
    scene.attempt(*scene.periods(3))
    scene.api.fail("list", "pods", 403)
    told = scene.call()
    assert told.code == 1
    assert "not complete: Pods could not be listed" in told.err
    assert scene.missing() == scene.periods(2, 1)
    assert (scene.outcomes(), scene.api.jobs()) == ([None], [])
    assert scene.call().code == 0
    assert scene.missing() == scene.periods(3, 2, 1)
    assert (scene.outcomes(), len(scene.api.jobs())) == (["lost"], 3)


def test_without_jobs_nothing_is_lost_and_nothing_started(scene: Scene) -> None:
    scene.add(catch_up="every")
    scene.begin()
    scene.attempt(*scene.periods(3))
    scene.api.fail("list", "jobs", 403)
    told = scene.call()
    assert told.code == 1
    assert "not complete: Jobs could not be listed" in told.err
    assert scene.missing() == scene.periods(2, 1)
    assert scene.column("SELECT DISTINCT reason_code FROM k8sjob.periods") == ["unknown"]
    assert (scene.outcomes(), scene.api.jobs()) == ([None], [])


def test_without_events_all_is_done_and_the_pass_is_not_called_complete(scene: Scene) -> None:
    scene.add(catch_up="every")
    scene.begin()
    scene.attempt(*scene.periods(3))
    scene.api.rules = WITHOUT_EVENTS
    told = scene.call()
    assert told.code == 1
    assert "not complete: Events could not be listed" in told.err
    assert 'resources: ["events"], verbs: ["list"]' in told.err
    assert scene.missing() == scene.periods(3, 2, 1)
    assert (scene.outcomes(), len(scene.api.jobs())) == (["lost"], 3)


def away(scene: Scene, folder: Path) -> Report:
    """Make a pass while nobody answers for the API server; its pauses are not made."""
    with serving() as gone:
        config = gone.kubeconfig(folder)
    connect = partial(Cluster.connect, kubeconfig=config, pause=lambda _: None)
    address = parse(scene.db.dsn("operator"), "test")
    (report,) = run_pass({"default": lambda: address}, connect, Orders())
    return report


def test_without_an_api_server_nothing_is_called_gone(scene: Scene, tmp_path: Path) -> None:
    scene.add()
    scene.begin()
    report = away(scene, tmp_path)
    assert not report.ok
    assert "was not reached" in (report.trouble or "")
    assert (report.lines, scene.missing(), scene.is_anything_gone()) == ([], [], False)
    assert scene.call().code == 0
    assert scene.missing() == scene.periods(3, 2, 1)


def test_without_an_api_server_what_was_due_at_the_last_list_is_stored(
    scene: Scene, tmp_path: Path
) -> None:
    scene.add()
    scene.begin()
    with closing(scene.db.connect()) as rival:
        rival.execute("SELECT k8sjob.claim(%s, %s)", (CREDIT, *scene.periods(2)))
        assert scene.call().code == 0
        assert scene.missing() == scene.periods(3, 1)
    assert [line.action for line in away(scene, tmp_path).lines] == ["missing"]
    assert scene.missing() == scene.periods(3, 2, 1)
    assert not scene.is_anything_gone()


# ------------------------------------------------------------------------------ several ledgers


@pytest.mark.parametrize("is_default", [True, False])
def test_a_ledger_that_is_dead_hides_nothing_of_the_other(
    scene: Scene, tmp_path: Path, dead: str, *, is_default: bool
) -> None:
    folder = tmp_path / "ledgers"
    folder.mkdir()
    own = scene.db.dsn("operator")
    scene.ledgers(folder, archive=own if is_default else dead)
    scene.patch.setenv("K8SJOB_DSN", dead if is_default else own)
    scene.add("billing/old", ledger="archive")
    scene.add()
    alive, away = ("billing/old", CREDIT) if is_default else (CREDIT, "billing/old")
    scene.begin()
    told = scene.call("-o", "json")
    assert told.code == 1
    oks = {each["ledger"]: each["ok"] for each in json.loads(told.out)["ledgers"]}
    assert oks == {"default": not is_default, "archive": is_default}
    assert "not complete: the ledger cannot be reached" in told.err
    assert scene.missing(alive) == scene.periods(3, 2, 1)
    assert scene.column("SELECT job FROM k8sjob.jobs") == [alive]
    assert away not in told.out


def test_a_cronjob_of_an_unknown_ledger_is_broken_and_the_others_go_on(scene: Scene) -> None:
    scene.add("billing/a-lost", ledger="elsewhere")
    scene.add()
    scene.begin()
    told = scene.call()
    assert told.code == 1
    assert told.err == "ledger default: 1 jobs, 1 broken, 3 missing\n"
    (broken,) = [line for line in told.out.splitlines() if " broken " in line]
    assert broken.startswith("billing/a-lost ")
    assert "it is of the ledger elsewhere, which this reconciler does not know" in broken
    assert scene.missing() == scene.periods(3, 2, 1)
    assert scene.column("SELECT job FROM k8sjob.jobs") == [CREDIT]


def test_the_jobs_of_a_ledger_that_was_not_asked_for_are_not_broken(
    scene: Scene, tmp_path: Path, dead: str
) -> None:
    folder = tmp_path / "ledgers"
    folder.mkdir()
    scene.ledgers(folder, archive=scene.db.dsn("operator"))
    scene.patch.setenv("K8SJOB_DSN", dead)
    scene.add("billing/old", ledger="archive")
    scene.add()
    told = scene.call("--ledger", "archive")
    assert (told.code, told.err) == (0, "ledger archive: 1 jobs, 1 schedule\n")


# ------------------------------------------------------------------------------ again and again


def test_a_stop_ends_it_with_0_once_the_pass_that_has_begun_is_over(scene: Scene) -> None:
    scene.add()
    scene.begin()
    held = Held("list", "cronjobs", 0)
    scene.api.faults.append(held)
    command = [sys.executable, "-m", "k8sjob", "reconcile", "--kubeconfig", scene.kubeconfig]
    with subprocess.Popen(
        [*command, "--every", "1s"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert held.came.wait(WAIT), "it makes no pass"
            process.send_signal(signal.SIGTERM)
            held.go.set()
            _, told = process.communicate(timeout=WAIT)
        finally:
            held.go.set()
            process.kill()
    assert process.returncode == 0, told
    assert told == "ledger default: 1 jobs, 3 missing\n"
    assert scene.missing() == scene.periods(3, 2, 1)
    ends = "SELECT ended_at IS NOT NULL AND ok FROM k8sjob.passes ORDER BY id"
    assert scene.column(ends) == [True, True]
