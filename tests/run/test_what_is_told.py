from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.errors import PermanentError
from tests.run.commandline import CREDIT, JOB, CommandLine, never

if TYPE_CHECKING:
    from pathlib import Path

SCHEDULED = "2026-09-13T00:00:00Z"
KEY = f"{JOB}:{SCHEDULED}"
ATTEMPT = "[0-9a-f]{8}-[0-9a-f]{4}"


def breaks(_run: Any) -> None:
    raise PermanentError("closed for ever\n  Ask the bank.")


def lines(text: str) -> list[dict[str, Any]]:
    """Read one object a line."""
    return [json.loads(line) for line in text.splitlines()]


# ------------------------------------------------------------------------------ for a person


def test_a_run_closes_with_one_line(cli: CommandLine) -> None:
    told = cli.run(cli.file(CREDIT), period=SCHEDULED)
    line = rf"{re.escape(KEY)} applied in [0-9,]+ ms \(attempt {ATTEMPT}, source --period\)\n"
    assert re.fullmatch(line, told.out)
    assert told.err == ""
    assert cli.last().id.startswith(told.out.partition("(attempt ")[2][:13])


def test_a_duplicate_closes_with_one_line(cli: CommandLine) -> None:
    cli.run(cli.file(CREDIT), period=SCHEDULED)
    told = cli.run(never, period=SCHEDULED)
    line = (
        rf"{re.escape(KEY)} duplicate: done 20[0-9: -]+Z by attempt {ATTEMPT} "
        rf"\(attempt {ATTEMPT}, source --period\)\n"
    )
    assert re.fullmatch(line, told.out)
    assert told.err == ""


def test_a_failure_says_what_happened_and_what_to_do_on_standard_error(cli: CommandLine) -> None:
    told = cli.run(breaks, period=SCHEDULED)
    assert told.out == ""
    *_, summary, advice = told.err.splitlines()
    line = (
        rf"k8sjob: {re.escape(KEY)} failed: closed for ever \(attempt {ATTEMPT}, source --period\)"
    )
    assert re.fullmatch(line, summary)
    assert advice == "  Ask the bank."


def test_what_the_target_prints_stays_where_it_was_printed(cli: CommandLine) -> None:
    def work(_run: Any) -> None:
        print("crediting alice")  # noqa: T201  # as targets do

    told = cli.run(work)
    first, last = told.out.splitlines()
    assert first == "crediting alice"
    assert "applied in" in last


# --------------------------------------------------------------------------------- for a Pod


@pytest.fixture(params=[("K8SJOB_LOG_FORMAT", "json"), ("KUBERNETES_SERVICE_HOST", "10.0.0.1")])
def in_pod(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask for JSON, or be in a Pod."""
    monkeypatch.setenv(*request.param)


@pytest.mark.usefixtures("in_pod")
def test_in_a_pod_a_success_is_one_object(cli: CommandLine) -> None:
    told = cli.run(cli.file(CREDIT), period=SCHEDULED)
    assert told.out == ""
    (line,) = lines(told.err)
    assert line["message"].startswith(f"{KEY} applied in ")
    assert line["level"] == "info"
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"])
    expected = {
        "event": "attempt_applied",
        "key": KEY,
        "namespace": "billing",
        "job": JOB,
        "period": SCHEDULED,
        "attempt": cli.last().id,
        "source": "--period",
        "outcome": "applied",
        "exit_code": 0,
    }
    assert expected.items() <= line.items()
    assert line["duration_ms"] > 0


@pytest.mark.usefixtures("in_pod")
def test_in_a_pod_a_failure_is_one_object_with_its_traceback(cli: CommandLine) -> None:
    told = cli.run(breaks, period=SCHEDULED)
    (line,) = lines(told.err)
    assert (line["level"], line["outcome"], line["exit_code"]) == ("error", "failed", 70)
    assert line["tail"].startswith("Traceback (most recent call last):\n")
    assert "Ask the bank." in line["message"]


@pytest.mark.usefixtures("in_pod")
@pytest.mark.parametrize("flags", [["--job", "credit"], ["--ledger", "other"]])
def test_in_a_pod_a_refusal_before_the_start_is_one_object(
    cli: CommandLine, flags: list[str]
) -> None:
    told = cli.run(never, *flags)
    (line,) = lines(told.err)
    assert (line["level"], line["event"]) == ("error", "attempt_not_started")
    assert line["exit_code"] == told.code != 0


def test_a_person_in_a_pod_can_ask_for_text(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("K8SJOB_LOG_FORMAT", "text")
    assert cli.run(cli.file(CREDIT)).out.startswith(JOB)


def test_another_log_format_is_refused(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("K8SJOB_LOG_FORMAT", "xml")
    told = cli.run(never)
    assert (told.code, cli.attempts()) == (78, [])
    assert "'xml' is neither json nor text" in told.err


# ------------------------------------------------------------------------ termination message


@pytest.fixture
def termination(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the file that a kubelet makes, which says nothing yet."""
    path = tmp_path / "termination-log"
    path.touch()
    monkeypatch.setenv("K8SJOB_TERMINATION_LOG", str(path))
    return path


def test_the_termination_message_is_the_closing_line(cli: CommandLine, termination: Path) -> None:
    told = cli.run(cli.file(CREDIT))
    assert termination.read_text() == told.out.rstrip("\n")


def test_the_termination_message_ends_with_the_summary_and_fits(
    cli: CommandLine, termination: Path
) -> None:
    def work(_run: Any) -> None:
        raise PermanentError("é" * 3000)

    cli.run(work)
    message = termination.read_bytes()
    assert len(message) <= 4096
    assert message.endswith(b"source --period)")
    assert cli.last().message == f"{JOB}:2026-09-13 failed: " + "é" * 3000


def test_the_output_comes_before_the_summary(cli: CommandLine, termination: Path) -> None:
    cli.run(breaks)
    first, *_, summary, advice = termination.read_text().splitlines()
    assert first == "Traceback (most recent call last):"
    assert summary.startswith(f"{JOB}:2026-09-13 failed: closed for ever (attempt ")
    assert advice == "  Ask the bank."


def test_a_refusal_before_the_start_is_in_the_termination_message(
    cli: CommandLine, termination: Path
) -> None:
    cli.run(never, "--period", "tomorrow")
    assert "tomorrow" in termination.read_text()


def test_without_a_kubelet_no_file_is_made(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K8SJOB_TERMINATION_LOG", str(tmp_path / "none"))
    assert cli.run(cli.file(CREDIT)).code == 0
    assert not (tmp_path / "none").exists()
