"""What a covered CronJob has that the plain one had not, and nothing else."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from k8sjob.errors import EXIT_TABLE
from k8sjob.manifest.inject.record import Mode
from k8sjob.manifest.lint import Report, lint
from tests.fix_chart import KUBERNETES, validate
from tests.inject.examples import COMMENTED
from tests.inject.forms import EXAMPLES
from tests.inject.injected import (
    NOW,
    covered,
    cronjobs,
    emptied,
    objects,
    told,
    without,
)
from tests.manifest.manifests import cronjob

PERMANENT = [code for code, meaning in EXIT_TABLE.items() if meaning.permanent]
MODES = pytest.mark.parametrize("mode", Mode)
EACH = pytest.mark.parametrize("text", EXAMPLES.values(), ids=EXAMPLES.keys())
ASKED: dict[str, Any] = {"annotations": {"cycle": "day", "owner": "a, b: c #d"}, "claims": True}


def labels_of_pods(cron: Any) -> Any:
    """Return the labels that the Pods of a CronJob get."""
    return cron["spec"]["jobTemplate"]["spec"]["template"].get("metadata", {}).get("labels")


@MODES
@EACH
def test_there_is_nothing_more_and_nothing_less(text: str, mode: Mode) -> None:
    before, after = objects(text), objects(covered(text, mode=mode, **ASKED))
    assert len(before) == len(after)
    for one, then in zip(before, after, strict=True):
        if one["kind"] != "CronJob":
            assert then == one
            continue
        if "daily-credit" in str(labels_of_pods(then)):  # they are the CronJob's own, by an alias
            del labels_of_pods(then)["k8sjob.io/enabled"]
        assert without(then, mode) == emptied(one)


@MODES
@EACH
def test_kubernetes_of_every_version_takes_it(text: str, mode: Mode) -> None:
    after = [one for one in cronjobs(covered(text, mode=mode, **ASKED)) if "labels" in str(one)]
    assert after
    for one in after:  # what kubectl prints has more than one may write
        one.pop("status", None)
        one["metadata"].pop("creationTimestamp", None)
        one["spec"]["jobTemplate"].get("metadata", {}).pop("creationTimestamp", None)
        one.setdefault("kind", "CronJob")
        one.setdefault("apiVersion", "batch/v1")
    for version in KUBERNETES:
        assert validate(after, version) == []


@MODES
@EACH
def test_lint_finds_nothing_new(text: str, mode: Mode) -> None:
    def found(of: str) -> Counter[tuple[str, str]]:
        report = Report()
        lint(report, "f", of.replace("\r\n", "\n").replace("\r", "\n").replace("\ufeff", ""), NOW)
        assert report.unread == []
        return Counter((one.rule, one.object) for one in report.findings)

    assert found(covered(text, mode=mode, **ASKED)) <= found(text)


# --------------------------------------------------------------------------------- the CronJob


def test_the_reconciler_finds_it_and_reads_what_was_asked() -> None:
    (one,) = cronjobs(covered(COMMENTED, **ASKED))
    assert one["metadata"]["labels"]["k8sjob.io/enabled"] == "true"
    assert one["metadata"]["annotations"]["k8sjob.io/cycle"] == "day"
    assert one["metadata"]["annotations"]["k8sjob.io/owner"] == "a, b: c #d"


def test_what_says_the_same_already_is_left() -> None:
    text = cronjob(
        metadata="annotations: {k8sjob.io/owner: me}\nlabels: {k8sjob.io/enabled: 'true'}"
    )
    made = covered(text, annotations={"owner": "me"})
    assert "k8sjob.io/owner: me, k8sjob.io/injected" in made
    assert "label" not in made.split("k8sjob.io/injected", 1)[1].split("\n")[0]


def test_a_time_zone_stands_below_the_schedule_and_only_where_it_was_asked_for() -> None:
    text = COMMENTED.replace("  timeZone: Europe/Rome\n", "")
    assert "timeZone" not in covered(text)
    assert any("no timeZone" in warning for warning in told(text).warnings)
    there = covered(text, time_zone="Europe/Berlin")
    assert "# after the feed\n  timeZone: Europe/Berlin\n" in there
    assert covered(there) == there
    assert not any("timeZone" in warning for warning in told(text, time_zone="Etc/UTC").warnings)
    assert covered(COMMENTED, time_zone="Europe/Rome") == covered(COMMENTED)


def test_a_label_that_says_no_is_left_and_told() -> None:
    made = told(cronjob(metadata="labels: {k8sjob.io/enabled: 'false'}"))
    assert any("'false' and was left" in warning for warning in made.warnings)


# ------------------------------------------------------------------------------- the exit codes


def test_the_policy_has_the_codes_of_the_table_for_that_container() -> None:
    (one,) = cronjobs(covered(COMMENTED))
    assert one["spec"]["jobTemplate"]["spec"]["podFailurePolicy"] == {
        "rules": [
            {
                "action": "FailJob",
                "onExitCodes": {"containerName": "main", "operator": "In", "values": PERMANENT},
            }
        ]
    }
    (other,) = cronjobs(covered(COMMENTED, mode=Mode.SIDECAR))
    (rule,) = other["spec"]["jobTemplate"]["spec"]["podFailurePolicy"]["rules"]
    assert rule["onExitCodes"]["containerName"] == "k8sjob-resolve"  # the others' codes are theirs


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"restart": "restartPolicy: OnFailure"}, "restartPolicy is OnFailure"),
        ({"restart": "dnsPolicy: Default"}, "restartPolicy is not set"),
        (
            {"job": "podReplacementPolicy: TerminatingOrFailed"},
            "podReplacementPolicy is not Failed",
        ),
        ({"job": "podFailurePolicy: {rules: []}"}, "podFailurePolicy is there already"),
    ],
)
def test_where_kubernetes_takes_no_policy_none_is_put_in(changes: dict[str, str], why: str) -> None:
    text = cronjob(**changes)
    assert covered(text).count("podFailurePolicy") == text.count("podFailurePolicy")
    assert any(why in warning for warning in told(text).warnings)


# -------------------------------------------------------------------------------- what is told


def test_what_lint_finds_is_told_and_not_put_right() -> None:
    text = COMMENTED.replace("activeDeadlineSeconds: 3600", "backoffLimit: 0").replace(
        "backoffLimit: 3\n", "parallelism: 1\n"
    )
    warnings = " ".join(told(text).warnings)
    assert "(no-deadline)" in warnings
    assert "(backoff-limit-zero)" in warnings
    assert "activeDeadlineSeconds" not in covered(text)


def test_the_line_of_each_is_that_of_what_came_in() -> None:
    made = told(COMMENTED)
    assert (made.line, made.title, made.verb) == (3, "billing/daily-credit", "covered")
    assert told(covered(COMMENTED), claims=True).verb == "covered anew"
