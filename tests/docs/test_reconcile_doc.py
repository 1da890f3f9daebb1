"""docs/reconcile.md says what the code has: annotations, codes of reasons, policies."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from k8sjob.policy import PREFIX, READERS, CatchUp
from k8sjob.reconcile import due, why

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "reconcile.md").read_text("utf-8")


def table_after(words: str) -> list[list[str]]:
    """Return the cells of the first table behind some words, its head left out."""
    lines = TEXT.split(words, 1)[1].splitlines()
    rows = [line for line in lines if line.startswith("|") or not line]
    found: list[list[str]] = []
    for line in lines[lines.index(next(row for row in rows if row)) :]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found[2:]


def names(cell: str) -> list[str]:
    return re.findall("`([^`]+)`", cell)


def codes() -> set[str]:
    """Return the codes that why.py gives, as they stand in it."""
    tree = ast.parse(Path(why.__file__).read_text("utf-8"))
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    named = [c for c in calls if isinstance(c.func, ast.Name) and c.func.id == "Why"]
    return {str(c.args[0].value) for c in named if isinstance(c.args[0], ast.Constant)}


def test_each_annotation_that_is_read_is_told_and_no_other() -> None:
    told = [name for row in table_after("Annotations, all optional:") for name in names(row[0])]
    assert sorted(told) == sorted(name.removeprefix(PREFIX) for name in READERS)


def test_each_reason_has_its_line() -> None:
    assert [names(row[0])[0] for row in table_after("## Why a period is missing")]
    told = {names(row[0])[0] for row in table_after("## Why a period is missing")}
    assert told == codes()


def test_each_policy_has_its_line() -> None:
    assert [names(row[0])[0] for row in table_after("## Catch-up")] == [*CatchUp]


def test_the_bound_of_a_pass_is_one_that_a_years_outage_passes_in_parts() -> None:
    assert due.MOST >= 1440 * 2  # two days of a minute schedule in one pass
