"""No document makes lint fail: it finds something, finds nothing, or says what is broken."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from k8sjob.manifest.files import decode
from tests.manifest.manifests import CRONJOB, JOB, cronjob, report

_POLICY = """\
completionMode: Indexed
completions: 20
backoffLimit: 0
podReplacementPolicy: Failed
podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [64, 75]}}]}
"""
FULL = cronjob(
    metadata="""\
    labels: {k8sjob.io/enabled: "true"}
    annotations: {k8sjob.io/job: credit, k8sjob.io/grace: 5m, k8sjob.io/lint-ignore: every}
    """,
    spec="startingDeadlineSeconds: 60\nconcurrencyPolicy: Forbid",
    job=_POLICY,
    template="metadata: {annotations: {k8sjob.io/period: once}}",
    pod="initContainers: [{name: fetch}]",
    container="env: [{name: K8SJOB_JOB, value: other}]",
)

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.sampled_from(["", "{{ x }}", "@every 1s", "TZ=", "* * * * *", "0 0 31 2 *", "\x1b[31m"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def paths(tree: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of each place in a document."""
    pairs = (
        tree.items()
        if isinstance(tree, dict)
        else enumerate(tree)
        if isinstance(tree, list)
        else ()
    )
    return [here, *(path for key, value in pairs for path in paths(value, (*here, key)))]


def replaced(tree: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    copy = dict(tree) if isinstance(tree, dict) else list(tree)
    copy[path[0]] = replaced(tree[path[0]], path[1:], value)
    return copy


WHOLE = YAML(typ="safe", pure=True).load(FULL)
PATHS = paths(WHOLE)


def check(text: str) -> None:
    """Look at a text; whatever is found has a line of the text and one printable line of words."""
    made = report(text)
    last = text.count("\n") + 1
    for line, words in (
        *((finding.line, finding.message) for finding in made.findings),
        *((trouble.line, trouble.what) for trouble in made.unread),
    ):
        assert line is not None
        assert 1 <= line <= last
        assert words.isprintable()
        assert len(words) <= 900


@pytest.mark.parametrize("value", [None, 5, -1, 1.5, True, "", "x", [], {}, [None], {"a": None}])
@pytest.mark.parametrize("path", PATHS, ids=lambda path: ".".join(map(str, path)) or "all")
def test_anything_may_stand_anywhere(path: tuple[Any, ...], value: Any) -> None:
    check(json.dumps(replaced(WHOLE, path, value)))


@given(st.sampled_from(PATHS), VALUES)
def test_whatever_stands_there_is_looked_at(path: tuple[Any, ...], value: Any) -> None:
    check(json.dumps(replaced(WHOLE, path, value)))


@given(st.text())
@example("%YAML 999999999999.1\n---\na")
@example("!<!> a")
@example("- ? - :")
@example("&a *a")
@example("{? {{")
def test_any_text_at_all_is_read_or_told_to_be_broken(text: str) -> None:
    read = decode(text.encode("utf-8", "surrogatepass"))
    if isinstance(read, str):
        check(read)


@given(st.binary())
def test_any_bytes_are_decoded_or_told_to_be_no_text(data: bytes) -> None:
    text = decode(data)
    if isinstance(text, str):
        check(text)


_SIGNS = st.sampled_from(
    [*"{}[]:,&*!|>'\"%@`#?- \n\t\0", "---\n", "...\n", "<<: ", "{{", "&a ", "*a"]
)


@given(st.data())
def test_a_manifest_with_signs_thrown_in_is_read_or_told_to_be_broken(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([FULL, JOB, CRONJOB, json.dumps(WHOLE, indent=1)]))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(_SIGNS) + text[at + data.draw(st.integers(0, 2)) :]
    check(text)
