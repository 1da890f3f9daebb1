"""What a person has changed in the pieces that were put in stays, or its end is told."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from ruamel.yaml import YAML

from k8sjob.manifest.inject.record import Mode
from tests.inject.examples import COMMENTED, FLOW, UNINDENTED
from tests.inject.forms import EXAMPLES
from tests.inject.injected import (
    covered,
    cronjobs,
    env_of,
    main_of,
    pod_of,
    refusal,
    result,
    taken_back,
    told,
)

MODES = pytest.mark.parametrize("mode", Mode)
STOPPED = COMMENTED.replace(
    "restartPolicy: Never", "restartPolicy: Never\n          terminationGracePeriodSeconds: 60"
)


def changed(text: str, old: str, new: str) -> str:
    """Return a text with one place changed by hand."""
    assert old in text
    return text.replace(old, new, 1)


def by_hand(text: str, **options: Any) -> list[str]:
    """Return what is told of changes by hand."""
    return [one for one in told(text, **options).warnings if "by hand" in one]


#: What was put in, what a person writes there instead, and what is told to be the person's.
EDITS = {
    "a policy's codes": ("82, 83]", "82, 83, 99]", "podFailurePolicy"),
    "a policy's rule": (
        "- action: F",
        "- action: Count\n          - action: F",
        "podFailurePolicy",
    ),
    "a variable": ('value: "55s"', 'value: "40s"', "K8SJOB_STOP_GRACE"),
    "a source": ("key: runner}", "key: runner, optional: true}", "K8SJOB_DSN"),
    "another source": (
        "secretKeyRef: {name: k8sjob",
        "configMapKeyRef: {name: k8sjob",
        "K8SJOB_DSN",
    ),
    "the label": ('enabled: "true"', 'enabled: "false"', "label k8sjob.io/enabled"),
}
EACH = pytest.mark.parametrize(("old", "new", "name"), EDITS.values(), ids=EDITS.keys())


@EACH
def test_what_was_changed_stays_through_another_injection(old: str, new: str, name: str) -> None:
    mine = changed(covered(STOPPED), old, new)
    there = covered(mine, annotations={"owner": "me"})
    assert new in there
    assert "k8sjob.io/owner: me" in there
    made = told(mine, annotations={"owner": "me"})
    assert f"{name} was changed by hand: it stays, and is yours from now on" in made.warnings
    assert not [note for note in made.notes if name in note]
    assert covered(there) == there
    assert told(there).verb == "unchanged"


@EACH
def test_what_was_changed_stays_when_the_rest_is_taken_back(old: str, new: str, name: str) -> None:
    mine = changed(covered(STOPPED), old, new)
    for text in (mine, covered(mine)):
        assert new in taken_back(text)
        assert "k8sjob.io/injected" not in taken_back(text)
        assert "K8SJOB_NODE" not in taken_back(text)
    made = told(mine, remove=True)
    assert made.verb == "taken back"
    assert made.warnings[0] == f"{name} was changed by hand: it stays, and is yours from now on"


def test_a_second_variable_of_the_same_name_is_not_taken_with_the_first() -> None:
    mine = changed(
        covered(COMMENTED), "env:\n", "env:\n                - {name: K8SJOB_NODE, value: mine}\n"
    )
    assert "{name: K8SJOB_NODE, value: mine}" in covered(mine)
    assert "{name: K8SJOB_NODE, value: mine}" in taken_back(mine)


def test_a_time_zone_that_stays_is_told() -> None:
    text = COMMENTED.replace("  timeZone: Europe/Rome\n", "")
    mine = changed(covered(text, time_zone="Etc/UTC"), "timeZone: Etc/UTC", "timeZone: Asia/Tokyo")
    assert by_hand(mine) == by_hand(mine, remove=True)
    (warning,) = by_hand(mine)
    assert warning.startswith("timeZone was changed by hand")


def test_a_policy_that_stays_without_its_container_is_told_for_what_it_is() -> None:
    """Kubernetes refuses a policy about a container that is not there."""
    mine = changed(covered(COMMENTED, mode=Mode.SIDECAR), "82, 83]", "82, 83, 99]")
    assert any("(unknown-container)" in one for one in told(mine, remove=True).warnings)
    assert not told(covered(COMMENTED, mode=Mode.SIDECAR), remove=True).warnings


# -------------------------------------------------------------------- what counts as asked for


def test_a_secret_that_was_changed_by_hand_is_what_was_asked() -> None:
    mine = changed(covered(COMMENTED), "name: k8sjob-ledger", "name: other")
    assert covered(mine) == covered(COMMENTED, secret="other") == mine
    assert taken_back(mine) == COMMENTED


@MODES
def test_a_new_name_or_grace_is_not_a_change_of_what_follows_from_it(mode: Mode) -> None:
    mine = covered(STOPPED, mode=mode).replace("name: daily-credit", "name: weekly-credit")
    mine = mine.replace("PeriodSeconds: 60", "PeriodSeconds: 90")
    text = STOPPED.replace("name: daily-credit", "name: weekly-credit").replace("s: 60", "s: 90")
    assert covered(mine) == covered(text, mode=mode)
    assert (by_hand(mine), by_hand(mine, remove=True)) == ([], [])


@MODES
@pytest.mark.parametrize("text", [COMMENTED, UNINDENTED, FLOW], ids=["block", "bare", "flow"])
def test_another_way_of_writing_the_same_is_no_change(text: str, mode: Mode) -> None:
    there = covered(text, mode=mode, claims=True)
    ((one,), (before,)) = cronjobs(there), cronjobs(text)
    again = json.dumps(one, sort_keys=True, indent=2)
    assert by_hand(again, remove=True) == []
    (after,) = cronjobs(taken_back(again))
    assert "k8sjob" not in str(after)
    assert main_of(after)["command"] == main_of(before)["command"]


@MODES
def test_what_the_cluster_adds_is_no_change(mode: Mode) -> None:
    """As kubectl prints what was applied: with the defaults of these pieces."""
    (one,) = cronjobs(covered(STOPPED, mode=mode))
    (rule,) = one["spec"]["jobTemplate"]["spec"]["podFailurePolicy"]["rules"]
    rule["onPodConditions"] = None
    for container in [main_of(one), *pod_of(one).get("initContainers", [])]:
        for variable in container["env"]:
            if field := variable.get("valueFrom", {}).get("fieldRef"):
                field["apiVersion"] = "v1"
        if container["name"] != "main":
            container["terminationMessagePath"] = "/dev/termination-log"
            container["terminationMessagePolicy"] = "File"
            container["imagePullPolicy"] = "IfNotPresent"
    for volume in pod_of(one).get("volumes", []):
        if "projected" in volume:
            volume["projected"]["defaultMode"] = 420
            for source in volume["projected"]["sources"]:
                for item in source.get("downwardAPI", {}).get("items", []):
                    item["fieldRef"]["apiVersion"] = "v1"
    text = json.dumps(one)
    assert by_hand(text, remove=True) == by_hand(text) == []
    assert "k8sjob" not in taken_back(text).lower()


@pytest.mark.parametrize("text", EXAMPLES.values(), ids=EXAMPLES.keys())
@MODES
def test_nothing_is_taken_for_changed_that_was_not(text: str, mode: Mode) -> None:
    there = covered(text, mode=mode, annotations={"cycle": "day"})
    for made in (result(there, remove=True), result(there, annotations={"cycle": "week"})):
        assert not [w for one in made.told for w in one.warnings if "by hand" in w]


# ------------------------------------------------------------------- what has to be made anew


#: A change in mode sidecar, and what of it is told.
OURS = {
    "memory": (
        'limits: {memory: "128Mi"}',
        'limits: {memory: "256Mi"}',
        "container k8sjob-resolve",
        "resources",
    ),
    "a source": ("runner}", "runner, optional: true}", "container k8sjob-resolve", "K8SJOB_DSN"),
    "a folder": ("emptyDir: {}", "emptyDir: {medium: Memory}", "volume k8sjob", "emptyDir"),
    "a token": ("nSeconds: 3600", "nSeconds: 600", "volume k8sjob-token", "projected"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "what", "which"), OURS.values(), ids=OURS.keys())
def test_what_is_made_anew_or_goes_is_told(old: str, new: str, what: str, which: str) -> None:
    there = covered(COMMENTED, mode=Mode.SIDECAR)
    mine = changed(there, old, new)
    assert covered(mine) == there
    assert by_hand(mine) == [f"{what} is made anew, without what it had by hand: {which}"]
    assert taken_back(mine) == COMMENTED
    assert by_hand(mine, remove=True) == [f"{what} went, with what it had by hand"]
    assert by_hand(mine, mode=Mode.RUN) == [f"{what} went, with what it had by hand"]


def test_a_mount_that_was_changed_is_told_when_it_is_made_anew() -> None:
    there = covered(COMMENTED, mode=Mode.SIDECAR)
    head, tail = there.split("containers:\n            # does it all", 1)
    mine = f"{head}containers:\n            # does it all" + changed(
        tail, "mountPath: /k8sjob\n", "mountPath: /k8sjob\n                  readOnly: true\n"
    )
    assert by_hand(mine) == ["mount k8sjob is made anew, without what it had by hand: readOnly"]


@MODES
def test_words_before_a_command_that_were_changed_are_not_cut(mode: Mode) -> None:
    old = {Mode.RUN: "- --record-on-success", Mode.SIDECAR: "exit $_code"}[mode]
    mine = changed(
        covered(COMMENTED, mode=mode), old, old.replace("$_code", "0").replace("-success", "-other")
    )
    for remove in (False, True):
        assert "is not what was written in front of it any more" in refusal(mine, remove=remove)


def test_the_record_can_be_read_without_its_sums() -> None:
    """Somebody may have shortened it: then nothing is known of changes, and it is believed."""
    there = covered(COMMENTED)
    short = re.sub(r"(?<=[A-Z]):[0-9a-f]{4}", "", there)
    assert short != there
    assert taken_back(short) == COMMENTED
    assert YAML(typ="safe").load(short.split("---\n")[1])
    assert env_of(main_of(cronjobs(covered(short))[0]))["K8SJOB_NODE"]
