"""``k8sjob serve``: where it listens, which ledgers it serves, and when it does not even begin."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from k8sjob.cli.ledgers import find_each, refuse_twins
from k8sjob.cli.main import main
from k8sjob.cli.serve import usual_place
from k8sjob.errors import ConfigError, ExitCode, UsageError
from k8sjob.serve.server import Listen, parse_listen

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("127.0.0.1:8080", ("127.0.0.1", 8080)),
        ("192.0.2.1:80", ("192.0.2.1", 80)),
        (":9090", ("0.0.0.0", 9090)),  # noqa: S104  # nothing is bound
        ("[::1]:8080", ("::1", 8080)),
        ("[::]:0", ("::", 0)),
        ("localhost:8080", ("localhost", 8080)),
        (" 127.0.0.1:1 ", ("127.0.0.1", 1)),
    ],
)
def test_an_address_and_a_port_are_read(text: str, place: tuple[str, int]) -> None:
    assert parse_listen(text) == Listen(*place)


@pytest.mark.parametrize(
    "text", ["", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "::1:8080", "[::1]", "a:b"]
)
def test_what_is_no_address_and_port_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no address and port"):
        parse_listen(text)


def test_in_a_pod_all_are_served_and_elsewhere_this_machine() -> None:
    assert usual_place({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}) == "0.0.0.0:8080"
    assert usual_place({}) == "127.0.0.1:8080"
    assert parse_listen(usual_place({}))


# ------------------------------------------------------------------------- when it does not begin


def ends(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """Return the exit code of a command that ends at once, and what it says."""
    with pytest.raises(SystemExit) as end:
        main(["serve", *words])
    assert isinstance(end.value.code, int)
    return end.value.code, capsys.readouterr().err


def test_without_a_ledger_it_does_not_begin(capsys: pytest.CaptureFixture[str]) -> None:
    code, told = ends(capsys)
    assert code == ExitCode.CONFIG
    assert told.startswith("k8sjob: no ledger is set. Nothing was done.")


def test_a_ledger_in_a_file_is_not_served(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K8SJOB_DSN", "sqlite:///ledger.db")
    code, told = ends(capsys)
    assert code == ExitCode.CONFIG
    assert "K8SJOB_DSN is a SQLite file" in told
    assert "k8sjob get jobs -A" in told


def test_a_wrong_address_is_told_before_anything_else(capsys: pytest.CaptureFixture[str]) -> None:
    code, told = ends(capsys, "--listen", "here")
    assert code == ExitCode.USAGE
    assert "Write 127.0.0.1:8080" in told


@pytest.mark.parametrize("package", ["waitress", "jinja2", "prometheus_client"])
def test_a_package_that_is_not_installed_is_named(package: str) -> None:
    without = f"import sys; sys.modules[{package!r}] = None\n"
    code = without + "from k8sjob.cli.main import main; main(['serve'])"
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert ended.returncode == ExitCode.CONFIG
    assert "pip install 'k8sjob[serve]'" in ended.stderr
    assert package in ended.stderr


def test_its_help_needs_none_of_them() -> None:
    code = (
        "import sys\n"
        "for name in ('waitress', 'jinja2', 'prometheus_client', 'psycopg'):\n"
        "    sys.modules[name] = None\n"
        "from k8sjob.cli.main import main; main(['serve', '--help'])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "/readyz" in ended.stdout


# ------------------------------------------------------------------------------- which ledgers


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder as Kubernetes mounts a Secret."""
    (tmp_path / "..data").mkdir()
    (tmp_path / ".hidden").write_text("x")
    for name in ("south", "north"):
        (tmp_path / name).write_text(f"postgresql://{name}.example/ledger\n")
    return tmp_path


def test_without_a_name_all_of_the_folder_are_found(folder: Path) -> None:
    found = find_each((), {"K8SJOB_LEDGERS_DIR": str(folder)})
    assert list(found) == ["north", "south"]
    assert found["north"]().dsn == "postgresql://north.example/ledger"


@pytest.mark.parametrize(
    "more",
    [
        {"K8SJOB_DSN": "postgresql:///x"},
        {"K8SJOB_DSN_FILE": "/none"},
        {"PGHOST": "db.example"},
        {"PGSERVICE": "shop"},
    ],
    ids=["dsn", "file", "libpq", "service"],
)
def test_the_default_one_is_beside_them_where_something_names_it(
    folder: Path, more: dict[str, str]
) -> None:
    found = find_each((), {"K8SJOB_LEDGERS_DIR": str(folder)} | more)
    assert list(found) == ["default", "north", "south"]


def test_without_a_folder_there_is_the_default_one() -> None:
    assert list(find_each((), {})) == ["default"]


def test_a_folder_that_is_not_there_is_no_folder_without_ledgers() -> None:
    with pytest.raises(ConfigError, match="/nowhere is no folder that this user may list"):
        find_each((), {"K8SJOB_LEDGERS_DIR": "/nowhere", "K8SJOB_DSN": "postgresql:///x"})


def test_a_ledger_named_for_runs_is_not_taken_for_the_default_one(folder: Path) -> None:
    env = {"K8SJOB_LEDGERS_DIR": str(folder), "K8SJOB_LEDGER": "south"}
    assert list(find_each((), env)) == ["north", "south"]
    found = find_each((), env | {"K8SJOB_DSN": "postgresql:///x"})
    assert [(name, find().dsn) for name, find in found.items()] == [
        ("default", "postgresql:///x"),
        ("north", "postgresql://north.example/ledger"),
        ("south", "postgresql://south.example/ledger"),
    ]


def test_the_default_one_is_found_by_its_name_too(folder: Path) -> None:
    env = {"K8SJOB_LEDGERS_DIR": str(folder), "K8SJOB_DSN": "postgresql:///x"}
    assert find_each(("default",), env)["default"]().dsn == "postgresql:///x"
    (folder / "default").write_text("postgresql://own.example/ledger")
    assert find_each(("default",), env)["default"]().dsn == "postgresql://own.example/ledger"


def test_a_database_that_is_named_for_all_of_them_is_no_other_ledger(folder: Path) -> None:
    found = find_each((), {"K8SJOB_LEDGERS_DIR": str(folder), "PGDATABASE": "shop"})
    assert list(found) == ["north", "south"]


def test_one_ledger_under_two_names_is_refused(folder: Path) -> None:
    env = {"K8SJOB_LEDGERS_DIR": str(folder), "K8SJOB_DSN_FILE": str(folder / "south")}
    with pytest.raises(ConfigError, match="the ledgers default and south have one and the same"):
        refuse_twins(find_each((), env))
    refuse_twins(find_each((), {"K8SJOB_LEDGERS_DIR": str(folder), "K8SJOB_DSN_FILE": "/none"}))


def test_by_name_only_those_are_found(folder: Path) -> None:
    found = find_each(("south", "west"), {"K8SJOB_LEDGERS_DIR": str(folder)})
    assert found["south"]().dsn == "postgresql://south.example/ledger"
    with pytest.raises(ConfigError, match="ledger west: cannot read"):
        found["west"]()


def test_an_address_is_read_anew_each_time(folder: Path) -> None:
    found = find_each((), {"K8SJOB_LEDGERS_DIR": str(folder)})
    (folder / "south").write_text("postgresql://other.example/ledger")
    assert found["south"]().dsn == "postgresql://other.example/ledger"
