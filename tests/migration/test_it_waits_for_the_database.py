"""With ``--wait`` a database that is away is waited for; without, the command says what it met."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.migration.empty import APPLIED, STEPS, end, start
from tests.wire import WireProxy

if TYPE_CHECKING:
    from tests.migration.empty import Empty


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
