"""With ``--wait`` a database that is away is waited for; without, the command says what it met.

So are jobs that hold a table, without keeping those waiting that come meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from k8sjob.errors import TryAgain
from k8sjob.ledger import migrate
from tests.migration.empty import APPLIED, STEPS, end, start
from tests.wire import WireProxy

if TYPE_CHECKING:
    from k8sjob.errors import K8sjobError
    from tests.migration.empty import Empty

NEXT = migrate.Migration(
    len(STEPS) + 1, "more", "ALTER TABLE k8sjob.periods ADD COLUMN more integer;\n", "0.1.0"
)


@pytest.fixture
def next_step(empty: Empty, monkeypatch: pytest.MonkeyPatch) -> migrate.Migration:
    """Bring the ledger up, and let there be one more step, which changes a table of the claims."""
    empty.migrate()
    steps = [*migrate.migrations(), NEXT]
    monkeypatch.setattr(migrate, "_PAUSE_S", 0.0)
    monkeypatch.setattr(migrate, "migrations", lambda: steps)
    return NEXT


def test_a_database_that_comes_back_is_waited_for(empty: Empty) -> None:
    with WireProxy(empty.db.dsn("owner")) as proxy:
        proxy.refuse()
        process = start(proxy.conninfo(), "migrate", "--wait", "60s")
        assert process.stderr
        said = process.stderr.readline()
        assert said.startswith("waiting up to 60 s: the ledger cannot be reached: ")
        assert not empty.has_ledger()
        proxy.accept()
        told = end(process)
    assert (told.code, told.out) == (0, APPLIED)
    assert told.err == "", "one line is enough, however many tries were in vain"
    assert empty.versions() == STEPS


def test_without_a_wait_it_fails_at_once(empty: Empty) -> None:
    with WireProxy(empty.db.dsn("owner")) as proxy, proxy.refuse():
        told = empty.terminal.call(proxy.conninfo(), "migrate")
    assert told.code == 69
    assert told.err.startswith("k8sjob: the ledger cannot be reached: ")
    assert "Nothing was changed." in told.err
    assert "--wait" in told.err
    assert "waiting" not in told.err


def test_the_wait_ends(empty: Empty) -> None:
    with WireProxy(empty.db.dsn("owner")) as proxy, proxy.refuse():
        told = empty.terminal.call(proxy.conninfo(), "migrate", "--wait", "100ms")
    assert told.code == 69
    assert told.err.startswith("waiting up to 0.1 s: ")


def test_a_wait_that_is_no_duration_is_refused(empty: Empty) -> None:
    told = empty.migrate("--wait", "soon")
    assert told.code == 64
    assert "30s, 5m, 2h or 7d" in told.err
    assert not empty.has_ledger()


def test_a_standby_is_waited_for_too(empty: Empty) -> None:
    empty.run(f"ALTER DATABASE {empty.db.name} SET default_transaction_read_only = on")
    told = empty.migrate()
    assert told.code == 69
    assert "the ledger takes no writes" in told.err
    assert not empty.has_ledger()


def test_a_table_that_a_job_holds_is_not_waited_for_long(
    empty: Empty, next_step: migrate.Migration
) -> None:
    """Behind a waiting ALTER TABLE each new claim would wait, for as long as that job runs."""
    job = empty.db.connect("admin")
    job.execute("LOCK TABLE k8sjob.periods IN ROW EXCLUSIVE MODE")
    told = empty.migrate()
    assert told.code == 75
    assert told.err.startswith("k8sjob: running jobs, or another migration, hold the ledger: ")
    assert "Nothing was changed" in told.err
    assert "--wait 1h" in told.err
    assert empty.versions() == STEPS
    job.rollback()
    assert empty.migrate() == (0, f"applied {next_step}\n", "")


def test_with_a_wait_it_goes_on_when_the_job_has_ended(
    empty: Empty, next_step: migrate.Migration
) -> None:
    job = empty.db.connect("admin")
    job.execute("LOCK TABLE k8sjob.periods IN ROW EXCLUSIVE MODE")
    told: list[K8sjobError] = []

    def held(error: K8sjobError) -> None:
        told.append(error)
        job.rollback()

    assert migrate.migrate_when_there(empty.db.dsn("owner"), 60, away=held) == [next_step]
    assert [type(error) for error in told] == [TryAgain]


def test_the_script_has_the_same_patience() -> None:
    first, *later = migrate.migrations()
    patience = "SET LOCAL lock_timeout = '2s';"
    assert patience not in first.script
    assert all(patience in step.script for step in later)
