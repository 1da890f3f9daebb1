"""The example of Alertmanager: one message per trouble, to who is meant."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import time
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.error import URLError

import pytest

from tests.alerts.rulebook import ROOT, alerts, load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.fix_promtool import Amtool, Promtool

EXAMPLE = ROOT / "examples" / "alerting" / "alertmanager.yaml"
CREDIT = ROOT / "examples" / "daily-credit" / "chart" / "values.yaml"
VACUUM = {"ledger": "default", "namespace": "ops", "cronjob": "vacuum"}
FAILED = {"alertname": "KubeJobFailed", "severity": "warning", "condition": "true"}
TRACKED = {"alertname": "K8sjobTracksFailedJob", "severity": "none", "cronjob": "vacuum"}
MISSING = {"alertname": "K8sjobPeriodMissing", **VACUUM}
ANSWERS_WITHIN_S = 30.0


def test_alertmanager_takes_the_example(amtool: Amtool) -> None:
    answer = amtool.check(str(EXAMPLE))
    assert answer.ok, answer.text


def test_prometheus_takes_the_example_that_scrapes(promtool: Promtool) -> None:
    path = EXAMPLE.with_name("prometheus.yaml")
    answer = promtool.check_config(str(path))
    assert answer.ok, answer.text
    assert "honor_labels: true" in path.read_text("utf-8")


@pytest.mark.parametrize(
    ("labels", "receiver"),
    [
        ({"alertname": "K8sjobPeriodMissing", "severity": "critical"}, "pager"),
        ({"alertname": "K8sjobPeriodMissing", "severity": "warning"}, "team"),
        (
            {"alertname": "K8sjobPeriodMissing", "severity": "warning", "owner": "payments"},
            "payments",
        ),
        ({"alertname": "K8sjobBlocked", "severity": "info", "owner": "payments"}, "nobody"),
        ({"alertname": "K8sjobStartedLate", "severity": "info", "owner": "payments"}, "nobody"),
        ({"alertname": "K8sjobTracksFailedJob", "severity": "none"}, "nobody"),
        ({"alertname": "KubeJobFailed", "severity": "warning"}, "team"),
    ],
)
def test_each_alert_goes_to_who_is_meant(
    labels: dict[str, str], receiver: str, amtool: Amtool
) -> None:
    assert amtool.route(str(EXAMPLE), labels) == receiver


def test_the_example_of_a_job_wakes_somebody(amtool: Amtool) -> None:
    """It asks for a severity, and what it asks for has to be routed."""
    [job] = load(CREDIT)["k8sjob-jobs"]["jobs"].values()
    labels = {"alertname": "K8sjobPeriodMissing", "owner": job["owner"]}
    assert amtool.route(str(EXAMPLE), labels | {"severity": job["severity"]}) == "pager"
    assert amtool.route(str(EXAMPLE), labels | {"severity": "warning"}) == job["owner"]


def test_the_example_speaks_of_alerts_that_there_are() -> None:
    named = set(re.findall(r"K8sjob[A-Z]\w+", EXAMPLE.read_text("utf-8")))
    assert named <= {alert["alert"] for alert in alerts()}


def test_a_failed_job_that_is_looked_after_is_told_once(amtool: Amtool, tmp_path: Path) -> None:
    assert amtool.check(str(EXAMPLE)).ok
    job = {"namespace": "ops", "job_name": "vacuum-29901600"}
    other = {"namespace": "ops", "job_name": "other-29901600"}
    with alertmanager(tmp_path) as ask:
        ask("POST", [FAILED | job, FAILED | other, TRACKED | job])
        silent = _until_silent(ask, FAILED | job)
    assert silent == [FAILED | job]


def test_a_second_level_and_a_ledger_that_is_down_say_it_alone(
    amtool: Amtool, tmp_path: Path
) -> None:
    assert amtool.check(str(EXAMPLE)).ok
    stale = {"alertname": "K8sjobReconcilerStale", "severity": "warning", "scope": "*"}
    warning = MISSING | {"severity": "warning"}
    given = [
        warning,
        MISSING | {"severity": "critical"},
        MISSING | {"severity": "warning", "cronjob": "other"},
        {"alertname": "K8sjobBlocked", "severity": "warning", **VACUUM},
        {"alertname": "K8sjobLedgerDown", "severity": "critical", "ledger": "shop"},
        stale | {"ledger": "shop"},
        stale | {"ledger": "default"},
    ]
    with alertmanager(tmp_path) as ask:
        ask("POST", given)
        _until_silent(ask, warning)
        silent = _until_silent(ask, stale | {"ledger": "shop"})
    assert sorted(silent, key=str) == sorted([warning, stale | {"ledger": "shop"}], key=str)


# ------------------------------------------------------------------------- a running Alertmanager


@contextmanager
def alertmanager(folder: Path) -> Iterator[Callable[..., Any]]:
    """Run one with the example, and yield what sends alerts to it (POST) and reads them (GET)."""
    port = _free_port()
    words = [
        "prometheus-alertmanager",
        f"--config.file={EXAMPLE}",
        f"--storage.path={folder}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--cluster.listen-address=",
    ]
    log = folder / "log"
    with log.open("w") as output:
        process = subprocess.Popen(words, stdout=output, stderr=output)

    def ask(method: str, labels: list[dict[str, str]] | None = None) -> Any:
        body = json.dumps([{"labels": one} for one in labels]).encode() if labels else None
        request = urllib.request.Request(  # http, and here
            f"http://127.0.0.1:{port}/api/v2/alerts",
            data=body,
            method=method,
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
            return json.loads(answer.read() or "null")

    try:
        _until_it_answers(process, ask, log)
        yield ask
    finally:
        process.terminate()
        process.wait(20)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _until_it_answers(process: subprocess.Popen[bytes], ask: Callable[..., Any], log: Path) -> None:
    end = time.monotonic() + ANSWERS_WITHIN_S
    while process.poll() is None and time.monotonic() < end:
        try:
            ask("GET")
        except URLError:
            time.sleep(0.05)
        else:
            return
    pytest.fail(f"Alertmanager does not answer: {log.read_text('utf-8')}")


def _until_silent(ask: Callable[..., Any], labels: dict[str, str]) -> list[dict[str, str]]:
    """Wait until an alert is inhibited, and return all that are."""
    end = time.monotonic() + ANSWERS_WITHIN_S
    while time.monotonic() < end:
        silent = [one["labels"] for one in ask("GET") if one["status"]["inhibitedBy"]]
        if labels in silent:
            return silent
        time.sleep(0.05)
    pytest.fail(f"{labels} is not inhibited")
