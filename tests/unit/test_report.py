from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from k8sjob.ledger.uuid7 import uuid7
from k8sjob.run.report import TERMINATION_BYTES, sentence, write_termination_message
from k8sjob.run.request import Flags, make_request
from k8sjob.run.result import Result
from k8sjob.states import Outcome

if TYPE_CHECKING:
    from pathlib import Path

REQUEST = make_request("f.sql", Flags(job="a/b", period="once"), {})


def test_the_line_for_a_person_says_key_outcome_time_attempt_and_source() -> None:
    attempt = uuid7()
    result = Result(outcome=Outcome.APPLIED, exit_code=0, message="a/b:once applied")

    line = sentence(REQUEST, result, attempt, 1234.4)

    assert line == f"a/b:once applied in 1,234 ms (attempt {str(attempt)[:13]}, source --period)"


def test_what_to_do_follows_below_a_failure_and_nothing_below_a_success() -> None:
    message = "a/b:once blocked: card declined\n  Nothing was changed."
    good = Result(outcome=Outcome.BLOCKED, exit_code=0, message=message)
    bad = Result(outcome=Outcome.BLOCKED, exit_code=83, message=message)

    assert "\n" not in sentence(REQUEST, good, uuid7(), 1)
    assert sentence(REQUEST, bad, uuid7(), 1).endswith(")\n  Nothing was changed.")


def written(path: Path, text: str, tail: str | None) -> bytes:
    path.touch()
    write_termination_message(text, tail, {"K8SJOB_TERMINATION_LOG": str(path)})
    return path.read_bytes()


def test_the_termination_message_ends_with_the_summary(tmp_path: Path) -> None:
    assert written(tmp_path / "log", "summary", "last words\n") == b"last words\nsummary"
    assert written(tmp_path / "log", "summary", None) == b"summary"


@pytest.mark.parametrize("summary", ["s" * 100, "ü" * 4000])
def test_the_termination_message_fits_what_the_kubelet_keeps(tmp_path: Path, summary: str) -> None:
    message = written(tmp_path / "log", summary, "ä" * 9000)

    assert len(message) <= TERMINATION_BYTES
    assert message.endswith(summary.encode()[-90:])


def test_outside_of_a_container_no_file_is_made(tmp_path: Path) -> None:
    write_termination_message("x", None, {"K8SJOB_TERMINATION_LOG": str(tmp_path / "log")})

    assert list(tmp_path.iterdir()) == []
