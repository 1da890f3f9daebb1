"""What was put in is taken out again to the letter; twice is once."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from k8sjob.manifest.inject.record import Mode
from tests.inject.examples import BLOCKS, COMMENTED, EMPTY, LISTED, OTHERS, UNINDENTED
from tests.inject.forms import EXAMPLES
from tests.inject.injected import covered, result, taken_back, told

SOME: dict[str, Any] = {
    "annotations": {"cycle": "day", "grace": "5m", "owner": "payments: day and night, #1"},
    "secret": "the-ledger",
}
EACH = pytest.mark.parametrize("text", EXAMPLES.values(), ids=EXAMPLES.keys())
MODES = pytest.mark.parametrize("mode", Mode)


@MODES
@EACH
def test_the_way_back_leads_to_the_letter(text: str, mode: Mode) -> None:
    there = covered(text, mode=mode, **SOME)
    assert there != text
    assert taken_back(there) == text


@MODES
@EACH
def test_twice_is_once(text: str, mode: Mode) -> None:
    there = covered(text, mode=mode, **SOME)
    assert covered(there, mode=mode, **SOME) == there
    assert covered(there) == there  # what is not given stays
    assert {one.verb for one in result(there).told} == {"unchanged"}


@EACH
def test_other_options_lead_where_they_lead_at_once(text: str) -> None:
    first = covered(text, mode=Mode.SIDECAR, image="k8sjob:0", **SOME)
    second = covered(first, mode=Mode.RUN, secret="other", key="dsn", annotations={"grace": "1h"})
    notes = SOME["annotations"] | {"grace": "1h"}
    assert second == covered(text, mode=Mode.RUN, secret="other", key="dsn", annotations=notes)
    assert taken_back(second) == text


@pytest.mark.parametrize("text", [COMMENTED, UNINDENTED, BLOCKS, LISTED])
def test_every_line_that_was_there_is_still_there_in_its_order(text: str) -> None:
    after = iter(covered(text, mode=Mode.SIDECAR, **SOME).split("\n"))
    for line in text.split("\n"):
        assert line in after, line


def test_what_is_no_cronjob_is_not_touched() -> None:
    made = result(f"{OTHERS}---\nkind: CronJob\napiVersion: example.com/v1\nmetadata:\n")
    assert (made.told, made.refusals, made.changes) == ([], [], False)


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "---\n...\n", "- a\n", "null"])
def test_a_text_without_objects_stays(text: str) -> None:
    assert covered(text) == text == taken_back(text)


@MODES
def test_only_those_that_are_named_are_touched(mode: Mode) -> None:
    two = f"{COMMENTED}---\n{COMMENTED.replace('daily-credit', 'other')}"
    there = covered(two, mode=mode, only=("billing/other",))
    assert (
        there == f"{COMMENTED}---\n{covered(COMMENTED.replace('daily-credit', 'other'), mode=mode)}"
    )
    assert taken_back(there, only=("daily-credit",)) == there
    assert taken_back(there, only=("other",)) == two


@MODES
def test_what_a_person_adds_afterwards_stays(mode: Mode) -> None:
    there = covered(COMMENTED, mode=mode)
    mine = there.replace("spec:\n", "    mine: too\nspec:\n", 1)
    mine = mine.replace(
        "env:\n", "env:\n                - {name: K8SJOB_FAIL_ON, value: blocked}\n"
    )
    back = taken_back(mine)
    assert "mine: too\n" in back
    assert "K8SJOB_FAIL_ON" in back
    assert "k8sjob.io" not in back
    assert covered(covered(mine)) == covered(mine)
    assert "K8SJOB_FAIL_ON" in covered(mine)


@MODES
def test_a_rule_of_the_exit_codes_that_a_person_adds_is_not_lost(mode: Mode) -> None:
    there = covered(COMMENTED, mode=mode)
    rule = r"- action: Ignore\n\1  onPodConditions: [{type: DisruptionTarget}]"
    mine = re.sub(r"( *)(?=- action: FailJob)", rf"\1{rule}\n\1", there, count=1)
    assert mine != there

    for text in (covered(mine), taken_back(mine), taken_back(covered(mine))):
        assert "onPodConditions: [{type: DisruptionTarget}]" in text


def test_what_a_person_puts_into_our_own_containers_is_told_when_it_goes() -> None:
    there = covered(COMMENTED, mode=Mode.SIDECAR)
    mine = re.sub(
        r"( *)- name: K8SJOB_CRONJOB",
        r"\1- {name: PGSSLROOTCERT, value: /ca/ca.crt}\n\g<0>",
        there,
    )
    mine = mine.replace("args: [resolve", "tty: true\n              args: [resolve")
    assert mine.count("PGSSLROOTCERT") == mine.count("tty") == 1

    (warning,) = [one for one in told(mine).warnings if "by hand" in one]
    assert warning.startswith("container k8sjob-resolve is made anew, without what it had by hand")
    assert warning.endswith("tty, PGSSLROOTCERT")
    assert not [one for one in told(COMMENTED, mode=Mode.SIDECAR).warnings if "by hand" in one]


def test_an_annotation_changed_by_hand_is_what_was_asked() -> None:
    there = covered(COMMENTED, annotations={"grace": "5m"})
    assert covered(there.replace('grace: "5m"', 'grace: "9m"')) == covered(
        COMMENTED, annotations={"grace": "9m"}
    )


def test_a_time_zone_changed_by_hand_is_a_persons_from_then_on() -> None:
    """Without it the schedule would be read in the zone of the cluster's controller."""
    text = COMMENTED.replace("  timeZone: Europe/Rome\n", "")
    assert "timeZone" not in text
    by_hand = covered(text, time_zone="Etc/UTC").replace(
        "timeZone: Etc/UTC", "timeZone: Asia/Tokyo"
    )
    assert "  timeZone: Asia/Tokyo\n" in taken_back(by_hand)
    assert "  timeZone: Asia/Tokyo\n" in covered(by_hand)


def test_an_image_that_a_bot_has_moved_stays() -> None:
    there = covered(COMMENTED, mode=Mode.SIDECAR).replace("k8sjob:0.1.0", "k8sjob:0.2.0")
    assert covered(there) == there
    assert told(there).verb == "unchanged"


def test_a_text_that_was_indented_anew_can_still_be_taken_back() -> None:
    there = covered(UNINDENTED)
    wide = "\n".join(f"  {line}" if line else line for line in there.split("\n"))
    assert "k8sjob" not in taken_back(f"items:\n- {wide.lstrip()}kind: List\n")


def test_what_was_put_into_nothing_is_nothing_again() -> None:
    there = covered(EMPTY, mode=Mode.SIDECAR)
    for was in (
        "labels={}",
        "annotations=-",
        "volumeMounts=-",
        "initContainers=null",
        "volumes=[]",
    ):
        assert f"was-{was}" in there


@MODES
def test_what_was_put_behind_a_colon_in_braces_is_nothing_again(mode: Mode) -> None:
    block = "metadata:\n    name: daily-credit\n"
    text = UNINDENTED.replace(block, "metadata: {name: daily-credit, annotations: , labels: }\n")
    assert text != UNINDENTED

    there = covered(text, mode=mode)

    assert "annotations: {k8sjob.io/injected: " in there
    assert taken_back(there) == text


def test_spaces_before_a_null_cannot_be_kept_so_nothing_is_done() -> None:
    (one,) = result(EMPTY.replace("annotations:\n", "annotations:   ~\n", 1)).refusals
    assert "could not be taken out again to the letter" in one.what


# Places at which a line may be put between two others, and what it may be.
_LINES = st.lists(
    st.tuples(
        st.integers(0, 40),
        st.sampled_from(["", "  ", "# text", "      # text: {", "                    # - a"]),
    ),
    max_size=6,
)


@settings(max_examples=25)
@given(lines=_LINES, ends=st.sampled_from(["\n", "\r\n", "\r"]), mode=st.sampled_from(Mode))
def test_comments_and_empty_lines_anywhere_stay(
    lines: list[tuple[int, str]], ends: str, mode: Mode
) -> None:
    written = UNINDENTED.split("\n")
    for at, line in lines:
        written.insert(at, line)
    text = ends.join(written)
    there = covered(text, mode=mode)
    assert [line for line in there.split(ends) if "#" in line] == [
        line for line in text.split(ends) if "#" in line
    ]
    assert taken_back(there) == text
    assert covered(there) == there


@settings(max_examples=25)
@given(
    left_out=st.sets(
        st.sampled_from(["labels", "annotations", "env", "args", "serviceAccountName"])
    ),
    tail=st.sampled_from(["", "\n", "\n\n", "\n# end", "\n...\n", "\n---\n", "\n---"]),
    mode=st.sampled_from(Mode),
)
def test_whatever_is_there_already(left_out: set[str], tail: str, mode: Mode) -> None:
    kept, deep = [], None
    for line in COMMENTED.rstrip("\n").split("\n"):
        column = len(line) - len(line.lstrip())
        if deep is not None and (column > deep or not line.strip()):
            continue
        deep = None
        if any(line.strip().startswith(f"{name}:") for name in left_out) and column != 10:
            deep = column
        else:
            kept.append(line)
    text = "\n".join(kept) + tail
    assert taken_back(covered(text, mode=mode)) == text
