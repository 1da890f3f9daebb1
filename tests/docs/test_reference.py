"""The documents say what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import k8sjob
from k8sjob.cli.main import COMMANDS
from k8sjob.errors import EXIT_TABLE
from k8sjob.ledger.sqlstates import ERRORS, OUTCOMES
from tests.docs.write_help import block

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
REFERENCE = (ROOT / "docs" / "reference.md").read_text("utf-8")
SQL = "".join(p.read_text("utf-8") for p in (ROOT / "k8sjob").rglob("*.sql"))
CODE = "".join(p.read_text("utf-8") for p in (ROOT / "k8sjob").rglob("*.py"))


def rows(text: str, first: str) -> list[list[str]]:
    """Return the cells of the table whose header begins with ``first``."""
    lines = text.partition(f"| {first} |")[2].splitlines()[2:]
    table = []
    for line in lines:
        if not line.startswith("|"):
            break
        table.append([cell.strip() for cell in line.strip("|").split("|")])
    return table


def test_the_readmes_exit_codes_are_those_of_the_code() -> None:
    in_code = [
        [
            str(int(code)),
            meaning.name,
            "" if not code else "permanent" if meaning.permanent else "temporary",
            meaning.when,
        ]
        for code, meaning in EXIT_TABLE.items()
    ]

    assert rows(README, "code") == in_code


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_each_help_text_stands_in_the_reference(command: str) -> None:
    assert block(command) in REFERENCE, "make docs writes it"


def test_every_command_has_help_of_one_line_that_its_own_help_begins_with() -> None:
    for name, (_, line) in COMMANDS.items():
        assert line.endswith("."), name
        assert len(line) < 60, name


def test_each_environment_variable_stands_in_the_reference_and_none_besides() -> None:
    documented = set(re.findall(r"K8SJOB_[A-Z_]+", REFERENCE))
    read = set(re.findall(r'"(K8SJOB_[A-Z_]+)"', CODE))

    assert read == documented


def test_the_sqlstates_are_those_of_the_code_and_of_the_sql() -> None:
    documented = {row[0].strip("`"): row[1] for row in rows(REFERENCE, "SQLSTATE")}
    ours = {state: words for state, words in documented.items() if state.startswith("KJ")}

    assert ours == {s: str(o) for s, o in OUTCOMES.items()} | {s: e[1] for s, e in ERRORS.items()}
    raised = set(re.findall(r"ERRCODE = '(KJ\d{3})'", SQL)) - {"KJ000"}  # never leaves landed()
    assert raised == set(ours)


def test_each_sql_function_of_the_reference_has_these_parameters() -> None:
    section = REFERENCE.partition("\n## SQL\n")[2]
    for name, inside in re.findall(r"`k8sjob\.(\w+)\(([^)`]*)\)`", section):
        parameters = [p.split()[0] for p in inside.split(",") if p.strip()]
        match = re.search(rf"CREATE FUNCTION k8sjob\.{name}\((.*?)\)\s*RETURNS", SQL, re.DOTALL)
        assert match, name
        declared = [p.split()[0].removeprefix("p_") for p in match[1].split(",") if p.strip()]
        words = [{"role": "grantee"}.get(p, p) for p in parameters]
        assert words == declared, name


def test_the_functions_that_sqlite_offers_are_named() -> None:
    offered = set(re.findall(r'"(k8sjob_[a-z_]+)": ', CODE))

    assert offered == set(re.findall(r"`(k8sjob_[a-z_]+)\(\)`", REFERENCE))


def test_the_readmes_python_compiles() -> None:
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)

    assert len(blocks) >= 3
    for code in blocks:
        compile(code, "README.md", "exec")


def test_every_link_of_the_documents_leads_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*/README.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            if not target.startswith("https://"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_version_is_one() -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8")

    assert f'\nversion = "{k8sjob.__version__}"\n' in project


def test_every_public_name_can_be_imported_and_has_a_docstring() -> None:
    for name in k8sjob.__all__:
        value = getattr(k8sjob, name)
        if name != "__version__":
            assert value.__doc__, name


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'klaim'"):
        _ = k8sjob.klaim
