from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.recipes.clients import KEY
from tests.recipes.conftest import CLIENTS, client_called
from tests.recipes.processes import RECIPES, Done, run_go, run_node, run_program, run_psql

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.recipes.conftest import Business

# Each is run once; what an exit code says is the same code's doing in all of them.
PROGRAMS = (
    "psycopg_asyncio",
    "sqlalchemy_session",
    "sqlalchemy_sql",
    "sqlalchemy_serializable",
    "sqlalchemy_asyncio",
    "sqlalchemy_pgbouncer",
    "django_atomic",
)


def exits(start: Callable[[int], Done]) -> list[int]:
    """Return the exit codes of a first run, a second one, and one with another amount."""
    return [code(start, amount) for amount in (10, 10, 11)]


def code(start: Callable[[int], Done], amount: int) -> int:
    try:
        return start(amount).returncode
    except subprocess.CalledProcessError as error:
        return error.returncode


def test_every_recipe_in_python_is_run_here() -> None:
    run_elsewhere = {"program", "psycopg_blocking", "sqlite3_file"}
    assert {path.stem for path in RECIPES.glob("*.py")} == {*PROGRAMS, *run_elsewhere}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_recipe_in_python_runs_as_a_program(
    request: pytest.FixtureRequest, business: Business, name: str
) -> None:
    if name in CLIENTS:
        client_called(request, name)  # where something is missing, the closing lines say so
    assert run_program(name, business.url, KEY, 10).stdout == "applied\n"
    assert (business.balance(), business.done()) == (10, [str(KEY)])


def test_a_recipe_in_python_exits_as_the_page_says(business: Business) -> None:
    def start(amount: int) -> Done:
        return run_program("psycopg_blocking", business.url, KEY, amount)

    assert exits(start) == [0, 0, 65]
    assert business.balance() == 10
    duplicate = start(10)
    assert duplicate.stdout == ""
    assert duplicate.stderr.startswith(f"{KEY} duplicate")


def test_the_recipe_for_sqlite_exits_as_the_page_says(sqlite_path: Path) -> None:
    url = f"sqlite:///{sqlite_path}"
    assert exits(lambda amount: run_program("sqlite3_file", url, KEY, amount)) == [0, 0, 65]


def test_without_a_period_a_program_does_nothing(business: Business) -> None:
    with pytest.raises(subprocess.CalledProcessError) as refusal:
        run_program("psycopg_blocking", business.url, "", 10)
    assert "NoPeriod" in refusal.value.stderr


@pytest.mark.parametrize(
    ("script", "codes"), [("credit.sql", [0, 3, 3]), ("credit_unless_done.sql", [0, 0, 3])]
)
def test_a_script_of_psql_exits_as_the_page_says(
    business: Business, psql: str, script: str, codes: list[int]
) -> None:
    def start(amount: int) -> Done:
        return run_psql(psql, business.url, KEY, amount, RECIPES / script)

    assert exits(start) == codes
    assert business.balance() == 10


def test_node_exits_as_the_page_says(request: pytest.FixtureRequest, business: Business) -> None:
    client_called(request, "node")
    folder = request.getfixturevalue("node_folder")

    def start(amount: int) -> Done:
        return run_node(folder, business.url, KEY, "credit.mjs", str(amount))

    assert exits(start) == [0, 0, 65]
    assert business.balance() == 10
    with pytest.raises(subprocess.CalledProcessError) as refusal:
        start(11)
    assert refusal.value.stderr.startswith("KJ002 billing/daily-credit:2026-09-13 was done with")


def test_go_exits_as_the_page_says(request: pytest.FixtureRequest, business: Business) -> None:
    client_called(request, "go")
    folder = request.getfixturevalue("go_folder")

    def start(amount: int) -> Done:
        return run_go(folder, business.url, KEY, "credit", str(amount))

    assert exits(start) == [0, 0, 65]
    assert business.balance() == 10
