"""What was put in is taken out again to the letter; twice is once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from k8sjob.manifest.inject.record import Mode
from tests.inject.examples import BLOCKS, COMMENTED, EMPTY, EXAMPLES, LISTED, OTHERS, UNINDENTED
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


def test_an_annotation_changed_by_hand_is_what_was_asked() -> None:
    there = covered(COMMENTED, annotations={"grace": "5m"})
    assert covered(there.replace('grace: "5m"', 'grace: "9m"')) == covered(
        COMMENTED, annotations={"grace": "9m"}
    )


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
