"""Whatever happens, the ledger's password is in no command line, output, message or table.

What a target itself prints, or gives to a log handler of its own (``logging.basicConfig`` makes
one), is its own affair: it goes past k8sjob. What it raises, returns, or logs without a handler of
its own goes through k8sjob.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from psycopg import sql

from k8sjob.errors import ExitCode
from tests.acceptance.processes import Processes
from tests.integration.leaks import Login, Password, Watch, command_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.fix_stores import Database

LEAKY = """
import logging, os, sys, traceback
from k8sjob import Awaiting, Blocked, PermanentError, Skipped

DSN, PASSWORD = os.environ["LEAK_DSN"], os.environ["LEAK_PASSWORD"]

def succeeds(run):
    run.conn.execute("SELECT 1")

def raises_the_dsn(run):
    raise RuntimeError(f"cannot reach {DSN}")

def raises_it_in_many_forms(run):
    raise RuntimeError({"dsn": DSN, "password": PASSWORD, "bytes": PASSWORD.encode()}, ascii(DSN))

def raises_it_as_a_cause(run):
    try:
        raise ValueError(f"password {PASSWORD!r}")
    except ValueError as error:
        raise PermanentError("see above") from error

def logs_it(run):
    for name in ("leaky", "k8sjob.leaky"):
        logging.getLogger(name).error("%s of %r", DSN, PASSWORD, extra={"dsn": DSN})
        logging.getLogger(name).warning("again", exc_info=ValueError(DSN))

def has_it_in_locals(run):
    dsn, password = DSN, PASSWORD
    return 1 / 0

def logs_its_locals(run):
    dsn, password = DSN, [PASSWORD]
    try:
        1 / 0
    except ZeroDivisionError as error:
        shown = traceback.TracebackException.from_exception(error, capture_locals=True)
        logging.getLogger().error("%s", "".join(shown.format()))
        raise RuntimeError("".join(shown.format()))

def is_cut(run):
    run.conn.execute("SELECT pg_terminate_backend(pg_backend_pid())")

def is_cut_and_tells_it(run):
    try:
        is_cut(run)
    except Exception as error:
        raise RuntimeError(f"lost {DSN}") from error

def blocks(run):
    raise Blocked(f"{DSN} does not answer")

def skips(run):
    raise Skipped(f"{PASSWORD} is wrong")

def awaits(run):
    return Awaiting(reason=f"handed to {DSN}")

def exits(run):
    sys.exit(f"no way to {DSN}")
"""
TARGETS = {
    "leaky:succeeds": ExitCode.OK,
    "leaky:raises_the_dsn": ExitCode.FAILED,
    "leaky:raises_it_in_many_forms": ExitCode.FAILED,
    "leaky:raises_it_as_a_cause": ExitCode.PERMANENT,
    "leaky:logs_it": ExitCode.OK,
    "leaky:has_it_in_locals": ExitCode.FAILED,
    "leaky:logs_its_locals": ExitCode.FAILED,
    "leaky:is_cut": ExitCode.UNAVAILABLE,
    "leaky:is_cut_and_tells_it": ExitCode.UNAVAILABLE,
    "leaky:blocks": ExitCode.OK,
    "leaky:skips": ExitCode.OK,
    "leaky:awaits": ExitCode.OK,
    "leaky:exits": ExitCode.FAILED,
    "broken:credit": ExitCode.CONFIG,
    "leaky.sql": ExitCode.FAILED,
}


# ------------------------------------------------------------------------------------ the tests


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_nothing_that_a_target_does_lets_it_out(
    login: Login, watch: Watch, log_format: str
) -> None:
    env = login.forms(watch.folder)["URL"] | {"K8SJOB_LOG_FORMAT": log_format}
    for day, target in enumerate(TARGETS, start=10):
        watch.start_job(target, env, day)
    told = dict(zip(TARGETS, watch.end(), strict=True))

    assert {target: each.code for target, each in told.items()} == TARGETS
    stored = login.expect_not_stored()
    # It was about to be said, and blackened.
    assert stored["attempts.message"].count("***") >= 7
    assert stored["attempts.tail"].count("***") >= 7
    assert stored["periods.reason"].count("***") == 3
    assert stored["events.reason"].count("***") == 3
    assert told["leaky:logs_it"].err.count("***") >= 6
    said = [target for target, each in told.items() if "***" in each.out + each.err]
    silent = ["leaky:succeeds", "leaky:has_it_in_locals", "leaky:is_cut"]
    assert said == [target for target in TARGETS if target not in silent]


@pytest.mark.parametrize("command", ["run", "migrate"])
def test_no_way_to_tell_it_lets_it_out(login: Login, watch: Watch, command: str) -> None:
    for day, env in enumerate(login.forms(watch.folder).values(), start=10):
        if command == "run":
            watch.start_job("leaky:raises_it_in_many_forms", env, day)
        else:
            watch.start("migrate", "--grant-runner", "nobody_here", env=env)
    told = watch.end()
    expected = ExitCode.FAILED if command == "run" else ExitCode.DENIED
    assert [each.code for each in told] == [expected] * len(told), told
    login.expect_not_stored()


@pytest.mark.parametrize("command", ["run", "migrate"])
def test_a_wrong_password_is_not_told(login: Login, watch: Watch, command: str) -> None:
    wrong = Login(login.db, login.name, watch.password)
    login.password = Password()  # what the server has is another one
    set_password(login)
    forms = wrong.forms(watch.folder)
    for day, env in enumerate((forms["URL"], forms["keywords"], forms["libpq"]), start=10):
        if command == "run":
            watch.start_job("leaky:succeeds", env, day)
        else:
            watch.start("migrate", env=env)
    for told in watch.end():
        assert told.code == ExitCode.UNAVAILABLE, told
        assert "password authentication failed" in told.err
    wrong.expect_not_stored()


def test_it_is_in_no_command_line_while_a_target_runs(login: Login, watch: Watch) -> None:
    env = login.forms(watch.folder)["URL"]
    child = watch.processes.hold(
        *("run", "tests.acceptance.child:credit", "--job", "a/b", "--period", "2026-08-13"),
        env=env | {"PGOPTIONS": "-c search_path=app"},
    )
    child.wait_for("worked")
    lines = command_lines()
    assert any("tests.acceptance.child:credit" in line for line in lines)
    assert not any(watch.password.found_in(line) for line in lines)
    child.release()
    assert child.end().code == 0


def test_an_address_that_nobody_can_read_is_not_told(tmp_path: Path, processes: Processes) -> None:
    password = Password()
    one, two, *_ = password.pieces
    watch = Watch(processes, password, tmp_path)
    whole = quote(str(password), safe="")
    unreadable = {
        "a percent sign": {"K8SJOB_DSN": f"postgresql://u:{one}%zz{two}@127.0.0.1/db"},
        "an @": {"K8SJOB_DSN": f"postgresql://u:{one}@{two}@127.0.0.1/db"},
        "a slash": {"K8SJOB_DSN": f"postgresql://u:{one}/{two}@127.0.0.1/db"},
        "a port": {"K8SJOB_DSN": f"postgresql://u:{whole}@127.0.0.1:{one}/db"},
        "a number": {"K8SJOB_DSN": f"postgresql://u:{whole}@127.0.0.1/db?connect_timeout={one}"},
        "no =": {"K8SJOB_DSN": f"host=127.0.0.1 password={one} {two}"},
        "no end": {"K8SJOB_DSN": f"host=127.0.0.1 password='{one} {two}"},
        "a parameter": {"K8SJOB_DSN": f"host=127.0.0.1 passwort={one}"},
        "another store": {"K8SJOB_DSN": f"mysql://u:{whole}@127.0.0.1/db"},
        "no store": {"K8SJOB_DSN": str(password)},
        "not a file": {"K8SJOB_DSN_FILE": f"postgresql://u:{whole}@127.0.0.1/db"},
        "not a name": {"K8SJOB_LEDGER": f"postgresql://u:{whole}@127.0.0.1/db"},
    }
    (tmp_path / "leaky.py").write_text(LEAKY)
    for env in unreadable.values():
        watch.start_job("leaky:succeeds", env)
    for env in list(unreadable.values())[::3]:
        watch.start("migrate", env=env)
    assert {told.code for told in watch.end()} == {ExitCode.CONFIG}


# --------------------------------------------------------------------------- how the above is done


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    started = Processes(tmp_path)
    yield started
    started.close()


@pytest.fixture
def login(db: Database) -> Iterator[Login]:
    """Make a role that may do what the runner may; drop it at the end."""
    login = Login(db, f"k8sjob_leak_{secrets.token_hex(6)}", Password())
    name = sql.Identifier(login.name)
    with db.server.admin() as admin:
        admin.execute(sql.SQL("CREATE ROLE {} LOGIN IN ROLE k8sjob_runner").format(name))
        try:
            set_password(login)
            yield login
        finally:
            admin.execute(sql.SQL("DROP ROLE {}").format(name))


def set_password(login: Login) -> None:
    alter = sql.SQL("ALTER ROLE {} PASSWORD {}")
    with login.db.server.admin() as admin:
        admin.execute(alter.format(sql.Identifier(login.name), str(login.password)))


@pytest.fixture
def watch(login: Login, processes: Processes, tmp_path: Path) -> Watch:
    (tmp_path / "leaky.py").write_text(LEAKY)
    (tmp_path / "broken.py").write_text("import leaky\nraise ImportError(leaky.DSN)\n")
    (tmp_path / "leaky.sql").write_text(f"SELECT '{quote(str(login.password))}'::int;\n")
    return Watch(processes, login.password, tmp_path)
