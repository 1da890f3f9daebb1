"""What alerts say, and what the pages say of them: names, commands, runbooks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.alerts.commands import fault_of, in_description, in_page
from tests.alerts.rulebook import ROOT, RUNBOOKS, alert_names, alerts, cases, rules
from tests.alerts.selectors import faults

if TYPE_CHECKING:
    from collections.abc import Iterator

BASE = "https://k8sjob.example/runbooks/"
PAGE = ROOT / "docs" / "alerts.md"
#: Runbooks of what no alert of ours is about.
OTHERS = {"point-in-time-restore", "failover", "ledger-full", "clock-wrong"}
PARTS = ["What it means", "Look", "Do", "Over"]
SEVERITIES = {"info", "warning", "critical", "none"}
OF_JOBS = list(
    dict.fromkeys(
        alert["alert"]
        for alert in alerts()
        if "cronjob" in alert["expr"] and alert["labels"]["severity"] != "none"
    )
)
#: A period by its instant; and what is said where there is none, or it has no instant.
NAMED = re.compile(r"period[^.]* (?:of|is) \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
UNNAMED = re.compile(
    r"Its one period is |This job runs only once|No period is missing, due or running now"
)


def first(name: str) -> dict[str, dict[str, str]]:
    return next(alert for alert in alerts() if alert["alert"] == name)


def severity(alert: dict[str, dict[str, str]]) -> str:
    """Return the severity of a rule; that of a job whose CronJob has none."""
    text = alert["labels"]["severity"]
    found = re.fullmatch(
        r"\{\{ with \$labels\.severity \}\}\{\{ \. \}\}\{\{ else \}\}(\w+)\{\{ end \}\}", text
    )
    return found[1] if found else text


def test_each_rule_asks_for_what_the_exporter_shows() -> None:
    assert [fault for rule in rules() for fault in faults(rule["expr"])] == []


def test_each_recorded_series_that_is_asked_for_is_recorded_before() -> None:
    recorded: set[str] = set()
    for rule in rules():
        recorded |= {rule["record"]} if "record" in rule else set()
        assert set(re.findall(r"k8sjob:\w+", rule["expr"])) <= recorded, rule


@pytest.mark.parametrize("name", alert_names())
def test_each_alert_says_what_is_wrong_and_where_to_read_on(name: str) -> None:
    for alert in (alert for alert in alerts() if alert["alert"] == name):
        said = alert["annotations"]
        assert set(said) == {"summary", "description", "runbook_url"}
        assert said["summary"].endswith(".")
        if "cronjob" in str(alert["expr"]) and severity(alert) != "none":
            assert "$value" in said["description"], "an instant, or how many"
        assert said["runbook_url"] == f"{BASE}{name}.md"
        assert severity(alert) in SEVERITIES


def expected(name: str) -> Iterator[str]:
    """Yield the descriptions that the cases expect of an alert."""
    for case in cases().values():
        for question in case.group.get("alert_rule_test", []):
            if question["alertname"] == name:
                for alert in question["exp_alerts"]:
                    yield alert["exp_annotations"]["description"]


@pytest.mark.parametrize("name", OF_JOBS)
def test_each_alert_about_a_job_names_the_period(name: str) -> None:
    """As Prometheus writes it: test_cases compares the texts."""
    said = list(expected(name))
    assert any(NAMED.search(text) for text in said)
    assert [text for text in said if not (NAMED.search(text) or UNNAMED.search(text))] == []


@pytest.mark.parametrize("name", OF_JOBS)
def test_what_a_description_looks_up_is_of_its_own_job(name: str) -> None:
    text = first(name)["annotations"]["description"]
    for query, values in re.findall(r'printf "([^"]+)" ([^|]+) \| query', text):
        labels = re.findall(r"(\w+)='%s'", query)
        assert labels == ["cluster", "ledger", "namespace", "cronjob"]
        assert values.split() == [f"$labels.{label}" for label in labels]


@pytest.mark.parametrize("name", alert_names())
def test_the_commands_of_an_alert_can_be_pasted(name: str) -> None:
    lines = list(in_description(first(name)["annotations"]["description"]))
    assert lines
    assert [(line, fault) for line in lines if (fault := fault_of(line))] == []


def test_each_alert_has_a_runbook_and_each_runbook_its_trouble() -> None:
    assert {path.stem for path in RUNBOOKS.glob("*.md")} == {*alert_names(), *OTHERS}


@pytest.mark.parametrize("name", sorted({*alert_names(), *OTHERS}))
def test_each_runbook_has_the_four_parts(name: str) -> None:
    text = (RUNBOOKS / f"{name}.md").read_text("utf-8")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == PARTS
    if name not in OTHERS:
        assert text.startswith(f"# {name}\n")


@pytest.mark.parametrize("name", ["alerts", *sorted({*alert_names(), *OTHERS})])
def test_the_commands_of_a_page_are_ones_that_there_are(name: str) -> None:
    path = PAGE if name == "alerts" else RUNBOOKS / f"{name}.md"
    lines = list(in_page(path.read_text("utf-8")))
    assert lines or name == "alerts"
    assert [(line, fault) for line in lines if (fault := fault_of(line))] == []


def test_a_command_that_there_is_not_would_be_found() -> None:
    page = "```console\n$ K8SJOB_LEDGER=x k8sjob get periods -A --stat missing | wc -l\n```\n"
    [line] = in_page(page)
    assert line == "k8sjob get periods -A --stat missing"
    assert str(fault_of(line)).startswith("No such option")
    assert fault_of("k8sjob gett jobs") == "there is no command ['gett']"


def test_the_page_lists_each_alert_as_it_is() -> None:
    table = PAGE.read_text("utf-8").partition("| alert |")[2].splitlines()[2:]
    rows = []
    for line in table:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    expected = [
        [f"[{alert['alert']}](runbooks/{alert['alert']}.md)", severity(alert), alert.get("for", "")]
        for alert in alerts()
    ]
    assert [[row[0], row[1], row[3]] for row in rows] == expected
    assert all(row[2] for row in rows)


def test_the_page_names_the_numbers_of_the_rules() -> None:
    """The numbers that people would change are told where they look first."""
    text = PAGE.read_text("utf-8")
    expressions = " ".join(rule["expr"] for rule in rules())
    for number, words in {
        "86400": "a day",
        ">= 10": "ten",
        ">= 3": "three",
        "time() - 900": "15 minutes",
        "time() - 600": "10 minutes",
        "time() - 21600": "6 hours",
    }.items():
        assert number in expressions
        assert words in text, words
