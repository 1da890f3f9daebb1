"""What calls k8sjob by itself, by hand or from a chart, keeps what it has."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from k8sjob.manifest.inject import telling
from k8sjob.manifest.inject.record import Mode
from tests.fix_chart import ci_values, render, values_of
from tests.inject.examples import FLOW
from tests.inject.injected import (
    covered,
    cronjobs,
    main_of,
    pod_of,
    refusal,
    result,
    taken_back,
    told,
)
from tests.manifest.manifests import CRONJOB, cronjob

if TYPE_CHECKING:
    from pathlib import Path

OWN = '              command: [k8sjob, run, "billing.credit:credit"]\n'
MODES = pytest.mark.parametrize("mode", Mode)


def without_command(line: str) -> str:
    """Return a CronJob that has this in the place of its command, and of its image if it says."""
    text = cronjob(container=line).replace(OWN, "")
    return text.replace("              image: billing:1.4\n", "") if "image:" in line else text


@pytest.mark.parametrize(
    "line",
    [
        'command: [k8sjob, run, "a:b"]',
        "command: [/usr/local/bin/k8sjob, run, a.sql]",
        "command: [sh, -c, 'cd /app && exec k8sjob run a.sql']",
        "image: registry.example/k8sjob:1\nargs: [run, 'a:b']",
    ],
)
def test_a_container_that_calls_k8sjob_is_not_wrapped(line: str) -> None:
    text = without_command(line)
    there = covered(text)
    assert "--record-on-success" not in there
    assert "K8SJOB_JOB_UID" in there
    assert any("calls k8sjob by itself" in warning for warning in told(text).warnings)


def test_one_that_has_all_of_it_is_left() -> None:
    by_hand = "\n".join(
        line for line in covered(cronjob()).split("\n") if "k8sjob.io/injected" not in line
    ).replace("  annotations:\n", "")
    assert covered(by_hand) == by_hand
    assert told(by_hand).verb == "unchanged"


def test_of_several_containers_the_named_one_is_wrapped() -> None:
    text = FLOW.replace("[{name: main", "[{name: first, image: a}, {name: main")
    (one,) = cronjobs(covered(text, container="main"))
    first, main = pod_of(one)["containers"]
    assert first == {"name": "first", "image": "a"}
    assert main["command"][0] == "k8sjob"
    there = covered(text, container="main")
    assert covered(there) == there  # which one it was is known by then


def test_of_several_containers_it_is_the_one_that_calls_k8sjob() -> None:
    (one,) = cronjobs(
        covered(
            CRONJOB.replace("- name: main", "- {name: mesh, image: a}\n            - name: main")
        )
    )
    assert [c.get("env") is None for c in pod_of(one)["containers"]] == [True, False]


def test_a_missing_token_is_told() -> None:
    def is_told(text: str) -> bool:
        return any("automountServiceAccountToken is false" in w for w in told(text).warnings)

    text = cronjob(pod="automountServiceAccountToken: false")
    assert is_told(text)
    mount = "volumeMounts: [{name: t, mountPath: /var/run/secrets/kubernetes.io/serviceaccount}]"
    assert not is_told(cronjob(pod="automountServiceAccountToken: false", container=mount))
    assert not is_told(CRONJOB)


@MODES
def test_a_pod_that_finds_its_period_by_hand_is_left(mode: Mode) -> None:
    """The wrapper of such a Pod must not be wrapped once more."""
    find = "initContainers: [{name: period, image: k8sjob, args: [resolve, --write, /k8sjob]}]"
    text = cronjob(pod=find, metadata="annotations: {a: b}").replace("k8sjob, run", "sh, -c")
    made = covered(text, mode=mode)
    assert [line for line in made.split("\n") if line not in text.split("\n")] == [
        "  annotations: {a: b, k8sjob.io/injected: mode=run container=main label=yes}",
        "  labels:",
        '    k8sjob.io/enabled: "true"',
    ]
    assert told(text, mode=mode).warnings == (
        "an init container calls k8sjob by itself; the Pod was left",
    )
    assert covered(made) == made


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("image: registry.example/k8sjob-control:1\nargs: [reconcile]", "reconcile"),
        ("command: [k8sjob, prune, -A]", "prune"),
        ("command: [sh, -c, 'k8sjob doctor && exec k8sjob prune -A']", "doctor, prune"),
    ],
)
def test_what_works_for_k8sjob_itself_is_left_and_told_why(line: str, said: str) -> None:
    text = without_command(line)
    for mode in Mode:
        made = result(text, mode=mode, annotations={"owner": "me"})
        assert made.text == text
        assert [*telling.lines("f.yaml", made)] == [
            f"f.yaml:1 billing/credit: unchanged: it works for k8sjob itself ({said}), so was left"
        ]


def test_what_was_covered_and_works_for_k8sjob_since_is_taken_back_and_told_why() -> None:
    since = covered(CRONJOB).replace('run, "billing.credit:credit"]', "prune]")
    made = told(since)
    assert (made.verb, made.notes) == ("taken back", ())
    assert made.why == "it works for k8sjob itself (prune), so was left"
    assert covered(since) == CRONJOB.replace('run, "billing.credit:credit"]', "prune]")


@MODES
@pytest.mark.parametrize("line", ["args: [migrate]", "args: [prune, --all]", "args: [run, report]"])
def test_arguments_of_some_image_are_not_taken_for_k8sjobs(line: str, mode: Mode) -> None:
    """Not covered and not told would be missing for ever, or not missed at all."""
    said = refusal(without_command(line), mode=mode)
    assert "its container main has no command" in said
    assert "command: [k8sjob], if that is what it starts" in said


@MODES
@pytest.mark.parametrize(
    "line",
    [
        'command: [sh, -c, "k8sjob doctor && ./credit"]',
        "command: [psql, -c, set search_path to k8sjob]",
        "command: [ls, /data/k8sjob]",
    ],
)
def test_a_command_that_only_names_k8sjob_is_wrapped(line: str, mode: Mode) -> None:
    there = covered(without_command(line), mode=mode, claims=True)
    ((before,), (after,)) = cronjobs(without_command(line)), cronjobs(there)
    front = main_of(after)["command"][: -len(main_of(before)["command"])]
    assert front[0] == {Mode.RUN: "k8sjob", Mode.SIDECAR: "sh"}[mode]
    assert taken_back(there) == without_command(line)


def test_a_pod_that_keeps_house_beside_its_work_is_asked_which_is_which() -> None:
    text = FLOW.replace(
        "[{name: main", "[{name: look, image: a, command: [k8sjob, doctor]}, {name: main"
    )
    assert refusal(text).endswith("Pass --container: look, main")
    assert covered(text, container="main") != text
    assert told(text, container="look").why.startswith("it works for k8sjob itself (doctor)")


@pytest.mark.parametrize(
    ("chart", "values"),
    [(chart, file) for chart, file in ci_values() if chart == "k8sjob-jobs"],
    ids=lambda of: getattr(of, "stem", of),
)
@pytest.mark.usefixtures("helm")
def test_what_the_chart_makes_lacks_nothing(chart: str, values: Path) -> None:
    made = render(chart, values_of(values))
    tracked = [
        one
        for one in made.all("CronJob")
        if one["metadata"].get("labels", {}).get("k8sjob.io/enabled") == "true"
    ]
    assert tracked
    text = json.dumps({"kind": "List", "items": tracked})
    assert covered(text) == text
