from __future__ import annotations

import re
from typing import TYPE_CHECKING

from k8sjob.errors import ExitCode
from k8sjob.ledger.sqlstates import ERRORS, OUTCOMES
from tests.recipes.processes import RECIPES, ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "recipes.md").read_text()
LANGUAGES = {".py": "python", ".sql": "sql", ".mjs": "js", ".go": "go"}
REGION = re.compile(
    r"^(?://|#|--) region: (\w+)\n(.*?)^(?://|#|--) endregion$", re.MULTILINE | re.DOTALL
)
SNIPPET = re.compile(r"^<!-- from (\S+)#(\w+) -->\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| `(KJ\d{3})` \| ([^|]+) \| (\d+) \|", re.MULTILINE)


def regions() -> dict[tuple[str, str], tuple[str, str]]:
    """Return language and text of every region of every recipe."""
    return {
        (path.relative_to(ROOT).as_posix(), name): (LANGUAGES[path.suffix], text.strip())
        for path in sorted(_files())
        for name, text in REGION.findall(path.read_text())
    }


def _files() -> list[Path]:
    return [
        path
        for path in RECIPES.rglob("*")
        if path.suffix in LANGUAGES and "node_modules" not in path.parts
    ]


def test_the_page_shows_the_code_that_the_tests_run() -> None:
    shown = {
        (file, name): (fence, text.strip()) for file, name, fence, text in SNIPPET.findall(PAGE)
    }
    assert shown == regions()


def test_every_recipe_has_something_to_show() -> None:
    assert {file for file, _ in regions()} == {f.relative_to(ROOT).as_posix() for f in _files()}


def test_no_other_code_of_these_languages_is_on_the_page() -> None:
    fences = re.findall(r"^```(\w+)$", PAGE, re.MULTILINE)
    assert sum(fence in LANGUAGES.values() for fence in fences) == len(SNIPPET.findall(PAGE))


def test_the_table_of_sqlstates_is_the_codes() -> None:
    outcomes = {state: (f"{outcome}", outcome.exit_code) for state, outcome in OUTCOMES.items()}
    errors = {state: (f"`{e.__name__}`", e.exit_code) for state, (e, _) in ERRORS.items()}
    shown = {state: (what, ExitCode(int(code))) for state, what, code in ROW.findall(PAGE)}
    assert shown == outcomes | errors


def test_the_lock_file_names_no_registry() -> None:
    assert "http" not in (RECIPES / "node" / "package-lock.json").read_text()
