from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from k8sjob.doctor.line import Status
from k8sjob.doctor.places import KNOWN, Zones, check_environment, check_settings, check_zones
from k8sjob.doctor.purpose import Purpose

if TYPE_CHECKING:
    from tests.doctor.conftest import Doctor

OK, WARN, FAIL = Status
REFERENCE = (Path(__file__).parents[2] / "docs" / "reference.md").read_text("utf-8")
POD = {
    "KUBERNETES_SERVICE_HOST": "10.0.0.1",
    "K8SJOB_CRONJOB": "daily-credit",
    "K8SJOB_NAMESPACE": "billing",
    "K8SJOB_JOB_NAME": "daily-credit-29817615",
    "K8SJOB_JOB_UID": "5b8b4d6e-0000-0000-0000-000000000000",
}


# --------------------------------------------------------------------------------- time zones


def test_the_rules_of_zones_are_here(doctor: Doctor) -> None:
    line = doctor.ask().one("zones")

    assert line.status is OK
    assert re.match(r"tzdata 20\d\d[a-z], Europe/Berlin is in it", line.seen)


def test_without_tzdata_it_fails(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tzdata", None)

    line = doctor.ask().one("zones")

    assert (line.status, line.do) == (FAIL, "pip install tzdata")


def test_a_tzdata_that_lacks_its_zones_fails() -> None:
    line = check_zones(Zones("2026f", "Europe/Berlin is not in it"), {})

    assert line.status is FAIL


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({}, "reads the system's first"),
        ({"PYTHONTZPATH": ""}, "PYTHONTZPATH is empty, so"),
        ({"PYTHONTZPATH": "/usr/share/zoneinfo"}, "reads /usr/share/zoneinfo first"),
    ],
)
def test_what_a_target_reads_is_told(env: dict[str, str], words: str) -> None:
    line = check_zones(Zones("2026f"), env)

    assert line.status is OK
    assert words in line.seen


# --------------------------------------------------------------------------------- the Pod


def test_a_pod_of_a_job_has_all_that_it_needs() -> None:
    line = check_environment(POD)

    assert (line.status, line.seen) == (OK, "Job billing/daily-credit-29817615")


@pytest.mark.parametrize("name", [name for name in POD if name.startswith("K8SJOB_")])
def test_what_is_missing_is_a_warning_with_the_line_to_add(name: str) -> None:
    line = check_environment({n: v for n, v in POD.items() if n != name})

    assert line.status is WARN
    assert line.seen.startswith(f"{name} not set")
    assert f"{{name: {name}, value" in line.do


def test_an_absent_label_arrives_as_an_empty_variable() -> None:
    line = check_environment(POD | {"K8SJOB_JOB_NAME": "", "K8SJOB_JOB_UID": ""})

    assert line.status is OK
    assert line.seen == "K8SJOB_JOB_NAME, K8SJOB_JOB_UID set, and empty here: this Pod is of no Job"


def test_a_context_has_the_period() -> None:
    line = check_environment({"KUBERNETES_SERVICE_HOST": "x", "K8SJOB_CONTEXT": "/k8sjob"})

    assert (line.status, line.seen) == (OK, "the period is in the context at /k8sjob")


def test_a_context_that_is_not_there_is_a_warning(doctor: Doctor) -> None:
    (line,) = doctor.ask(KUBERNETES_SERVICE_HOST="", K8SJOB_CONTEXT="/nowhere").of("environment")

    assert line.status == WARN
    assert line.seen.startswith("there is no context at /nowhere")
    assert "k8sjob resolve --write" in line.do


def test_outside_a_pod_nothing_is_missing() -> None:
    assert check_environment({}).status is OK


@pytest.mark.parametrize("purpose", ["reconcile", "backfill", "serve", "migrate"])
def test_only_a_run_has_a_period_to_learn(doctor: Doctor, purpose: str) -> None:
    assert doctor.ask("--for", purpose, KUBERNETES_SERVICE_HOST="").of("environment") == []


def test_the_lines_to_add_are_those_of_the_documents() -> None:
    page = (Path(__file__).parents[2] / "docs" / "periods.md").read_text("utf-8")
    do = check_environment({"KUBERNETES_SERVICE_HOST": "x"}).do

    for line in re.findall(r"\{name: (?!K8SJOB_CRONJOB).*?\}\}\}", do):
        assert line in page


# ------------------------------------------------------------------------------- variables


def test_variables_that_can_be_read_are_right() -> None:
    env = {
        "K8SJOB_CYCLE": "day",
        "K8SJOB_TIME_ZONE": "Europe/Berlin",
        "K8SJOB_LOCK_TIMEOUT": "5s",
        "K8SJOB_FAIL_ON": "blocked,awaiting",
        "K8SJOB_OUTPUT_BYTES": "0",
        "K8SJOB_STOP_GRACE": "10s",
        "K8SJOB_MANUAL_RUNS": "oldest-missing",
        "K8SJOB_MAX_LATENESS": "2h",
        "K8SJOB_LOG_FORMAT": "text",
        "K8SJOB_JOB": "billing/daily-credit",
        "K8SJOB_PERIOD": "2026-09-13",
    }

    (line,) = check_settings(env, Purpose.RUN)

    assert (line.status, line.seen) == (
        OK,
        f"K8SJOB_ variables that are set: {len(env)}, all are read",
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("K8SJOB_CYCLE", "dayly"),
        ("K8SJOB_TIME_ZONE", "Europe/Berlinn"),
        ("K8SJOB_LOCK_TIMEOUT", "5"),
        ("K8SJOB_FAIL_ON", "blokked"),
        ("K8SJOB_OUTPUT_BYTES", "2k"),
        ("K8SJOB_STOP_GRACE", "soon"),
        ("K8SJOB_MANUAL_RUNS", "any"),
        ("K8SJOB_MAX_LATENESS", "2 hours"),
        ("K8SJOB_LOG_FORMAT", "xml"),
        ("K8SJOB_JOB", "Billing"),
        ("K8SJOB_CRONJOB", "Daily"),
        ("K8SJOB_PERIOD", "2026-13-01"),
    ],
)
def test_one_that_a_run_cannot_read_fails(name: str, value: str) -> None:
    (line,) = check_settings({name: value}, Purpose.RUN)

    assert line.status is FAIL
    assert value.partition(" ")[0].lower() in line.seen.lower()


def test_what_only_a_run_reads_is_nothing_to_others() -> None:
    (line,) = check_settings({"K8SJOB_CYCLE": "dayly"}, Purpose.SERVE)

    assert line.status is OK


def test_a_name_that_nothing_reads_is_a_warning_with_the_nearest(doctor: Doctor) -> None:
    line = doctor.ask(K8SJOB_DSNFILE="/x").one("settings")

    assert line.status is WARN
    assert line.seen == "K8SJOB_DSNFILE is read by nothing"
    assert line.do == "is K8SJOB_DSN_FILE meant?"


@pytest.mark.parametrize(
    "name",
    [
        "K8SJOB_SERVICE_HOST",
        "K8SJOB_PORT",
        "K8SJOB_EXPORTER_SERVICE_HOST",
        "K8SJOB_EXPORTER_SERVICE_PORT",
        "K8SJOB_EXPORTER_SERVICE_PORT_HTTP",
        "K8SJOB_EXPORTER_PORT",
        "K8SJOB_EXPORTER_PORT_8080_TCP",
        "K8SJOB_EXPORTER_PORT_8080_TCP_PROTO",
    ],
)
def test_what_kubernetes_sets_for_a_service_is_no_setting(name: str) -> None:
    (line,) = check_settings({name: "10.0.0.7"}, Purpose.RUN)

    assert line.status is OK


def test_what_is_known_is_what_the_reference_has() -> None:
    assert set(re.findall(r"K8SJOB_[A-Z_]+", REFERENCE)) == KNOWN
