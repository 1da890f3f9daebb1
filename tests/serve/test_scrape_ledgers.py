"""Several ledgers and several who ask: none waits for what it need not wait for."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.ledger.settings import Address, parse
from k8sjob.serve.ledgers import SHARED_FOR_S, Ledgers
from tests.fix_stores import fresh_database, wait_until_blocked
from tests.wire import WireProxy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from k8sjob.serve.numbers import Reading
    from tests.fix_scraped import Scraped
    from tests.fix_stores import Database

#: Long enough for a machine that is busy with other things.
AMPLE_S = 60.0


def to(dsn: str) -> Callable[[], Address]:
    """Return what finds a ledger."""
    return lambda: parse(dsn, "the test")


class Clock:
    """A clock that goes on by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


@contextmanager
def served(
    finds: dict[str, Callable[[], Address]], clock: Callable[[], float] | None = None
) -> Iterator[Ledgers]:
    """Serve ledgers; by default no snapshot is shared."""
    ticks = count(step=1000)
    ledgers = Ledgers(finds, clock or (lambda: next(ticks)))
    try:
        yield ledgers
    finally:
        ledgers.close()


@contextmanager
def locked(db: Database) -> Iterator[Any]:
    """Keep all scrapes of a ledger waiting within the block."""
    admin = db.connect("admin")
    admin.execute("LOCK TABLE k8sjob.gate")
    yield admin
    admin.rollback()


def ups(readings: list[Reading]) -> dict[str, bool]:
    return {one.ledger: one.facts is not None for one in readings}


# -------------------------------------------------------------------------------------- away


@pytest.fixture
def other(db: Database) -> Iterator[Database]:
    """Give a second ledger of the same server."""
    with fresh_database(db.server) as made:
        yield made


def test_a_ledger_that_is_away_is_told_and_the_others_stay(
    db: Database, other: Database, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "k8sjob")
    with WireProxy(db.dsn("reader")) as proxy:
        finds = {"shop": to(proxy.conninfo()), "ops": to(other.dsn("reader"))}
        with served(finds) as ledgers:
            assert ups(ledgers.read()) == {"shop": True, "ops": True}
            with proxy.refuse():
                proxy.cut_all()
                away = ledgers.read()
                assert ups(away) == {"shop": False, "ops": True}
                assert "cannot be reached" in str(away[0].trouble)
                assert ups(ledgers.read()) == {"shop": False, "ops": True}
            assert ups(ledgers.read()) == {"shop": True, "ops": True}
    told = [(record.levelname, record.getMessage()[:20]) for record in caplog.records]
    assert told == [("WARNING", "ledger shop is away:"), ("INFO", "ledger shop is back")]


def test_a_ledger_that_is_away_has_two_series_and_is_back_by_itself(scraped: Scraped) -> None:
    scraped.hour_job()
    db = scraped.db
    db.connect("owner", autocommit=True).execute("ALTER SCHEMA k8sjob RENAME TO gone")
    names = {name for name, labels in scraped.scrape().values if ("ledger", "main") in labels}
    assert names == {"k8sjob_up", "k8sjob_scrape_duration_seconds"}
    assert scraped.scrape()("up", None) == 0
    db.connect("owner", autocommit=True).execute("ALTER SCHEMA gone RENAME TO k8sjob")
    assert scraped.scrape()("up", None) == 1
    assert scraped.scrape().jobs() == {"billing/credit"}


def test_a_server_that_was_restarted_between_two_scrapes_is_not_away(db: Database) -> None:
    """The kept connection is gone; a new one tells how it is."""
    with WireProxy(db.dsn("reader")) as proxy, served({"shop": to(proxy.conninfo())}) as ledgers:
        assert ups(ledgers.read()) == {"shop": True}
        proxy.cut_all()
        assert ups(ledgers.read()) == {"shop": True}


def test_the_address_is_read_at_each_connect(db: Database, other: Database) -> None:
    """Its password may have changed."""
    dsns = [db.dsn("reader"), other.dsn("reader")]
    with served({"shop": lambda: parse(dsns[0], "the test")}) as ledgers:
        assert ups(ledgers.read()) == {"shop": True}
        db.connect("admin", autocommit=True).execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = 'k8sjob exporter' AND datname = current_database()"
        )
        dsns.pop(0)
        assert ups(ledgers.read()) == {"shop": True}
        found = other.connect("admin").execute(
            "SELECT count(*) FROM pg_stat_activity "
            "WHERE application_name = 'k8sjob exporter' AND datname = current_database()"
        )
        assert found.fetchone() == (1,)


def test_what_breaks_in_one_ledger_hides_none_of_the_others(db: Database) -> None:
    def broken() -> Address:
        raise ZeroDivisionError("our own bug")

    with served({"shop": broken, "ops": to(db.dsn("reader"))}) as ledgers:
        shop, ops = ledgers.read()
        assert shop.trouble == "ZeroDivisionError: our own bug"
        assert ops.trouble is None


def test_a_ledger_that_takes_too_long_counts_as_away(db: Database, other: Database) -> None:
    clock = Clock()
    with served({"shop": to(db.dsn("reader")), "ops": to(other.dsn("reader"))}, clock) as ledgers:
        shop, ops = ledgers.each
        assert ups(ledgers.read(AMPLE_S)) == {"shop": True, "ops": True}
        with locked(db) as admin:
            clock.now += 2 * SHARED_FOR_S
            hanging = shop.ask()
            wait_until_blocked(admin, _exporter(db))
            ops.ask().result(AMPLE_S)  # and so it is shared
            slow, quick = ledgers.read(0.0)
            assert slow.trouble == "the ledger has not answered within 0.0 s"
            assert quick.trouble is None
            assert not hanging.done()
        hanging.result(AMPLE_S)
        assert ups(ledgers.read(AMPLE_S)) == {"shop": True, "ops": True}


# ------------------------------------------------------------------------------------ shared


def test_all_who_ask_at_once_get_one_snapshot(db: Database) -> None:
    clock, people = Clock(), 8
    with served({"shop": to(db.dsn("reader"))}, clock) as ledgers:
        (shop,) = ledgers.each
        together = threading.Barrier(people + 1)

        def ask() -> Reading:
            together.wait(AMPLE_S)
            return shop.result(shop.ask(), AMPLE_S)

        with locked(db) as admin, ThreadPoolExecutor(people) as pool:
            first = shop.ask()
            wait_until_blocked(admin, _exporter(db))
            clock.now += 2 * SHARED_FOR_S  # however long it takes
            asked = [pool.submit(ask) for _ in range(people)]
            together.wait(AMPLE_S)
            assert not first.done()
            admin.rollback()
            assert {id(one.result()) for one in asked} == {id(first.result())}


def test_a_snapshot_is_shared_for_a_second_from_its_end(db: Database) -> None:
    clock = Clock()
    with served({"shop": to(db.dsn("reader"))}, clock) as ledgers:
        (first,) = ledgers.read(AMPLE_S)
        clock.now += SHARED_FOR_S - 0.1
        assert ledgers.read(AMPLE_S) == [first]
        clock.now += 0.1
        (second,) = ledgers.read(AMPLE_S)
        assert second is not first


def test_a_ledger_that_is_away_is_asked_once_by_all(db: Database) -> None:
    clock, connects = Clock(), count()
    with WireProxy(db.dsn("reader")) as proxy:
        gone = proxy.conninfo()

    def find() -> Address:
        next(connects)
        return parse(gone, "the test")

    with served({"shop": find}, clock) as ledgers:
        assert [ups(ledgers.read(AMPLE_S)) for _ in range(3)] == [{"shop": False}] * 3
        assert next(connects) == 1


def test_closing_waits_for_what_is_being_read(db: Database) -> None:
    ledgers = Ledgers({"shop": to(db.dsn("reader"))})
    (shop,) = ledgers.each
    with locked(db) as admin:
        asked = shop.ask()
        wait_until_blocked(admin, _exporter(db))
        closing = threading.Thread(target=ledgers.close)
        closing.start()
        assert not asked.done()
        admin.rollback()
        closing.join(AMPLE_S)
    assert asked.result(0).facts is not None


def _exporter(db: Database) -> int:
    """Return the exporter's backend, once it is there."""
    admin = db.connect("admin", autocommit=True)
    for _ in range(6000):
        row = admin.execute(
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'k8sjob exporter' "
            "AND datname = current_database()"
        ).fetchone()
        if row:
            return int(row[0])
        threading.Event().wait(0.01)
    raise AssertionError("no exporter has connected")
