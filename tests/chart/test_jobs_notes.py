from __future__ import annotations

import re
import shlex
from typing import Any

import pytest

from tests.chart.jobs import RUN, SIDECAR, every_ci, rendered
from tests.fix_chart import render, values_of

pytestmark = pytest.mark.usefixtures("helm")

QUIET = RUN | {"grace": "1h", "owner": "payments"}
LOUD: list[tuple[dict[str, Any], str]] = [
    ({"concurrencyPolicy": "Allow"}, "concurrencyPolicy: Allow"),
    ({"concurrencyPolicy": "Replace"}, "concurrencyPolicy: Replace"),
    ({"backoffLimit": 0}, "backoffLimit: 0"),
    ({"grace": ""}, "grace is not set"),
    ({"owner": ""}, "owner is not set"),
    ({"tracked": False}, "tracked: false"),
    ({"suspend": True}, "suspend: true"),
    ({"catchUp": "every"}, "reconciler.catchUp.enabled"),
    ({"catchUp": "latest"}, "reconciler.catchUp.enabled"),
    ({"target": None, "command": ["./a"], "recordOnSuccess": True}, "recordOnSuccess: true"),
    ({"target": None, "mode": "sidecar", "shell": False}, "shell: false"),
    ({"activeDeadlineSeconds": 30}, "activeDeadlineSeconds is less"),
    ({"podSecurityContext": {"runAsNonRoot": False}}, "may run as root"),
    ({"securityContext": {"readOnlyRootFilesystem": False}}, "may run as root"),
]


def _job(change: dict[str, Any]) -> dict[str, Any]:
    return {key: one for key, one in (QUIET | change).items() if key != "target" or one}


def test_a_job_about_which_nothing_has_to_be_said_has_no_warning() -> None:
    assert "WARNINGS" not in rendered(QUIET).notes


@pytest.mark.parametrize(("change", "said"), LOUD)
def test_what_is_allowed_and_may_hurt_is_said_loudly(change: dict[str, Any], said: str) -> None:
    notes = rendered(_job(change)).notes
    _, warnings = notes.split("WARNINGS\n")
    assert len(re.findall(r"^\* ", warnings, re.MULTILINE)) == 1
    assert said in warnings
    assert warnings.rstrip().endswith("    credit")


def test_a_warning_is_said_once_with_all_jobs_that_it_is_about() -> None:
    notes = rendered(RUN | {"owner": "payments"}, RUN, QUIET).notes
    assert notes.count("grace is not set") == 1
    assert "    credit, credit-1\n" in notes


def test_the_next_commands_can_be_pasted() -> None:
    notes = rendered(RUN | {"schedule": "*/15 * * * *"}).notes
    commands = [
        shlex.split(line, comments=True) for line in re.findall(r"^  (k\S.*)", notes, re.MULTILINE)
    ]
    assert ["k8sjob", "preview", "*/15 * * * *", "--time-zone", "Etc/UTC"] in commands
    assert [words[:5] for words in commands if words[0] == "kubectl"] == [
        ["kubectl", "get", "cronjob", "-n", "shop"],
        ["kubectl", "k8sjob", "get", "jobs", "-n"],
    ]
    assert "helm test billing -n shop" in notes
    assert "helm test" not in rendered(RUN, tests={"enabled": False}).notes


@every_ci
def test_notes_name_each_job_with_its_schedule(file: Any) -> None:
    found = render("k8sjob-jobs", values_of(file), name="billing", namespace="shop")
    for cron in found.all("CronJob"):
        spec = cron["spec"]
        line = f"  {cron['metadata']['name']}: {spec['schedule']} in {spec['timeZone']}"
        assert line in found.notes


def test_a_sidecar_job_is_as_quiet() -> None:
    assert "WARNINGS" not in rendered(SIDECAR | {"grace": "1h", "owner": "payments"}).notes
