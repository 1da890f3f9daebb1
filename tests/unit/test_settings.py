from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from k8sjob.errors import ConfigError, ExitCode
from k8sjob.ledger.postgres.connect import parameters
from k8sjob.ledger.settings import Address, Kind, find, parse

if TYPE_CHECKING:
    from pathlib import Path

DEFAULT = "postgresql://u:hunter2@db/default"
OTHER = "postgresql://u:hunter2@db/other"


@pytest.fixture
def ledgers(tmp_path: Path) -> Path:
    (tmp_path / "other").write_text(OTHER + "\n")
    (tmp_path / "eu-west.1_a").write_text("host=db dbname=eu")
    return tmp_path


def refusal(env: dict[str, str], ledger: str | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        find(env, ledger=ledger)
    return said(caught.value)


def said(error: ConfigError) -> str:
    """Return the message, after the look at what holds for each of them."""
    text = str(error)
    happened, _, to_do = text.partition("\n  ")
    assert "Nothing was done." in happened
    assert to_do
    assert "hunter2" not in text
    assert error.exit_code is ExitCode.CONFIG
    return text


# ------------------------------------------------------------------------------- precedence


def test_the_sources_answer_in_their_order(ledgers: Path) -> None:
    file = ledgers / "dsn"
    file.write_text("postgresql://db/in_file")
    env = {
        "K8SJOB_LEDGER": "other",
        "K8SJOB_LEDGERS_DIR": str(ledgers),
        "K8SJOB_DSN": DEFAULT,
        "K8SJOB_DSN_FILE": str(file),
        "PGHOST": "db",
    }
    asked = find(env, ledger="eu-west.1_a")
    assert (asked.dsn, asked.origin) == ("host=db dbname=eu", "ledger eu-west.1_a")
    assert find(env).dsn == OTHER
    del env["K8SJOB_LEDGER"]  # the folder alone names no ledger
    assert (find(env).dsn, find(env).origin) == (DEFAULT, "K8SJOB_DSN")
    del env["K8SJOB_DSN"]
    assert (find(env).dsn, find(env).origin) == ("postgresql://db/in_file", "K8SJOB_DSN_FILE")
    del env["K8SJOB_DSN_FILE"]
    assert find(env) == Address(Kind.POSTGRES, "", "libpq's environment")
    del env["PGHOST"]
    assert "no ledger is set" in refusal(env)


@pytest.mark.parametrize("name", ["PGHOST", "PGHOSTADDR", "PGDATABASE", "PGSERVICE"])
def test_each_variable_that_leads_libpq_to_a_server_is_enough(name: str) -> None:
    assert find({name: "x"}).kind is Kind.POSTGRES


@pytest.mark.parametrize("name", ["PGUSER", "PGPASSWORD", "PGPORT"])
def test_a_login_alone_is_no_ledger(name: str) -> None:
    refusal({name: "5432"})


@pytest.mark.parametrize("name", ["K8SJOB_LEDGER", "K8SJOB_DSN", "K8SJOB_DSN_FILE", "PGHOST"])
def test_an_empty_variable_says_nothing(name: str) -> None:
    assert "no ledger is set" in refusal({name: ""})


def test_what_is_there_is_what_the_process_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("K8SJOB_DSN", f"  {DEFAULT}\n")
    assert find().dsn == DEFAULT


def test_the_message_without_a_ledger_says_what_to_set() -> None:
    text = refusal({})
    for name in ("K8SJOB_DSN", "K8SJOB_DSN_FILE", "postgresql://", "sqlite:///", "PGHOST"):
        assert name in text


# ------------------------------------------------------------------------------------ names


@pytest.mark.parametrize(
    "name",
    ["../other", "..", ".", "/etc/passwd", "a/b", "a\\b", ".hidden", "-x", "x-", "a b", "a\n", "ä"],
)
def test_a_name_leads_nowhere_but_into_the_folder(name: str, ledgers: Path) -> None:
    inner = ledgers / "inner"
    inner.mkdir()
    assert "letters, digits" in refusal({"K8SJOB_LEDGERS_DIR": str(inner)}, ledger=name)
    assert "letters, digits" in refusal({"K8SJOB_LEDGERS_DIR": str(inner), "K8SJOB_LEDGER": name})


def test_a_dsn_where_a_name_belongs_is_not_shown() -> None:
    assert "letters, digits" in refusal({"K8SJOB_LEDGER": DEFAULT})


def test_a_name_without_the_folder_is_refused() -> None:
    assert "K8SJOB_LEDGERS_DIR is not set" in refusal({"K8SJOB_DSN": DEFAULT}, ledger="other")


def test_a_name_without_a_file_is_refused_and_nothing_else_is_taken(ledgers: Path) -> None:
    env = {"K8SJOB_LEDGERS_DIR": str(ledgers), "K8SJOB_DSN": DEFAULT}
    text = refusal(env, ledger="missing")
    assert f"cannot read {ledgers / 'missing'}: No such file" in text


# ------------------------------------------------------------------------------------ files


def test_the_file_is_read_again_at_each_call(tmp_path: Path) -> None:
    file = tmp_path / "dsn"
    env = {"K8SJOB_DSN_FILE": str(file)}
    file.write_text(DEFAULT)
    before = find(env)
    file.write_text(OTHER)
    assert (before.dsn, find(env).dsn) == (DEFAULT, OTHER)


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    file = tmp_path / "dsn"
    text = refusal({"K8SJOB_DSN_FILE": str(file)})
    assert text.startswith(f"K8SJOB_DSN_FILE: cannot read {file}: No such file")
    assert f"ls -l {file}" in text


@pytest.mark.parametrize("content", ["", " \n\n"], ids=["nothing", "blanks"])
def test_an_empty_file_is_named(content: str, tmp_path: Path) -> None:
    file = tmp_path / "dsn"
    file.write_text(content)
    assert f"K8SJOB_DSN_FILE: {file} is empty" in refusal({"K8SJOB_DSN_FILE": str(file)})


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    # Permissions do not keep root out: what nobody can read is a folder, and a file below a file.
    (tmp_path / "file").write_text(DEFAULT)
    for path, reason in (
        (tmp_path, "Is a directory"),
        (tmp_path / "file" / "x", "Not a directory"),
    ):
        assert f"{path}: {reason}" in refusal({"K8SJOB_DSN_FILE": str(path)})


def test_a_file_that_is_no_text_is_named_but_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "dsn"
    file.write_bytes(DEFAULT.encode() + b"\xff\xfe")
    assert f"{file}: not UTF-8" in refusal({"K8SJOB_DSN_FILE": str(file)})


def test_a_file_that_holds_no_address_is_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "dsn"
    file.write_text("hunter2")
    text = refusal({"K8SJOB_DSN_FILE": str(file)})
    assert text.startswith("K8SJOB_DSN_FILE is not an address of a ledger")


@pytest.mark.parametrize("dsn", [DEFAULT, "host=db password=hunter2"])
def test_an_address_where_a_files_name_belongs_is_not_shown(dsn: str) -> None:
    text = refusal({"K8SJOB_DSN_FILE": dsn})
    assert "holds an address instead of a file's name" in text


# --------------------------------------------------------------------------------- addresses


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://db/shop",
        "postgres://u:hunter2@db:5432/shop?sslmode=require",
        "postgresql:///shop?host=/run/postgresql",
        "host=db dbname=shop",
        "dbname = shop",
    ],
)
def test_postgres_is_told_by_both_forms_of_libpq(dsn: str) -> None:
    assert parse(dsn, "K8SJOB_DSN") == Address(Kind.POSTGRES, dsn, "K8SJOB_DSN")


@pytest.mark.parametrize(
    ("dsn", "file"),
    [
        ("sqlite:///ledger.db", "ledger.db"),
        ("sqlite:///data/ledger.db", "data/ledger.db"),
        ("sqlite:////var/lib/ledger.db", "/var/lib/ledger.db"),
        ("sqlite:///./a b@c:d.db", "./a b@c:d.db"),
    ],
)
def test_sqlite_takes_a_relative_and_an_absolute_file(dsn: str, file: str) -> None:
    address = parse(dsn, "K8SJOB_DSN")
    assert (address.kind, address.sqlite_file) == (Kind.SQLITE, file)


@pytest.mark.parametrize("dsn", ["sqlite:", "sqlite:ledger.db", "sqlite://ledger.db", "sqlite:///"])
def test_sqlite_without_a_file_is_refused(dsn: str) -> None:
    assert "sqlite:////folder/file" in refusal({"K8SJOB_DSN": dsn})


def test_a_ledger_in_memory_is_refused_because_it_forgets() -> None:
    refusal({"K8SJOB_DSN": "sqlite:///:memory:"})


@pytest.mark.parametrize(
    "dsn", ["hunter2", "mysql://u:hunter2@db/shop", "/var/lib/hunter2.db", "u:hunter2@db/shop"]
)
def test_what_is_no_address_is_refused_and_not_shown(dsn: str) -> None:
    assert refusal({"K8SJOB_DSN": dsn}).startswith("K8SJOB_DSN is not an address of a ledger")


def test_an_address_shows_where_it_is_from_and_not_what_it_is() -> None:
    address = parse(DEFAULT, "K8SJOB_DSN")
    for text in (repr(address), str(address), f"{address}", f"{[address]}"):
        assert "Address(postgres, from K8SJOB_DSN)" in text
        assert "hunter2" not in text
        assert "db/default" not in text


# ---------------------------------------------------------------------------- what libpq reads


@pytest.mark.parametrize(
    "dsn",
    [
        "",
        "postgresql://db/shop",
        "postgresql://u:hunter2@db:5432,other:5433/shop",
        "postgresql://u:hu?n#ter2@[::1]:5432/shop",
        "postgresql://u%40server:hunter2%40@db/shop?user=u@server",
        "postgresql://db/shop?user=u@server&password=hunter2",
        "postgresql:///shop?host=/run/postgresql&port=5432",
        "host=db port=5432 password=a://b/c@d@hunter2",
    ],
)
def test_an_address_that_libpq_reads_as_it_is_meant_is_taken(dsn: str) -> None:
    assert "application_name='k8sjob x'" in parameters(dsn, application_name="k8sjob x")


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://u:hu@nter2@db/shop",
        "postgresql://u:hu/nter2@db/shop",
        "postgresql://u:hunter2@db:hunter2/shop",
        "postgresql://u:hunter2@db:0/shop",
        "postgresql://u:hunter2@db:65536/shop",
        "postgresql://u:hunter2@db:5432,other:hunter2/shop",
        "postgresql://u:hunter2%zz@db/shop",
        "host=db hunter2",
        "host=db password='hunter2",
        "host=db passwort=hunter2",
    ],
)
def test_an_address_that_libpq_reads_otherwise_or_not_at_all_is_not_shown(dsn: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parameters(dsn, application_name="k8sjob x")
    assert "%40 for @" in said(caught.value)
