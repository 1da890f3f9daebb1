"""The connections that pages read through: bounded, kept while they are good, in time or not."""

from __future__ import annotations

import threading
import time
from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from k8sjob.errors import Unavailable, UsageError
from k8sjob.key import JobName
from k8sjob.ledger.read import open_reader
from k8sjob.ledger.settings import Address, Kind, parse
from k8sjob.serve.readers import LATELY_S, PAUSE_S, Shelf
from k8sjob.serve.site import Site
from tests.serve.process import PATIENCE, wait_until
from tests.serve.scene import NOW, Painter

if TYPE_CHECKING:
    from collections.abc import Callable

    from k8sjob.ledger.read import Reader
    from tests.fix_stores import Database

T = TypeVar("T")

NOBODY = Address(Kind.POSTGRES, "postgresql://127.0.0.1:1/none", "the test")


def read(shelf: Shelf, look: Callable[[Reader], T]) -> T:
    """Return what a look reads."""
    return shelf.ask(look).result(PATIENCE)


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        """Tell the time."""
        return self.time


class Finding:
    """Counts how often the address is asked for: at each connect, and only then."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.asked = 0

    def __call__(self) -> Address:
        """Tell the address."""
        self.asked += 1
        return self.address


def of(db: Database) -> Finding:
    return Finding(parse(db.dsn("reader"), "the test"))


def names(reader: Any) -> int:
    """Return the server's process that answers."""
    pid: int = reader._conn.info.backend_pid  # noqa: SLF001
    return pid


def timeout(reader: Any) -> Any:
    """Return the bound of a query within a look."""
    with reader._snapshot():  # noqa: SLF001
        return reader._conn.execute("SHOW statement_timeout").fetchone()  # noqa: SLF001


def test_a_connection_is_kept_for_the_next_who_asks(db: Database) -> None:
    find = of(db)
    with closing(Shelf("default", find)) as shelf:
        assert len({read(shelf, names) for _ in range(5)}) == 1
    assert find.asked == 1


def test_a_connection_that_was_ended_meanwhile_is_noticed_before_it_is_used(db: Database) -> None:
    find = of(db)
    with closing(Shelf("default", find)) as shelf:
        pid = read(shelf, names)
        with db.connect("admin", autocommit=True) as admin:
            admin.execute("SELECT pg_terminate_backend(%s, 10000)", (pid,))
        assert read(shelf, names) != pid
    assert find.asked == 2


def test_whose_question_was_wrong_leaves_the_connection_as_it_was(db: Database) -> None:
    def wrong(_reader: Reader) -> None:
        raise UsageError("what?")

    find = of(db)
    with closing(Shelf("default", find)) as shelf:
        pid = read(shelf, names)
        with pytest.raises(UsageError, match=r"what\?"):
            read(shelf, wrong)
        assert read(shelf, names) == pid


def test_whatever_else_went_wrong_takes_the_connection_with_it(db: Database) -> None:
    def broken(_reader: Reader) -> None:
        raise RuntimeError("what?")

    with closing(Shelf("default", of(db))) as shelf:
        pid = read(shelf, names)
        with pytest.raises(RuntimeError):
            read(shelf, broken)
        assert read(shelf, names) != pid


def test_a_query_that_takes_too_long_is_ended_by_the_server(db: Database) -> None:
    lock = db.connect("admin")
    lock.execute("LOCK TABLE k8sjob.gate IN ACCESS EXCLUSIVE MODE")
    with closing(Shelf("default", of(db), query_s=0.5)) as shelf:
        with pytest.raises(Unavailable, match="statement timeout"):
            read(shelf, lambda reader: reader.known(JobName("billing", "credit")))
        lock.rollback()
        assert read(shelf, names)


def test_a_ledger_that_hangs_is_waited_for_once_and_then_but_a_moment(db: Database) -> None:
    lock = db.connect("admin")
    lock.execute("LOCK TABLE k8sjob.gate IN ACCESS EXCLUSIVE MODE")
    with closing(Site({"default": of(db)}, within_s=1.5)) as site:
        took = []
        for _ in range(3):
            began = time.monotonic()
            assert "has not answered within 1.5 s" in site.overview().away["default"]
            took.append(time.monotonic() - began)
        assert took[0] >= 1.5
        assert min(took[1:]) < 1.5
        lock.rollback()
        wait_until(lambda: not site.overview().away, "it answers")
        assert site.overview()


def test_one_look_that_took_too_long_makes_no_ledger_hang(db: Database) -> None:
    go = threading.Event()

    def heavy(reader: Reader) -> int:
        go.wait(PATIENCE)
        return names(reader)

    with closing(Site({"default": of(db)}, within_s=0.3)) as site:
        assert site.read(None, heavy).away
        go.set()
        shelf = site.shelves["default"]
        wait_until(lambda: shelf.answers > 0, "it has answered in the end")
        go.clear()
        threading.Timer(0.6, go.set).start()
        site.within_s = PATIENCE
        assert not site.read(None, heavy).away


def test_where_nobody_could_connect_nobody_tries_again_at_once() -> None:
    find, clock = Finding(NOBODY), Clock()
    with closing(Shelf("default", find, clock)) as shelf:
        for _ in range(3):
            with pytest.raises(Unavailable, match="cannot be reached"):
                read(shelf, names)
        assert find.asked == 1
        clock.time += PAUSE_S
        with pytest.raises(Unavailable):
            read(shelf, names)
    assert find.asked == 2


def test_a_ledger_that_has_answered_lately_is_there_as_far_as_is_known(db: Database) -> None:
    clock = Clock()
    with closing(Shelf("default", of(db), clock)) as shelf:
        assert not shelf.has_answered_lately()
        read(shelf, names)
        clock.time += LATELY_S
        assert shelf.has_answered_lately()
        clock.time += 1
        assert not shelf.has_answered_lately()


def test_at_its_end_all_connections_are_given_back(db: Database) -> None:
    admin = db.connect("admin", autocommit=True)
    with closing(Shelf("default", of(db))) as shelf:
        read(shelf, names)
    query = "SELECT FROM pg_stat_activity WHERE application_name = 'k8sjob reader'"
    gone = query + " AND datname = current_database()"
    wait_until(lambda: admin.execute(gone.encode()).fetchone() is None, "it is closed")


def test_a_reader_without_a_bound_keeps_the_servers_own(db: Database) -> None:
    dsn = db.dsn("reader", options="-c statement_timeout=4321")
    for bound, told in ((None, "4321ms"), (2.5, "2500ms")):
        with closing(open_reader(parse(dsn, "the test"), timeout_s=bound)) as reader:
            assert timeout(reader) == {"statement_timeout": told}


def test_the_last_passes_of_each_scope_are_read_the_newest_first(db: Database) -> None:
    with db.connect("admin") as conn:
        painter = Painter(conn)
        painter.passes("*", NOW)
        painter.passes("billing", NOW - timedelta(days=1))
        painter.write()
        conn.execute("INSERT INTO k8sjob.passes (scope, started_at) VALUES ('ops', %s)",
                     (NOW - timedelta(days=2),))  # fmt: skip
        conn.commit()
    with closing(open_reader(parse(db.dsn("reader"), "the test"))) as reader:
        found = reader.passes()
    assert [one.scope for one in found] == ["*"] * 20 + ["billing"] * 20 + ["ops"]
    assert found[0].started_at == NOW
    assert found[0].started_at > found[1].started_at
    assert found[-1].ended_at is None


def test_a_ledger_in_a_file_has_no_passes(sqlite_path: object) -> None:
    with closing(open_reader(parse(f"sqlite:///{sqlite_path}", "the test"))) as reader:
        assert reader.passes() == []
