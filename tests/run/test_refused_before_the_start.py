from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.run.commandline import CREDIT, JOB, PERIOD, CommandLine, never, params
from tests.template import url

if TYPE_CHECKING:
    from tests.run.commandline import Told


def assert_nothing_was_tried(cli: CommandLine, told: Told, code: int, words: str) -> None:
    """See that the refusal says why and that no attempt was written."""
    assert (told.code, told.out) == (code, "")
    assert words in told.err
    assert cli.attempts() == []
    assert (cli.states(), cli.balance()) == ({}, 0)


MISTAKES = {
    "no such flag": (["--nonsense"], 64, "No such option"),
    "a job without a namespace": (["--job", "credit"], 64, "credit"),
    "a job with a big letter": (["--job", "billing/Credit"], 64, "'Credit'"),
    "another form of day": (["--period", "2026-9-13"], 64, "2026-09-13"),
    "a time without a zone": (["--period", "2026-09-13T00:00:00"], 64, "2026-09-13T00:00:00Z"),
    "no such week": (["--period", "2026-W54"], 64, "2026-W54"),
    "a duration without a unit": (["--lock-timeout", "30"], 64, "not a duration: '30'"),
    "no such file": (["--payload", "@/no/such/file"], 64, "No such file"),
    "no such zone": (["--time-zone", "Europe/Nowhere"], 78, "Europe/Nowhere"),
    "no such outcome": (["--fail-on", "bored"], 78, "bored"),
    "no such ledger": (["--ledger", "other"], 78, "K8SJOB_LEDGERS_DIR"),
}


@pytest.mark.parametrize(("flags", "code", "words"), **params(MISTAKES))
def test_flags_that_make_no_sense_start_nothing(
    cli: CommandLine, flags: list[str], code: int, words: str
) -> None:
    assert_nothing_was_tried(cli, cli.run(never, *flags), code, words)


@pytest.mark.parametrize("target", ["credit", "credit.py", "app:", ":credit", "a-b:c", "app:x()"])
def test_a_text_that_names_no_target_starts_nothing(cli: CommandLine, target: str) -> None:
    assert_nothing_was_tried(cli, cli.run(target), 64, "Write module:function")


def test_a_run_needs_a_period(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("K8SJOB_DSN", cli.store.dsn)
    told = cli.call("run", cli.file(CREDIT), "--job", JOB)
    assert_nothing_was_tried(cli, told, 66, "Pass --period")


def test_a_run_needs_a_job(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("K8SJOB_DSN", cli.store.dsn)
    told = cli.call("run", cli.file(CREDIT), "--period", PERIOD)
    assert_nothing_was_tried(cli, told, 64, "Pass --job NAMESPACE/NAME")


def test_a_run_needs_a_target(cli: CommandLine) -> None:
    assert_nothing_was_tried(cli, cli.call("run"), 64, "Name one thing to run")


def test_a_run_needs_a_ledger(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("K8SJOB_DSN", raising=False)
    told = cli.call("run", cli.file(CREDIT), "--job", JOB, "--period", PERIOD)
    assert_nothing_was_tried(cli, told, 78, "no ledger is set")


def test_job_and_period_may_come_from_the_environment(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K8SJOB_DSN", cli.store.dsn)
    monkeypatch.setenv("K8SJOB_NAMESPACE", "billing")
    monkeypatch.setenv("K8SJOB_CRONJOB", "daily-credit")
    monkeypatch.setenv("K8SJOB_PERIOD", PERIOD)
    told = cli.call("run", cli.file(CREDIT))
    assert told.out.startswith(f"{JOB}:{PERIOD} applied in ")
    assert told.out.endswith("source K8SJOB_PERIOD)\n")
    assert cli.last().source == "K8SJOB_PERIOD"


def test_a_role_without_grants_is_denied(pg: CommandLine) -> None:
    assert pg.store.db
    told = pg.run(never, dsn=pg.store.db.dsn("reader"))
    assert_nothing_was_tried(pg, told, 77, "permission denied")
    assert "k8sjob migrate --grant-runner ROLE" in told.err


def test_a_database_without_the_schema_may_have_it_later(pg: CommandLine) -> None:
    assert pg.store.db
    elsewhere = url(pg.store.db.server.admin_dsn, "admin", "postgres")
    told = pg.run(never, dsn=elsewhere)
    assert_nothing_was_tried(pg, told, 75, "the ledger has no k8sjob schema")
    assert "k8sjob migrate" in told.err


def test_a_standby_is_unavailable(pg: CommandLine) -> None:
    """Or whatever else takes no writes."""
    assert pg.store.db
    read_only = pg.store.db.dsn("runner", options="-c default_transaction_read_only=on")
    told = pg.run(never, dsn=read_only)
    assert_nothing_was_tried(pg, told, 69, "the ledger takes no writes")


def test_a_wrong_password_is_unavailable_and_is_not_shown(pg: CommandLine) -> None:
    assert pg.store.db
    told = pg.run(never, dsn=pg.store.db.dsn("runner", password="opensesame-wrong"))
    assert_nothing_was_tried(pg, told, 69, "password authentication failed")
    assert "opensesame" not in told.err


def test_a_server_that_is_not_there_is_unavailable(pg: CommandLine) -> None:
    told = pg.run(never, dsn="postgresql://nobody@127.0.0.1:1/none")
    assert_nothing_was_tried(pg, told, 69, "the ledger cannot be reached")


def test_a_folder_that_is_not_there_is_unavailable(lite: CommandLine) -> None:
    told = lite.run(never, dsn=f"sqlite:///{lite.folder}/none/ledger.db")
    assert_nothing_was_tried(lite, told, 69, "cannot be opened")


def test_a_file_without_the_tables_gets_them(lite: CommandLine) -> None:
    told = lite.run(lite.file("SELECT 1"), dsn=f"sqlite:///{lite.folder}/new.db")
    assert told.code == 0
