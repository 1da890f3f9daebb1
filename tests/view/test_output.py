"""The forms of the output: JSON as the reference lists it, wide tables, colour, odd characters."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.cli import looking
from k8sjob.view.table import paint, table
from tests.view.conftest import JOB, at, period

ROLLED_BACK = "Its work was rolled back, the period is free."

if TYPE_CHECKING:
    from tests.view.conftest import Ledger

REFERENCE = (Path(__file__).parents[2] / "docs" / "reference.md").read_text("utf-8")


def documented(what: str) -> list[str]:
    """Return the fields that the reference lists for ``-o json`` of ``get jobs`` and so on."""
    section = REFERENCE.partition("\n## Lists as JSON\n")[2].partition("\n## ")[0]
    (body,) = re.findall(rf"### `get {what}`\n(.*?)(?=\n### |\Z)", section, re.DOTALL)
    return re.findall(r"^\| `(\w+)` \|", body, re.MULTILINE)


@pytest.mark.parametrize("what", ["jobs", "periods", "attempts"])
def test_the_reference_lists_the_fields_of_the_json(ledger: Ledger, what: str) -> None:
    ledger.know()
    ledger.put(12, "open")
    ledger.tried(1, 12, "12T00:00:05")
    told = ledger.call("get", what, "-o", "json").json
    assert list(told) == [what, "cut", "notes"]
    assert list(told[what][0]) == documented(what)


def test_wide_tables_have_more_columns(ledger: Ledger) -> None:
    ledger.know()
    ledger.put(12, "done")
    ledger.tried(1, 12, "12T00:00:05", node="node-1")
    assert (
        ledger.call("get", "jobs", "-o", "wide")
        .lines[0]
        .endswith("TIME ZONE    FLOOR  FAILED IN A ROW  HELD  OWNER  SEVERITY  CATCH-UP")
    )
    assert (
        ledger.call("get", "periods", "-o", "wide")
        .lines[1]
        .endswith("0           -        2026-09-12T00:00:07Z  -         claim")
    )
    assert "node-1" in ledger.call("get", "attempts", "-o", "wide").lines[1]


def test_what_a_child_has_said_cannot_move_the_cursor(ledger: Ledger) -> None:
    ledger.know()
    ended: dict[str, Any] = {"ended_at": at("12T00:00:06"), "outcome": "failed", "exit_code": 1}
    ledger.tried(1, 12, "12T00:00:05", message="a\x1b[2J b\u202ec", **ended)
    for words in (("get", "attempts"), ("get", "periods"), ("get", "jobs")):
        out = ledger.call(*words).out
        assert "a [2J b c" in out
        assert len(out.splitlines()) == 2
    assert "a [2J b c" in ledger.call("describe", f"{JOB}:{period(12)}").out


def test_columns_are_aligned_whatever_the_colour() -> None:
    rows = [["a", "2 missing, 1 due", "x"], ["bb", "done", ""]]
    plain = ["N   STATE             R", "a   2 missing, 1 due  x", "bb  done"]
    assert table(["N", "STATE", "R"], rows, colour=False) == plain
    coloured = table(["N", "STATE", "R"], rows, colour=True)
    assert coloured[1] == "a   \x1b[31m2 missing, 1 due\x1b[0m  x"
    assert [re.sub(r"\x1b\[\d*m", "", line).rstrip() for line in coloured] == plain


@pytest.mark.parametrize("cell", ["due to a bug?", "failed 1", "no end", "blocked"])
def test_a_state_has_a_colour(cell: str) -> None:
    assert paint(cell).startswith("\x1b[")
    assert paint(f"x{cell}") == f"x{cell}"


def test_colour_is_for_terminals_and_no_color_is_respected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False)
    assert not looking.colour()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert looking.colour()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not looking.colour()
    monkeypatch.setenv("NO_COLOR", "")
    assert looking.colour()
    monkeypatch.setenv("TERM", "dumb")
    assert not looking.colour()


@pytest.mark.parametrize(
    ("outcome", "message", "said"),
    [
        ("applied", "{} applied", ""),
        ("applied", "{} applied, although the command then ended with 3", "although the command"),
        (
            "failed",
            "{} failed: KeyError: 'x'. Its work was rolled back, the period is free.",
            "KeyError: 'x'.",
        ),
        ("duplicate", "{} duplicate: done 2026-09-13\n  Nothing was changed.", "done 2026-09-13"),
        ("failed", "{} stopped by SIGTERM", "stopped by SIGTERM"),
    ],
)
def test_a_message_repeats_no_other_column(
    ledger: Ledger, outcome: str, message: str, said: str
) -> None:
    ledger.know()
    ended: dict[str, Any] = {"ended_at": at("12T00:00:06"), "outcome": outcome, "exit_code": 1}
    key = "billing/daily-credit:2026-09-12T00:00:00Z"
    ledger.tried(1, 12, "12T00:00:05", message=message.format(key), **ended)

    out = ledger.call("get", "attempts").out.splitlines()[1]

    assert key not in out
    assert out.rpartition("  -  ")[2].strip().startswith(said)
    assert "rolled back" not in out
    assert "Nothing was changed" not in out
