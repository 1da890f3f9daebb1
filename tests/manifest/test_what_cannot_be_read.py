"""What is broken is told with its line, and hides nothing else."""

from __future__ import annotations

import pytest

from k8sjob.manifest.files import LARGEST, decode, read_file
from k8sjob.manifest.read import Trouble
from tests.manifest.manifests import CRONJOB, report

BAD = CRONJOB.replace("3600", "0")
STEP = len(BAD.splitlines()) + 1


def unread(text: str) -> tuple[int | None, str]:
    """Return line and words of the only thing that could not be read; nothing else is found."""
    made = report(text)
    (trouble,) = made.unread
    assert made.findings == []
    return trouble.line, trouble.what


@pytest.mark.parametrize(
    ("broken", "line", "told"),
    [
        ("a: [1\n", 2, "expected"),
        ("a: 1\n b: 2\n", 2, "mapping values are not allowed here"),
        ('a: "x\n', 2, "found unexpected end of stream"),
        ("a: {b: c\n---\n", 2, "expected"),
        ("a: *b\n", 1, "*b names nothing: there is no &b above it"),
        ("a: &a [*a]\n", 1, "'a' contains itself"),
        ("{a: b}: c\n", 1, "a list or map stands where a key belongs"),
        ("? [a]\n: b\n", 1, "a list or map stands where a key belongs"),
        ("a: &a {b: c}\n? *a\n: d\n", 1, "a list or map stands where a key belongs"),
        ("a:\n  <<: text\n", 2, "<< takes a map or a list of maps"),
        ("a: \x07\n", 1, "the character '\\x07' stands in it"),
        ('a: "\\UFFFFFFFF"\n', 1, "the parser stumbles over it ("),
        ("a: `b`\n", 1, "found character '`' that cannot start any token"),
    ],
)
def test_broken_yaml_is_told_with_its_line(broken: str, line: int, told: str) -> None:
    at, what = unread(broken)
    assert what.startswith("broken YAML, so nothing of this document was checked: ")
    assert told in what
    assert at == line


def test_a_broken_document_hides_no_other() -> None:
    made = report(f"{BAD}---\na: [1\n---\n{BAD}---\nb: *b\n---\n{BAD}")
    assert [finding.rule for finding in made.findings] == ["deadline-zero"] * 3
    assert [trouble.line for trouble in made.unread] == [STEP + 2, 2 * STEP + 3]


def test_what_comes_before_the_fault_within_one_stretch_is_looked_at() -> None:
    made = report(f"{BAD}...\na: [1\n")
    assert [finding.rule for finding in made.findings] == ["deadline-zero"]
    assert len(made.unread) == 1


@pytest.mark.parametrize("schedule", ["* * * * *", "*/5 * * * *", "@daily", "@every 5m"])
def test_a_schedule_that_needs_quotes_is_told_so(schedule: str) -> None:
    line, what = unread(f"kind: CronJob\nspec:\n  schedule: {schedule}\n  suspend: true\n")
    assert line == 3
    assert what.endswith("put the schedule in quotes, since no YAML text begins with * or @")


def test_a_tab_is_told_to_be_one() -> None:
    line, what = unread("kind: CronJob\nspec:\n\tschedule: x\n")
    assert (line, what.endswith("indent with spaces: YAML takes no tabs")) == (3, True)


@pytest.mark.parametrize(
    "template",
    [
        "{{- if .Values.on }}\nkind: CronJob\n{{- end }}\n",
        "kind: CronJob\nmetadata:\n  name: {{ .Release.Name }}\n",
        'kind: CronJob\nmetadata:\n  name: {{ include "a.b" . }}-x\n',
        'kind: CronJob\nmetadata:\n  labels:\n    {{- include "a" . | nindent 4 }}\n',
        'kind: CronJob\nmetadata: {name: "{{ .Release.Name }}"}\nspec: {schedule: "* * * * *"}\n',
        'kind: CronJob\nmetadata: {name: a}\nspec: {schedule: "{{ .Values.schedule }}"}\n',
    ],
)
def test_a_template_that_was_not_rendered_is_told_to_be_one(template: str) -> None:
    _, what = unread(template)
    assert what.startswith("this is a template that was not rendered, so nothing in it was checked")
    assert what.endswith("helm template CHART | k8sjob lint -")


def test_braces_in_a_containers_arguments_are_no_template() -> None:
    text = CRONJOB.replace("billing.credit:credit", "--format={{.ID}}")
    assert report(text).unread == []


def test_a_document_that_is_too_deep_is_told_so() -> None:
    for deep in ("[" * 100_000, "{a: " * 100_000, "\n".join(" " * n + "a:" for n in range(600))):
        _, what = unread(deep)
        assert what.endswith("it nests deeper than 500 levels")


def test_merges_that_multiply_are_told_so() -> None:
    keys = ", ".join(f"k{n}: v" for n in range(1000))
    maps = "".join(f"  - {{<<: *a, x{n}: y}}\n" for n in range(200))
    _, what = unread(f"a: &a {{{keys}}}\nb:\n{maps}")
    assert what.endswith("its << copy more than 100000 keys")


def test_a_billion_aliases_cost_nothing() -> None:
    laughs = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    laughs += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    text = BAD + "".join(f"{line}\n" for line in laughs)
    assert [finding.rule for finding in report(text).findings] == ["deadline-zero"]
    lists = ["l0: &l0 {kind: List, items: []}"]
    lists += [
        f"l{n}: &l{n} {{kind: List, items: [{', '.join([f'*l{n - 1}'] * 9)}]}}"
        for n in range(1, 30)
    ]
    assert (
        report("kind: List\n" + "".join(f"{line}\n" for line in lists) + "items: [*l29]\n").unread
        == []
    )


def test_bytes_that_are_no_text_are_told_with_their_line() -> None:
    assert decode(b"a: 1\nb: \xff\n") == Trouble(
        None, "is not UTF-8 in line 2, so nothing was checked: save it as UTF-8"
    )


def test_a_file_that_is_no_manifests_size_is_not_read_whole() -> None:
    data = read_file("/dev/zero")
    assert isinstance(data, bytes)
    assert decode(data) == Trouble(
        None, f"is larger than {LARGEST // 2**20} MiB, so nothing was checked: split it"
    )


def test_a_name_that_no_file_can_have_is_told() -> None:
    trouble = read_file("a\0b")
    assert isinstance(trouble, Trouble)
    assert trouble.what.startswith("cannot be read, so nothing was checked: ")
