"""What the table "What a stolen DSN can do" of docs/security.md says of a reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from psycopg import errors

from tests.integration.functions import JOB, SITUATIONS
from tests.integration.stolen import PERIOD, end, refused, start

if TYPE_CHECKING:
    from tests.fix_stores import Database
    from tests.integration.functions import Functions
    from tests.migration.empty import Terminal


def test_a_reader_reads_the_last_output_of_attempts(ledger: Functions) -> None:
    end(ledger, "runner", start(ledger), message="failed", tail="card 4111 refused")
    rows = ledger.all("SELECT message, tail, db_user FROM k8sjob.attempts")
    assert rows == [{"message": "failed", "tail": "card 4111 refused", "db_user": "k8sjob_runner"}]


def test_a_reader_decides_nothing(ledger: Functions) -> None:
    refused(ledger, "reader", "try_claim", job=JOB, period=PERIOD)
    for function in ("skip", "block"):
        refused(ledger, "reader", function, job=JOB, period=PERIOD, reason="none")
    refused(ledger, "reader", "reopen", job=JOB, period=SITUATIONS["done"], reason="x", by="x")
    assert ledger.row(PERIOD) is None


@pytest.mark.parametrize(
    "command",
    [
        ("run", "--job", JOB, "--period", PERIOD, "--", "true"),
        ("skip", f"{JOB}:{PERIOD}", "--reason", "none"),
        ("reopen", f"{JOB}:{SITUATIONS['done']}", "--reason", "none"),
        ("release", f"{JOB}:{SITUATIONS['blocked']}", "--reason", "none"),
    ],
    ids=lambda words: words[0],
)
def test_a_readers_commands_end_with_77(
    db: Database, ledger: Functions, terminal: Terminal, command: tuple[str, ...]
) -> None:
    before = ledger.all("SELECT * FROM k8sjob.periods ORDER BY job, period")
    assert terminal.call(db.dsn("reader"), *command).code == 77
    assert ledger.all("SELECT * FROM k8sjob.periods ORDER BY job, period") == before


def test_a_readers_open_transaction_keeps_a_migration_waiting(
    db: Database, ledger: Functions
) -> None:
    reader = db.connect("reader")
    reader.execute("SELECT FROM k8sjob.periods")
    alter = "ALTER TABLE k8sjob.periods ADD COLUMN more integer"
    ledger.conns["owner"].execute("SET lock_timeout = '100ms'")
    with pytest.raises(errors.LockNotAvailable):
        ledger.conns["owner"].execute(alter)
    assert ledger.claim(PERIOD) == "applied", "jobs go on"
    reader.rollback()
    ledger.conns["owner"].execute(alter)
