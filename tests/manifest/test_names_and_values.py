"""What is found in labels, annotations and the environment of containers."""

from __future__ import annotations

import pytest

from tests.manifest.manifests import CRONJOB, cronjob, found, job, message, rules


def annotated(*lines: str) -> str:
    return cronjob(metadata="annotations:\n" + "".join(f"  {line}\n" for line in lines))


def labelled(*lines: str) -> str:
    return annotated(*lines).replace("annotations:", "labels:")


@pytest.mark.parametrize(
    "line",
    [
        "k8sjob.io/grace: 5 minutes",
        "k8sjob.io/catch-up: all",
        'k8sjob.io/catch-up-max-count: "0"',
        "k8sjob.io/cycle: daily",
        "k8sjob.io/manual-runs: oldest",
        "k8sjob.io/max-lateness: 1w",
        'k8sjob.io/owner: " "',
        "k8sjob.io/job: Billing/credit",
        "k8sjob.io/job: billing/credit/part",
        "k8sjob.io/job: under_score",
        "k8sjob.io/retention:",
    ],
)
def test_an_annotation_that_does_not_parse_is_told_in_its_own_line(line: str) -> None:
    text = annotated("example.com/one: x", line, "example.com/two: y")
    assert found(text) == [(7, "bad-value")]
    assert line.partition(":")[0] in message(text)


@pytest.mark.parametrize(
    "line",
    [
        "k8sjob.io/job: billing/credit",
        "k8sjob.io/job: credit",
        "k8sjob.io/grace: 5m",
        'k8sjob.io/catch-up-max-count: "5"',
        "k8sjob.io/cycle: week",
        "k8sjob.io/ledger: shop",
        "example.com/anything: at all",
    ],
)
def test_an_annotation_that_parses_is_not(line: str) -> None:
    assert rules(annotated(line)) == []


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("5", 'is the number 5, and Kubernetes takes texts only: write "5"'),
        ("0600", 'is the number 0600, and Kubernetes takes texts only: write "384"'),
        ("1.5", "is the number 1.5, and Kubernetes takes texts only: write it in quotes"),
        ("on", "is the boolean on, and Kubernetes takes texts only: write it in quotes"),
        ("[a]", "is a list, and Kubernetes takes texts only: write it in quotes"),
    ],
)
def test_a_value_that_is_no_text_is_told_with_its_quotes(value: str, told: str) -> None:
    text = annotated(f"k8sjob.io/catch-up-max-count: {value}")
    assert rules(text) == ["bad-value"]
    assert told in message(text)


@pytest.mark.parametrize("value", ['"True"', '"yes"', '"1"', "enabled", "true"])
def test_the_label_that_enables_is_true_or_false_letter_by_letter(value: str) -> None:
    assert rules(labelled(f"k8sjob.io/enabled: {value}")) == ["bad-value"]


@pytest.mark.parametrize("value", ["true", "false"])
def test_the_label_that_enables_needs_its_quotes(value: str) -> None:
    assert rules(labelled(f'k8sjob.io/enabled: "{value}"')) == []


def test_an_unknown_name_is_told_with_the_nearest_known_one() -> None:
    assert message(annotated("k8sjob.io/catchup: every")).endswith("write k8sjob.io/catch-up")
    assert message(annotated("k8sjob.io/Cycle: day")).endswith("write k8sjob.io/cycle")
    assert message(annotated("k8sjob.io/xyzzy: day")).endswith("take it away")


def test_an_unknown_name_is_told_in_templates_and_on_jobs_too() -> None:
    line = "metadata: {annotations: {k8sjob.io/nothing: x}}"
    assert rules(cronjob(template=line)) == ["unknown-name"]
    assert rules(cronjob(pods=line)) == ["unknown-name"]
    assert rules(job(metadata="annotations: {k8sjob.io/nothing: x}")) == ["unknown-name"]


def test_names_of_others_are_their_own() -> None:
    assert rules(annotated("k8sjob.iox/a: x", "a.k8sjob.io/b: 5", "k8sjob: x")) == []


@pytest.mark.parametrize(
    "name",
    [
        "k8sjob.io/period",
        "k8sjob.io/supersedes",
        "batch.kubernetes.io/cronjob-scheduled-timestamp",
        "cronjob.kubernetes.io/instantiate",
    ],
)
@pytest.mark.parametrize("place", ["template", "pods"])
def test_what_belongs_on_one_job_is_told_in_a_template(name: str, place: str) -> None:
    text = cronjob(**{place: f'metadata:\n  annotations:\n    {name}: "2026-09-13"'})
    assert rules(text) == ["job-only"]
    assert name in text.splitlines()[found(text)[0][0] - 1]


@pytest.mark.parametrize("name", ["k8sjob.io/backfill", "k8sjob.io/cronjob"])
def test_labels_that_belong_on_one_job_are_told_too(name: str) -> None:
    assert rules(cronjob(template=f'metadata: {{labels: {{{name}: "true"}}}}')) == ["job-only"]


def test_a_backfills_own_job_has_them_rightly() -> None:
    text = job(
        metadata="""\
        labels: {k8sjob.io/backfill: "true", k8sjob.io/cronjob: credit}
        annotations: {k8sjob.io/job: billing/credit, k8sjob.io/period: "2026-09-13"}
        """
    )
    assert rules(text) == []
    assert rules(text.replace("09-13", "9-13")) == ["bad-value"]
    assert rules(text.replace('backfill: "true"', 'backfill: "yes"')) == ["bad-value"]


def test_on_the_cronjob_itself_they_have_no_effect() -> None:
    text = annotated('k8sjob.io/period: "2026-09-13"')
    assert rules(text) == ["wrong-place"]
    assert message(text).endswith("has no effect on a CronJob: take it away")


def test_labels_and_annotations_are_not_taken_for_each_other() -> None:
    text = annotated('k8sjob.io/enabled: "true"')
    assert rules(text) == ["wrong-place"]
    assert message(text).endswith("move it to the labels")
    assert message(labelled("k8sjob.io/cycle: day")).endswith("move it to the annotations")


@pytest.mark.parametrize("place", ["template", "pods"])
def test_what_the_cronjob_should_have_is_told_in_a_template(place: str) -> None:
    line = "metadata: {annotations: {k8sjob.io/cycle: day}}"
    text = cronjob(**{place: line})
    assert rules(text) == ["wrong-place"]
    assert message(text).endswith("move it to the CronJob's own annotations")


def test_a_label_that_a_tool_puts_everywhere_is_not_told() -> None:
    label = 'labels: {k8sjob.io/enabled: "true"}'
    text = cronjob(metadata=label, template=f"metadata: {{{label}}}", pods=f"metadata: {{{label}}}")
    assert rules(text) == []


def environment(*variables: str, **changes: str) -> str:
    lines = "env:\n" + "".join(f"  - {variable}\n" for variable in variables)
    return cronjob(container=lines, **changes)


@pytest.mark.parametrize("value", ["billing/credit", "credit", "billing/credit/part"])
def test_the_same_job_in_the_environment_is_none(value: str) -> None:
    text = environment(
        f"{{name: K8SJOB_JOB, value: {value}}}", metadata="annotations: {k8sjob.io/job: credit}"
    )
    assert rules(text) == []


def test_another_job_in_the_environment_is_told() -> None:
    text = environment(
        "{name: A, value: b}",
        "{name: K8SJOB_JOB, value: billing/other}",
        metadata="annotations: {k8sjob.io/job: credit}",
    )
    assert rules(text) == ["env-differs"]
    assert "the annotation k8sjob.io/job 'credit'" in message(text)


def test_without_the_annotation_the_job_is_the_cronjob_where_it_is_tracked() -> None:
    variable = "{name: K8SJOB_JOB, value: billing/other}"
    assert rules(environment(variable)) == []
    label = 'labels: {k8sjob.io/enabled: "true"}'
    assert rules(environment(variable, metadata=label)) == ["env-differs"]


@pytest.mark.parametrize(
    "variable",
    [
        "{name: K8SJOB_JOB, value: $(OTHER)}",
        "{name: K8SJOB_JOB, valueFrom: {fieldRef: {fieldPath: metadata.name}}}",
        "{name: K8SJOB_JOB}",
        "{name: OTHER_JOB, value: x/y}",
        "text",
    ],
)
def test_what_is_not_known_is_not_compared(variable: str) -> None:
    text = environment(variable, metadata="annotations: {k8sjob.io/job: credit}")
    assert rules(text) == []


def test_another_cycle_and_for_days_another_zone_are_told() -> None:
    cycle = environment(
        "{name: K8SJOB_CYCLE, value: week}", metadata="annotations: {k8sjob.io/cycle: day}"
    )
    assert rules(cycle) == ["env-differs"]
    zone = "{name: K8SJOB_TIME_ZONE, value: Etc/UTC}"
    assert rules(environment(zone)) == []
    assert rules(environment(zone, metadata="annotations: {k8sjob.io/cycle: day}")) == [
        "env-differs"
    ]


# ------------------------------------------------------------------------------ what is silenced


def test_a_rule_is_silenced_by_its_name() -> None:
    text = annotated("k8sjob.io/lint-ignore: backoff-limit-zero").replace(
        "      template:", "      backoffLimit: 0\n      template:"
    )
    assert rules(text) == []
    assert rules(text.replace("ignore: backoff-limit-zero", "ignore: no-deadline")) == [
        "backoff-limit-zero"
    ]


def test_several_rules_are_silenced_with_blanks_or_without() -> None:
    text = CRONJOB.replace("30 4", "30 2").replace("Europe/Rome", "Europe/Berlin")
    line = "annotations: {k8sjob.io/lint-ignore: '%s'}\n  namespace: billing"
    assert rules(text.replace("namespace: billing", line % " fires-twice , left-out,")) == []
    assert rules(text.replace("namespace: billing", line % "fires-twice")) == ["left-out"]


def test_on_a_job_it_silences_too() -> None:
    text = job(
        job="backoffLimit: 0", metadata="annotations: {k8sjob.io/lint-ignore: backoff-limit-zero}"
    )
    assert rules(text) == []


def test_a_name_that_is_no_rule_is_told_and_cannot_be_silenced() -> None:
    text = annotated("k8sjob.io/lint-ignore: eitherday, unknown-rule")
    assert found(text) == [(6, "unknown-rule")]
    assert "there is no rule 'eitherday': write either-day" in message(text)


def test_it_is_told_where_it_silences_nothing() -> None:
    line = "metadata: {annotations: {k8sjob.io/lint-ignore: either-day}}"
    assert rules(cronjob(template=line)) == ["wrong-place"]


def test_a_key_that_stands_twice_is_told_wherever_it_stands() -> None:
    text = cronjob(container="image: billing:1.5")
    assert found(text) == [(18, "duplicate-key")]
    assert message(text).startswith("image stands in this map already")
