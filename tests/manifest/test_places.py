"""A finding has the line of the key that it is about, whatever the manifest is written in."""

from __future__ import annotations

import json

import pytest
from ruamel.yaml import YAML

from k8sjob.manifest.files import decode
from tests.manifest.manifests import CRONJOB, JOB, cronjob, found, message, report, rules

BAD = CRONJOB.replace("3600", "0")
LINE = 11  # of activeDeadlineSeconds
#: How many lines a document has, with the one that ends it.
STEP = len(BAD.splitlines()) + 1


def text_of(data: bytes) -> str:
    text = decode(data)
    assert isinstance(text, str)
    return text


def indented(text: str, depth: int) -> str:
    return "".join(f"{' ' * depth}{line}\n" for line in text.splitlines())


def listed(*items: str, kind: str = "List") -> str:
    """Return a list of objects, which takes two lines before the first."""
    lines = f"kind: {kind}\nitems:\n"
    return lines + "".join("- " + indented(item, 2)[2:] for item in items)


def as_json(text: str, indent: int | str | None = 2) -> str:
    return json.dumps(YAML(typ="safe", pure=True).load(text), indent=indent)


def test_documents_are_counted_on() -> None:
    text = f"{BAD}---\n{CRONJOB}--- # the third\n{BAD}...\n---\n{BAD}"
    lines = [LINE + STEP * n for n in (0, 2)]
    assert found(text) == [(line, "deadline-zero") for line in [*lines, LINE + STEP * 3 + 1]]


def test_a_document_after_three_dots_alone_is_one() -> None:
    assert found(f"{BAD}...\n{BAD}") == [
        (LINE, "deadline-zero"),
        (LINE + STEP, "deadline-zero"),
    ]


def test_directives_are_passed_over() -> None:
    assert found(f"%YAML 1.2\n---\n{BAD}...\n%YAML 1.1\n---\n{BAD}") == [
        (LINE + 2, "deadline-zero"),
        (LINE + STEP + 4, "deadline-zero"),
    ]


@pytest.mark.parametrize("kind", ["List", "CronJobList"])
def test_objects_of_a_list_are_looked_at_in_its_own_lines(kind: str) -> None:
    assert found(listed(CRONJOB, BAD, kind=kind)) == [(2 + STEP - 1 + LINE, "deadline-zero")]


def test_objects_of_a_typed_list_need_no_kind_of_their_own() -> None:
    bare = BAD.replace("apiVersion: batch/v1\nkind: CronJob\n", "")
    assert found(listed(bare, kind="CronJobList")) == [(LINE, "deadline-zero")]
    assert found(listed(bare)) == []


def test_lists_in_lists_are_opened() -> None:
    inner = listed(BAD)
    assert rules(listed(CRONJOB, inner, inner)) == ["deadline-zero", "deadline-zero"]


@pytest.mark.parametrize("indent", [2, 4, "\t"])
def test_json_has_lines_too(indent: int | str) -> None:
    text = as_json(BAD, indent)
    line = next(n for n, line in enumerate(text.splitlines(), 1) if "activeDeadlineSeconds" in line)
    assert found(text) == [(line, "deadline-zero")]


def test_json_in_one_line_is_line_one() -> None:
    assert found(as_json(BAD, None)) == [(1, "deadline-zero")]


@pytest.mark.parametrize("between", ["\n", "\n\n", "\n---\n"])
@pytest.mark.parametrize("indent", [None, 2])
def test_json_after_json_is_another_document(indent: int | None, between: str) -> None:
    one = as_json(BAD, indent)
    assert rules(one + between + one) == ["deadline-zero", "deadline-zero"]


def test_a_text_of_json_may_have_any_character() -> None:
    text = as_json(BAD).replace('"billing"', '"bil\\ud83d\\ude00\\tling"')
    (finding,) = report(text).findings
    assert finding.object.endswith("/credit")
    assert finding.object.isprintable()


@pytest.mark.parametrize("end", ["\r\n", "\r"])
@pytest.mark.parametrize("coding", ["utf-8", "utf-8-sig", "utf-16"])
def test_other_line_ends_and_byte_order_marks_change_nothing(end: str, coding: str) -> None:
    data = f"{BAD}---\n{BAD}".replace("\n", end).encode(coding)
    assert found(text_of(data)) == [(LINE, "deadline-zero"), (LINE + STEP, "deadline-zero")]


def test_a_byte_order_mark_before_a_later_document_is_none() -> None:
    two = text_of(b"\xef\xbb\xbf" + BAD.encode() + b"\xef\xbb\xbf---\n" + BAD.encode())
    assert rules(two) == ["deadline-zero", "deadline-zero"]


def test_signs_that_yaml_1_1_took_for_line_ends_are_none() -> None:
    text = BAD.replace("name: credit", 'name: "cre\u2028\u0085dit"')
    assert found(text) == [(LINE, "deadline-zero")]


def test_the_template_that_helm_names_is_told() -> None:
    text = f"---\n# Source: shop/templates/a.yaml\n{BAD}---\n# Source: shop/templates/b.yaml\n{BAD}"
    sources = [finding.source for finding in report(text).findings]
    assert sources == ["shop/templates/a.yaml", "shop/templates/b.yaml"]
    assert report(BAD).findings[0].source is None


def test_aliases_and_merges_are_what_they_stand_for() -> None:
    text = cronjob(
        deadline="<<: *job\nbackoffLimit: 3",
        spec="""\
        x-job: &job
          activeDeadlineSeconds: 0
          backoffLimit: 0
        """,
    )
    assert found(text) == [(8, "deadline-zero")]
    assert rules(text.replace("*job", "[{activeDeadlineSeconds: 9}, *job]")) == []
    assert rules(text.replace("<<:", '"<<":')) == ["no-deadline"]


def test_an_object_that_an_alias_repeats_is_looked_at_once() -> None:
    one = listed(BAD).replace("- apiVersion", "- &a\n  apiVersion")
    assert rules(one + "- *a\n- *a\n") == ["deadline-zero"]


@pytest.mark.parametrize(
    "text",
    [
        BAD.replace("kind: CronJob", "kind: Deployment"),
        BAD.replace("batch/v1", "example.com/v1"),
        BAD.replace("kind: CronJob", "kind: cronjob"),
        "kind: ConfigMap\ndata:\n  a: |\n" + indented(BAD, 4),
        "",
        "---\n---\n# nothing\n",
        "- 1\n",
        "text\n",
        "null\n",
    ],
)
def test_anything_else_is_passed_over(text: str) -> None:
    made = report(text)
    assert (made.findings, made.unread, made.cronjobs, made.jobs) == ([], [], 0, 0)


@pytest.mark.parametrize("version", ["apiVersion: batch/v1beta1\n", ""])
def test_older_versions_and_none_are_cronjobs(version: str) -> None:
    assert rules(BAD.replace("apiVersion: batch/v1\n", version)) == ["deadline-zero"]


def test_a_job_that_a_cronjob_has_made_is_passed_over() -> None:
    bad = JOB.replace("3600", "0")
    owner = "  ownerReferences: [{kind: CronJob, name: credit, controller: %s}]\nspec:"
    assert rules(bad) == ["deadline-zero"]
    assert rules(bad.replace("spec:", owner % "true", 1)) == []
    assert rules(bad.replace("spec:", owner % "false", 1)) == ["deadline-zero"]


def test_an_object_is_named_by_what_there_is() -> None:
    def name(text: str) -> str:
        return report(text).findings[0].title

    assert name(BAD) == "billing/credit"
    assert name(BAD.replace("  namespace: billing\n", "")) == "credit"
    assert name(BAD.replace("name: credit", "name: 12")) == "billing/12"
    assert name(BAD.replace("name: credit", "generateName: x")) == "billing/(no name)"
    assert name(JOB.replace("3600", "0")) == "Job billing/credit"


def test_a_message_is_one_line_of_bounded_length() -> None:
    text = cronjob(schedule=f"schedule: '{'0,' * 5000}\\n\\e'\ntimeZone: Etc/UTC")
    assert len(message(text)) <= 800
    assert message(text).isprintable()
