"""``describe -o json``: the fields are those that the reference lists."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.view.conftest import JOB, period
from tests.view.test_output import REFERENCE, documented

if TYPE_CHECKING:
    from tests.view.tracked import Tracked


def test_the_reference_lists_the_fields_of_a_period(credit: Tracked) -> None:
    credit.hold(1, reason="bank holiday")
    credit.launch(11, 1, "a-job")
    told = credit.call("describe", f"{JOB}:{period(11)}", "-o", "json").json
    assert fields("describe NS/NAME:PERIOD") == list(told)
    assert list(told["period"]) == documented("periods")
    assert told["period"]["state"] == "missing"
    for name in ("launches", "events", "holds"):
        assert inner("describe NS/NAME:PERIOD", name) == list(told[name][0]), name
    assert told["what_now"][0].startswith(f"k8sjob release {JOB}")


def test_the_reference_lists_the_fields_of_a_job(credit: Tracked) -> None:
    credit.passed("13T18:59:00")
    told = credit.call("describe", JOB, "-o", "json").json
    assert fields("describe NS/NAME") == list(told)
    assert list(told["job"]) == documented("jobs")
    assert inner("describe NS/NAME", "versions") == list(told["versions"][0])
    flat = ["last", "last_complete", *told["reconciler"]["last"], "usual_gap_s", "stale"]
    assert inner("describe NS/NAME", "reconciler") == [*flat, "blind_since", "unstarted_since"]
    assert set(told["limits"]) <= set(inner("describe NS/NAME", "limits"))
    assert told["limits"]["catch_up_max_count"] == 3
    assert [line["period"] for line in told["unfinished"]] == [period(11), period(13)]
    assert credit.call("describe", JOB, "-o", "json").json["versions"][0] == {
        "n": 1,
        "schedule": "0 1 * * *",
        "time_zone": "Europe/Rome",
        "suspended": False,
        "earliest_from": "2026-09-01T00:00:00Z",
        "from": "2026-09-01T00:00:00Z",
        "earliest_to": "2026-09-09T10:00:00Z",
        "to": "2026-09-09T10:05:00Z",
    }


def test_a_job_that_nobody_tracks_has_no_reconciler(credit: Tracked) -> None:
    credit.know("ops/plain")
    told: Any = credit.call("describe", "ops/plain", "-o", "json").json
    assert (told["reconciler"], told["versions"]) == (None, [])


def table(what: str) -> dict[str, str]:
    """Return the rows of a table of the reference: field, and what it says of it."""
    section = REFERENCE.partition("\n## Lists as JSON\n")[2].partition("\n## ")[0]
    (body,) = re.findall(rf"### `{what}`\n(.*?)(?=\n### |\Z)", section, re.DOTALL)
    return dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", body, re.MULTILINE))


def fields(what: str) -> list[str]:
    """Return the fields of an object."""
    return list(table(what))


def inner(what: str, name: str) -> list[str]:
    """Return the fields that an object in it has."""
    found = re.findall(r"`(\w+)`", table(what)[name].partition("; it began")[0])
    return list(dict.fromkeys(found))
