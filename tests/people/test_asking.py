"""What is wide is asked about on a terminal, and needs ``--yes`` where there is none."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import k8sjob
from tests.people.conftest import JOB, KEY

if TYPE_CHECKING:
    from tests.people.conftest import Desk

ROOT = Path(k8sjob.__file__).parent.parent
WIDE = {
    "two periods": ("skip", KEY, f"{JOB}:2026-09-14"),
    "a range": ("skip", f"{JOB}:2026-09-13..2026-09-14"),
    "two jobs": ("block", JOB, "billing/other"),
    "a namespace": ("block", "-n", "billing"),
    "all": ("block", "-A"),
    "a time to come": ("skip", f"{JOB}:2998-12-25"),
    "a job that is not known": ("skip", "billing/dialy-credit:2026-09-13"),
    "a hold of a job that is not known": ("block", "billing/dialy-credit"),
}
NARROW = {
    "a period": ("skip", KEY),
    "a job": ("block", JOB),
    "a range of one": ("skip", f"{JOB}:2026-09-13..2026-09-13"),
}


@pytest.mark.parametrize("words", WIDE.values(), ids=WIDE)
def test_without_a_terminal_it_needs_yes(desk: Desk, words: tuple[str, ...]) -> None:
    told = desk.call(*words, "--reason", "why")
    assert told.code == 64
    assert f"this would {words[0]} " in told.err
    assert "Nothing was changed." in told.err
    assert "--yes" in told.err
    assert (desk.states(), desk.holds()) == ({}, [])
    assert desk.call(*words, "--reason", "why", "--yes").code == 0
    assert desk.states() or desk.holds()


@pytest.mark.parametrize("words", NARROW.values(), ids=NARROW)
def test_one_period_or_one_job_is_not_asked_about(desk: Desk, words: tuple[str, ...]) -> None:
    assert desk.call(*words, "--reason", "why").code == 0


def test_what_changes_nothing_is_not_asked_about(desk: Desk) -> None:
    assert desk.call("release", "-A", "--reason", "why").code == 0


def test_an_effect_that_is_not_due_cannot_have_been_handed_over(desk: Desk) -> None:
    told = desk.call("await", f"{JOB}:2998-12-25", "--reason", "sent", "--yes")
    assert told.code == 1
    assert "its time has not come" in told.err


@pytest.mark.parametrize("verb", ["block", "skip", "await", "confirm", "release", "reopen"])
@pytest.mark.parametrize(
    "reason", [[], ["--reason", ""], ["--reason", " \t"], ["--reason", "…"], ["--reason", "..."]]
)
def test_nothing_is_decided_without_a_reason(desk: Desk, verb: str, reason: list[str]) -> None:
    told = desk.call(verb, KEY, *reason)
    assert told.code == 64
    assert "a reason is needed" in told.err
    assert (desk.states(), desk.holds()) == ({}, [])


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 130), ("", 130)])
def test_on_a_terminal_it_shows_what_and_asks(desk: Desk, answer: str, code: int) -> None:
    ours, its = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "k8sjob", "block", "-A", "--reason", "upgrade"],
        env={**os.environ, "K8SJOB_DSN": desk.dsn, "PYTHONPATH": str(ROOT)},
        stdin=its,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(its)
    os.write(ours, f"{answer}\n".encode())
    _, err = process.communicate(timeout=60)
    os.close(ours)
    assert process.returncode == code
    assert "all jobs  blocked: upgrade\nblock all jobs? [y/N]: " in err
    assert len(desk.holds()) == (1 if code == 0 else 0)
