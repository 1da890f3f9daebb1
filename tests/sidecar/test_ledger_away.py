"""While the ledger is away the main container does not notice, and nothing is given up."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from tests.sidecar.pod import KEY

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sidecar.pod import Pod

#: Nothing listens there.
NOWHERE = "postgresql://runner:sesame-open@127.0.0.1:1/nowhere"


@pytest.fixture
def dsn_file(lite_pod: Pod, tmp_path: Path) -> Path:
    """Let the sidecar read its ledger's address from a file that can be changed."""
    file = tmp_path / "dsn"
    lite_pod.env["K8SJOB_DSN_FILE"] = str(file)
    return file


def test_a_ledger_that_is_away_at_first_is_awaited(pod: Pod, tmp_path: Path) -> None:
    dsn_file = tmp_path / "dsn"
    dsn_file.write_text(NOWHERE)
    pod.start(K8SJOB_DSN_FILE=str(dsn_file))
    said = pod.hear("cannot be written yet")
    dsn_file.write_text(pod.store.dsn)
    pod.wait_for_the_start_row()
    pod.claim()
    pod.leave_exit_code(0)
    pod.wait_for_the_end_row()

    assert pod.stop() == 0
    assert pod.attempts() == [("applied", 0, "child")]
    assert f"the attempt's start of {KEY} cannot be written yet: the ledger cannot be" in said
    assert pod.said.count("cannot be written yet") == 1
    assert f"the attempt's start of {KEY} is written now" in pod.said
    assert "sesame" not in pod.said


def test_a_ledger_that_comes_back_after_the_end_gets_both_rows(
    lite_pod: Pod, dsn_file: Path
) -> None:
    dsn_file.write_text(NOWHERE)
    lite_pod.start()
    lite_pod.hear("cannot be written yet")
    lite_pod.leave_exit_code(3)
    dsn_file.write_text(lite_pod.store.dsn)
    lite_pod.wait_for_the_end_row()

    assert lite_pod.stop() == 0
    assert lite_pod.attempts() == [("failed", 3, "child")]


def test_each_reason_is_told_once(lite_pod: Pod, dsn_file: Path) -> None:
    lite_pod.start()
    lite_pod.hear("cannot read")  # there is no such file yet
    dsn_file.write_text("gibberish")
    lite_pod.hear("is not an address of a ledger")
    dsn_file.write_text(NOWHERE)
    lite_pod.hear("the ledger cannot be reached")
    dsn_file.write_text(lite_pod.store.dsn)
    lite_pod.wait_for_the_start_row()

    assert lite_pod.stop() == 0
    assert lite_pod.said.count("cannot be written yet") == 3


def test_a_ledger_that_never_comes_back_fails_nothing(lite_pod: Pod, dsn_file: Path) -> None:
    dsn_file.write_text("gibberish")
    lite_pod.start("--stop-grace", "500ms")
    lite_pod.hear("cannot be written yet")
    lite_pod.leave_exit_code(3)

    assert lite_pod.stop() == 0
    assert f"{KEY}: its end could not be written, the main container ended with 3" in lite_pod.said
    assert lite_pod.attempts() == []


def test_on_sqlite_a_claim_that_holds_the_file_delays_the_rows_and_not_the_end(
    lite_pod: Pod,
) -> None:
    with_claim = lite_pod.connect()
    with_claim.execute("BEGIN IMMEDIATE")
    lite_pod.start()
    lite_pod.hear("cannot be written yet")
    with_claim.rollback()
    with_claim.close()
    lite_pod.wait_for_the_start_row()

    assert lite_pod.stop() == 0


def test_a_server_that_accepts_and_never_answers_delays_no_end(
    lite_pod: Pod, dsn_file: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        dsn_file.write_text(f"postgresql://runner@127.0.0.1:{silent.getsockname()[1]}/ledger")
        lite_pod.start("--stop-grace", "100ms")
        accepted, _ = silent.accept()
        with accepted:
            lite_pod.leave_exit_code(0)

            assert lite_pod.stop() == 0
    assert f"{KEY}: its end could not be written" in lite_pod.said
