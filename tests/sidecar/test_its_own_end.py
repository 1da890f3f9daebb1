"""It ends with 0 on SIGTERM, soon, whatever became of the rest."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING

import pytest

from tests.sidecar.pod import ATTEMPT, KEY

if TYPE_CHECKING:
    from tests.sidecar.pod import Pod


def test_the_end_is_written_before_the_signal_and_the_sidecar_stays(pod: Pod) -> None:
    pod.start()
    pod.leave_exit_code(0)
    pod.wait_for_the_end_row()

    assert pod.process.poll() is None
    assert pod.stop() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_with_the_file_there_writes_the_end(pod: Pod, number: int) -> None:
    pod.start()
    pod.wait_for_the_start_row()
    pod.claim()
    pod.leave_exit_code(0)

    assert pod.stop(number) == 0
    assert pod.attempts() == [("applied", 0, "child")]


def test_the_start_is_written_even_if_the_end_is_known_already(pod: Pod) -> None:
    pod.leave_exit_code(4)
    pod.start()

    assert pod.stop() == 0
    assert pod.attempts() == [("failed", 4, "child")]


def test_without_the_file_and_the_row_the_end_is_not_known(pod: Pod) -> None:
    pod.start()
    pod.wait_for_the_start_row()

    assert pod.stop() == 0
    assert pod.attempts() == [("lost", None, "k8sjob")]
    first, advice = pod.message().splitlines()
    assert first == (
        f"{KEY} lost: how the main container ended is not known (no file exit, and no Kubernetes "
        "to ask), and the period is not done by it"
    )
    assert "Run the period again" in advice


def test_without_the_file_the_row_still_tells_that_the_work_was_done(pod: Pod) -> None:
    """So it is where the main container was killed after its commit."""
    pod.start()
    pod.wait_for_the_start_row()
    pod.claim()

    assert pod.stop() == 0
    assert pod.attempts() == [("applied", None, "k8sjob")]
    assert pod.message().startswith(f"{KEY} applied; how the main container ended is not known")


def test_a_file_without_an_end_of_line_is_read_too(lite_pod: Pod) -> None:
    lite_pod.start()
    lite_pod.wait_for_the_start_row()
    (lite_pod.folder / "exit").write_text("3")

    assert lite_pod.stop() == 0
    assert lite_pod.attempts() == [("failed", 3, "child")]


def test_a_file_that_is_older_than_the_context_tells_of_another_run(lite_pod: Pod) -> None:
    """A sandbox that is made anew keeps the folder and runs the init containers again."""
    import os

    lite_pod.leave_exit_code(0)
    before = (lite_pod.folder / "context.json").stat().st_mtime_ns - 10**9
    os.utime(lite_pod.folder / "exit", ns=(before, before))
    lite_pod.start()
    lite_pod.wait_for_the_start_row()

    assert lite_pod.stop() == 0
    assert lite_pod.attempts() == [("lost", None, "k8sjob")]


def test_a_sidecar_that_was_killed_goes_on_with_the_same_attempt(pod: Pod) -> None:
    """The kubelet starts it again; the row is there already."""
    pod.start()
    pod.wait_for_the_start_row()
    pod.close()
    pod.start()
    pod.claim()
    pod.leave_exit_code(0)
    pod.wait_for_the_end_row()

    assert pod.stop() == 0
    assert pod.attempts() == [("applied", 0, "child")]
    assert "cannot be written" not in pod.said


def test_a_sidecar_that_is_started_after_the_end_leaves_it_as_it_is(pod: Pod) -> None:
    pod.start()
    pod.leave_exit_code(3)
    pod.wait_for_the_end_row()
    pod.close()
    pod.start()
    pod.leave_exit_code(0)

    assert pod.stop() == 0
    assert pod.attempts() == [("failed", 3, "child")]


def test_without_a_context_it_waits_for_one(lite_pod: Pod) -> None:
    (lite_pod.folder / "context.json").rename(lite_pod.folder / "later")
    lite_pod.begin()
    lite_pod.hear("context")
    (lite_pod.folder / "later").rename(lite_pod.folder / "context.json")
    lite_pod.wait_for_the_start_row()

    assert lite_pod.stop() == 0


def test_a_signal_while_it_waits_for_a_context_ends_it_too(lite_pod: Pod) -> None:
    (lite_pod.folder / "context.json").write_text("{")
    lite_pod.begin()
    lite_pod.hear("context")

    assert lite_pod.stop() == 0
    assert lite_pod.attempts() == []


def test_a_signal_that_comes_before_anybody_listens_is_kept(lite_pod: Pod) -> None:
    """A main container that does nothing may end before Python has imported all of it."""
    lite_pod.leave_exit_code(3)
    lite_pod.begin()
    lite_pod.wait_for_signals_to_be_held_or_taken()

    assert lite_pod.stop() == 0
    assert lite_pod.attempts() == [("failed", 3, "child")]


def test_without_a_named_folder_it_says_what_to_name(lite_pod: Pod) -> None:
    lite_pod.begin(K8SJOB_CONTEXT="")

    assert lite_pod.ended() == 64
    assert "no context folder is named" in lite_pod.said


def test_in_a_pod_it_logs_json(lite_pod: Pod) -> None:
    lite_pod.start(K8SJOB_LOG_FORMAT="json")
    lite_pod.wait_for_the_start_row()
    lite_pod.claim()
    lite_pod.leave_exit_code(0)
    lite_pod.wait_for_the_end_row()
    lite_pod.stop()

    begun, ended = map(json.loads, lite_pod.said.splitlines())
    assert begun["event"] == "attempt_begun"
    assert ended["event"] == "attempt_applied"
    assert (ended["key"], ended["attempt"]) == (KEY, str(ATTEMPT))
    assert (ended["outcome"], ended["exit_code"], ended["speaker"]) == ("applied", 0, "child")


def test_the_termination_message_tells_how_it_ended(lite_pod: Pod) -> None:
    told = lite_pod.folder / "termination-log"
    told.touch()
    lite_pod.start(K8SJOB_TERMINATION_LOG=str(told))
    lite_pod.leave_exit_code(3)
    lite_pod.wait_for_the_end_row()
    lite_pod.stop()

    assert told.read_text().startswith(f"{KEY} failed: the main container ended with 3 (attempt ")


#: A sidecar that meets an error nobody has thought of: nothing can be looked up in its environment.
BROKEN = """
import sys
from k8sjob.run.sidecar.entry import Place, keep_books
sys.exit(keep_books(Place(context=sys.argv[1], folder=sys.argv[1], container=None, stop_grace_s=1,
                          ledger=None, env=None, as_json=False)))
"""


def test_a_bug_of_its_own_fails_nothing(lite_pod: Pod) -> None:
    lite_pod.begin(program=["-c", BROKEN, str(lite_pod.folder)])
    lite_pod.hear("the sidecar failed")

    assert lite_pod.process.poll() is None
    assert lite_pod.stop() == 0
    assert "AttributeError" in lite_pod.said
