"""docs/doctor.md says what is checked."""

from __future__ import annotations

import re
from pathlib import Path

from k8sjob.cli.main import COMMANDS
from k8sjob.doctor.clocks import FAIL_S, WARN_S
from k8sjob.doctor.gather import WITHIN_S
from k8sjob.doctor.limits import CUTS
from k8sjob.doctor.line import CHECKS
from k8sjob.doctor.purpose import NEEDS, Purpose
from k8sjob.doctor.reach import NEWEST, OLDEST

PAGE = (Path(__file__).parents[2] / "docs" / "doctor.md").read_text("utf-8")


def rows(first: str) -> list[list[str]]:
    """Return the cells of the table whose header begins with ``first``."""
    lines = PAGE.partition(f"| {first} |")[2].splitlines()[2:]
    cells = []
    for line in lines:
        if not line.startswith("|"):
            break
        cells.append([cell.strip() for cell in line.strip("|").split("|")])
    return cells


def test_the_table_of_checks_is_that_of_the_code() -> None:
    assert rows("check") == [[f"`{name}`", meaning] for name, meaning in CHECKS.items()]


def test_each_check_has_its_section() -> None:
    assert re.findall(r"^### (\w+)$", PAGE, re.MULTILINE) == list(CHECKS)


def test_the_example_has_a_line_of_each_check_of_a_ledger_on_postgres() -> None:
    example = PAGE.partition("```console")[2].partition("```")[0].splitlines()[3:-1]

    assert [line.split()[1] for line in example] == [name for name in CHECKS if name != "file"]


def test_what_each_purpose_needs_is_that_of_the_code() -> None:
    for purpose, (_, ledger, kubernetes) in zip(Purpose, rows("`--for`"), strict=True):
        need = NEEDS[purpose]
        assert ledger.split()[-1] == need.capability
        for access in need.access:
            assert access.verb in kubernetes
            assert access.resource.partition(".")[0] in kubernetes
        assert ("in all namespaces" in kubernetes) == need.everywhere
        assert (kubernetes == "nothing") == (not need.access)
    assert [row[0].split()[0] for row in rows("`--for`")] == [f"`{p}`" for p in Purpose]


def test_the_numbers_are_those_of_the_code() -> None:
    assert f"{WARN_S:g} s apart is a warning, {FAIL_S:g} s\nfails" in PAGE
    assert f"`--timeout`\n({WITHIN_S:g} s) at most" in PAGE
    assert f"Postgres {OLDEST} is the oldest, {NEWEST} the newest" in PAGE


def test_the_limits_are_those_of_the_code() -> None:
    assert {row[0].split()[0].strip("`") for row in rows("setting")} == set(CUTS)


def test_the_command_is_listed_after_migrate() -> None:
    names = list(COMMANDS)
    assert names.index("doctor") == names.index("migrate") + 1
