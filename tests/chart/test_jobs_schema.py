"""What the schema of values takes is what k8sjob and Kubernetes read."""

from __future__ import annotations

import json
import re
from typing import Any
from zoneinfo import available_timezones

import pytest

from k8sjob.cycle import Cycle
from k8sjob.duration import parse_duration
from k8sjob.errors import InvalidSchedule, UsageError
from k8sjob.policy import CatchUp, ManualRuns
from k8sjob.schedule.schedule import parse
from k8sjob.states import Outcome
from tests.chart.jobs import FOLDER, RUN, cronjob, refusal

SCHEMA: dict[str, Any] = json.loads((FOLDER / "values.schema.json").read_text("utf-8"))
DEFAULTS: dict[str, Any] = SCHEMA["properties"]["defaults"]["properties"]
JOB: dict[str, Any] = SCHEMA["properties"]["jobs"]["additionalProperties"]

TAKEN = [
    "* * * * *",
    "0 2 * * *",
    "*/15 * * * *",
    "0,30 8-18/2 * * mon-fri",
    "5 4 1,15 jan-jun ?",
    "0 0 ? * SUN",
    "30 04 01 Feb *",
    "7-59/10 23 31 12 6",
    "0   2\t*  *  *",
    *(f"@{word}" for word in ("hourly", "daily", "midnight", "weekly", "monthly", "yearly")),
    "@annually",
]
REFUSED = [
    "",
    "0 2 * *",
    "0 0 2 * * *",
    " 0 2 * * *",
    "60 2 * * *",
    "0 24 * * *",
    "0 2 0 * *",
    "0 2 32 * *",
    "0 2 * 13 *",
    "0 2 * * 7",
    "0 2 L * *",
    "0 2 15W * *",
    "0 2 * * 5#3",
    "H 2 * * *",
    "*/0 2 * * *",
    "0 2 * * monday",
    "TZ=UTC 0 2 * * *",
    "CRON_TZ=Europe/Rome 0 2 * * *",
    "CRON_TZ=Europe/Rome @daily",
    "@reboot",
    "@every 90m",
    "@Daily ",
]


@pytest.mark.usefixtures("helm")
@pytest.mark.parametrize("text", TAKEN)
def test_a_schedule_that_is_taken_is_one_that_the_controller_reads(text: str) -> None:
    assert cronjob(RUN | {"schedule": text})["spec"]["schedule"] == text
    parse(text, "Etc/UTC")


@pytest.mark.usefixtures("helm")
@pytest.mark.parametrize("text", REFUSED)
def test_a_schedule_that_the_controller_refuses_is_refused_here(text: str) -> None:
    message = refusal(RUN | {"schedule": text})
    assert re.search(r"/jobs/credit/schedule|jobs\.credit: schedule", message)


@pytest.mark.parametrize("text", ["TZ=UTC 0 2 * * *", "CRON_TZ=Europe/Rome @daily", "0 2 * *"])
def test_an_editor_that_knows_the_schema_refuses_a_zone_in_the_schedule(text: str) -> None:
    pattern = JOB["properties"]["schedule"]["pattern"]
    assert re.search(pattern, "0 2 * * *")
    assert re.search(pattern, text) is None
    assert len(pattern) < 80  # a person reads it in the message


def test_what_is_refused_is_what_the_controller_refuses_but_for_every() -> None:
    read = []
    for text in REFUSED:
        try:
            parse(text, "Etc/UTC")
        except InvalidSchedule:
            continue
        read.append(text)
    # Room before and behind does no harm there, and none is needed; @every has no fixed instants.
    assert set(read) <= {"@every 90m", " 0 2 * * *", "@Daily "}


def test_every_zone_of_the_database_is_taken() -> None:
    zone = re.compile(DEFAULTS["timeZone"]["pattern"])
    known = available_timezones() - {"localtime", "posixrules"}
    assert [name for name in sorted(known) if not zone.search(name)] == []
    for wrong in ("europe/rome", "Europe/", "UTC ", "+01:00", "../etc", "Europe/Rome;"):
        assert zone.search(wrong) is None, wrong


@pytest.mark.parametrize(
    "text", ["30s", "5m", "2h", "7d", "500ms", "0s", "1", "", "5 m", "1h30m", "-5m", "5M", "1.5h"]
)
@pytest.mark.parametrize("name", ["grace", "maxLateness", "lockTimeout", "stopGrace"])
def test_durations_are_those_that_k8sjob_reads(name: str, text: str) -> None:
    taken = re.search(DEFAULTS[name]["pattern"], text) is not None
    if not text:  # the default, where there is one
        assert taken is (name != "stopGrace")
        return
    try:
        parse_duration(text)
    except UsageError:
        assert not taken
    else:
        assert taken


def test_words_are_those_of_k8sjob() -> None:
    assert set(DEFAULTS["cycle"]["enum"]) == {"", *Cycle}
    assert set(DEFAULTS["catchUp"]["enum"]) == {"", *CatchUp}
    assert set(DEFAULTS["manualRuns"]["enum"]) == {"", *ManualRuns}
    allowed = {o for o in Outcome if not o.exit_code and o is not Outcome.APPLIED}
    assert set(DEFAULTS["failOn"]["items"]["enum"]) == allowed


def test_a_job_may_say_all_that_defaults_may_and_what_only_it_knows() -> None:
    own = {"schedule", "target", "command", "args"}
    assert JOB["properties"].keys() == DEFAULTS.keys() | own
    assert JOB["required"] == ["schedule"]


def test_there_is_no_pattern_that_helm_cannot_read() -> None:
    """Go's regular expressions look neither ahead nor back."""
    assert "(?" not in json.dumps(SCHEMA)
