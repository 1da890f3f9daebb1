"""Where a person has to write or to decide something first, nothing is done at all."""

from __future__ import annotations

import pytest

from k8sjob.errors import ConfigError, InvalidKey, K8sjobError, UsageError
from k8sjob.manifest.inject.options import Options
from k8sjob.manifest.inject.record import Mode
from tests.inject.examples import ANCHORS, COMMENTED, FLOW, LISTED, UNINDENTED
from tests.inject.injected import covered, refusal, result
from tests.manifest.manifests import CRONJOB, cronjob


def test_a_container_without_a_command_has_to_get_one() -> None:
    text = CRONJOB.replace('              command: [k8sjob, run, "billing.credit:credit"]\n', "")
    for mode in Mode:
        said = refusal(text, mode=mode)
        assert said.startswith("billing/credit: its container main has no command")
        assert "command: [/app/credit]" in said
        assert "docker image inspect billing:1.4" in said
    assert "has no command" in refusal(text.replace("image: billing:1.4", "args: [--fast]"))


def test_of_several_containers_one_has_to_be_named() -> None:
    text = FLOW.replace("[{name: main", "[{name: first, image: a}, {name: main")
    assert refusal(text).endswith("Pass --container: first, main")
    assert "no container 'other'" in refusal(text, container="other")


@pytest.mark.parametrize(
    "text",
    [
        "{{- if .Values.on }}\n" + CRONJOB + "{{- end }}\n",
        CRONJOB.replace("name: credit", "name: {{ .Release.Name }}-credit"),
        CRONJOB.replace("name: credit", 'name: "{{ .Release.Name }}-credit"'),
        CRONJOB.replace("image: billing:1.4", "image: '{{ .Values.image }}'"),
        CRONJOB.replace("timeZone: Europe/Rome", "timeZone: '{{ .Values.zone }}'"),
    ],
)
def test_a_template_has_to_be_rendered_first(text: str) -> None:
    assert "helm template CHART | k8sjob inject -" in refusal(text)


def test_braces_in_an_argument_are_no_template() -> None:
    text = FLOW.replace('"--fast"', '"--format={{.State}}"')
    assert covered(text) != text


def test_a_broken_document_keeps_all_others_from_being_changed() -> None:
    made = result(f"{COMMENTED}---\na: [\n---\n{COMMENTED}")
    ((line, what),) = made.refusals
    assert line == COMMENTED.count("\n") + 3
    assert "broken YAML, so nothing of this document was changed" in what
    assert (made.told, made.changes) == ([], False)


def test_all_reasons_are_told_at_once_with_their_lines() -> None:
    bare = UNINDENTED.replace("                        command:\n", "").replace(
        "                        - ./credit.sh\n", ""
    )
    made = result(f"{bare}---\n{COMMENTED}---\n{bare}")
    second = bare.count("\n") + COMMENTED.count("\n") + 3
    assert [line for line, _ in made.refusals] == [1, second]


@pytest.mark.parametrize(
    ("annotation", "options", "said"),
    [
        ("k8sjob.io/owner: me", {"annotations": {"owner": "you"}}, "'me' already, by hand"),
        ("a: b", {"time_zone": "Europe/Berlin"}, "'Europe/Rome' already, by hand"),
    ],
)
def test_what_a_person_has_written_is_not_written_over(
    annotation: str, options: dict[str, object], said: str
) -> None:
    assert said in refusal(cronjob(metadata=f"annotations: {{{annotation}}}"), **options)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("labels: {app: billing}", "labels: *l", "labels is an alias"),
        ("labels: {app: billing}", "<<: *m", "labels comes from elsewhere, by <<"),
        ("env: [{", "env: &e [{", None),
        ("env: [{", "x: *e, env: [{", None),
        ("command: [", "x: *c, command: &c [", None),
    ],
)
def test_pieces_that_stand_for_others_have_to_be_written_out(
    old: str, new: str, said: str | None
) -> None:
    head = [
        "&l {app: billing}",
        "&m {labels: {app: billing}}",
        "&e [{name: A, value: b}]",
        "&c [a]",
    ]
    text = "".join(f"x-{n}: {line}\n" for n, line in enumerate(head))
    text += FLOW.replace(old, new)
    if said is None:
        assert covered(text) != text
    else:
        assert said in refusal(text)


def test_what_has_an_alias_is_not_changed_in_both_places() -> None:
    text = FLOW.replace("env: [", "env: &env [").replace(
        "}]}}", "}], initContainers: [{name: i, image: b, env: *env}]}}"
    )
    assert "its env (&env) stands for another piece too" in refusal(text)
    command = FLOW.replace("command: [", "command: &c [").replace(
        "}]}}", "}], initContainers: [{name: i, image: b, command: *c}]}}"
    )
    assert "its command (&c) stands for another piece too" in refusal(command)


@pytest.mark.parametrize("value", ['""', "text", "[]", "[a]", "7"])
def test_what_is_no_map_is_not_taken_for_an_empty_one(value: str) -> None:
    said = refusal(cronjob(metadata=f"annotations: {value}"))
    assert "its annotations is not what Kubernetes has there" in said


def test_labels_may_have_aliases_but_not_beyond_their_object() -> None:
    assert covered(ANCHORS) != ANCHORS
    other = "".join(f"  {line}\n" for line in ANCHORS.splitlines())
    text = f"kind: List\nitems:\n-{other[1:]}"
    assert "its labels (&labels) stands for another piece too" in refusal(text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "- name: data\n                      emptyDir",
            "- name: k8sjob\n                      emptyDir",
        ),
        ("- name: wait", "- name: k8sjob-resolve"),
        ("mountPath: /data", "mountPath: /k8sjob/"),
    ],
)
def test_names_and_places_that_are_taken_are_not_taken_again(old: str, new: str) -> None:
    assert old in UNINDENTED
    said = refusal(UNINDENTED.replace(old, new), mode=Mode.SIDECAR)
    assert "by hand: rename that" in said or "another volume at /k8sjob" in said


def test_a_container_that_calls_k8sjob_needs_no_sidecar() -> None:
    assert "pass --mode run" in refusal(CRONJOB, mode=Mode.SIDECAR)


def test_a_cronjob_without_a_name_or_a_pod_is_none() -> None:
    assert "it has no name" in refusal(CRONJOB.replace("  name: credit\n", ""))
    assert "no containers" in refusal(CRONJOB[: CRONJOB.index("          containers")])
    assert refusal("apiVersion: batch/v1\nkind: CronJob\n").startswith("(no name)")


def test_a_command_that_was_changed_since_is_not_cut() -> None:
    there = covered(COMMENTED)
    for old, new in (("- k8sjob\n", "- other\n"), ("- --\n", "- -x\n")):
        changed = there.replace(old, new, 1)
        assert "is not what was written in front of it any more" in refusal(changed)
        made = result(changed, remove=True)
        assert (made.text, len(made.refusals)) == (changed, 1)


def test_a_record_that_somebody_has_written_is_not_believed() -> None:
    text = cronjob(metadata="annotations: {k8sjob.io/injected: all}")
    assert "is not as k8sjob inject writes it" in refusal(text)


def test_objects_that_are_listed_are_counted_by_their_own_lines() -> None:
    made = result(LISTED.replace("command:", "args:"))
    assert [line for line, _ in made.refusals] == [3]


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"annotations": {"grace": "5 minutes"}}, ConfigError, "k8sjob.io/grace"),
        ({"annotations": {"catch-up": "all"}}, ConfigError, "flag, skip, every, latest"),
        ({"annotations": {"owner": "a\nb"}}, UsageError, "not one line"),
        ({"annotations": {"job": "Credit!"}}, InvalidKey, "Credit!"),
        ({"annotations": {"job": "a/b/c"}}, UsageError, "names a part"),
        ({"time_zone": "Europe/Roma"}, ConfigError, "Europe/Roma"),
        ({"mode": Mode.RUN, "image": "k8sjob:1"}, UsageError, "--mode sidecar"),
        ({"secret": "a b"}, UsageError, "no name"),
        ({"container": ""}, UsageError, "no name"),
    ],
)
def test_options_that_mean_nothing_are_refused(
    options: dict[str, object], error: type[K8sjobError], said: str
) -> None:
    with pytest.raises(error, match=said):
        Options(**options).check()  # type: ignore[arg-type]
