"""The rows on their thread: signs of life, and a key that somebody else holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.key import Key
from k8sjob.ledger.contract import Attempt
from k8sjob.ledger.postgres.store import PostgresLedger
from k8sjob.run import heartbeat
from k8sjob.run.child import ticking
from k8sjob.run.sidecar.books import Books, Shelf
from k8sjob.run.sidecar.end import MainEnd
from tests.sidecar.pod import ATTEMPT, KEY, OTHER, wait_until

if TYPE_CHECKING:
    import pytest

    from k8sjob.ledger.contract import Ending
    from tests.fix_stores import Database

PATIENCE_S = 60.0


class Told:
    """What was told, by its first words."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def begun(self) -> None:
        """Take it down."""
        self.words.append("begun")

    def ended(self, ending: Ending) -> None:
        """Take it down."""
        self.words.append(str(ending.outcome))


def books_of(db: Database, told: Told) -> Books:
    """Return books that are kept in this process."""

    def find() -> Shelf:
        ledger = PostgresLedger(db.dsn(), application_name="sidecar", lock_timeout_s=0.2)
        return Shelf(ledger, takes_heartbeats=True)

    attempt = Attempt(id=ATTEMPT, key=Key.parse(KEY), mode="sidecar", source="test", client="0.1.0")
    return Books(find, attempt, told)


def test_a_long_attempt_gives_signs_of_life(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "FIRST_HEARTBEAT_S", 0.0)
    monkeypatch.setattr(heartbeat, "HEARTBEAT_S", 0.0)
    monkeypatch.setattr(ticking, "EVERY_S", 0.01)
    admin, told = db.connect("admin", autocommit=True), Told()
    books = books_of(db, told)
    books.open()

    count = "SELECT count(heartbeat_at) FROM k8sjob.attempts"
    wait_until(lambda: admin.execute(count).fetchone() == (1,))
    books.end(MainEnd(0))

    assert books.wait(PATIENCE_S)
    assert told.words == ["begun", "unproven"]
    ours = "SELECT FROM pg_stat_activity WHERE datname = %s AND application_name = 'sidecar'"
    wait_until(lambda: admin.execute(ours, (db.name,)).fetchone() is None)


def test_the_end_waits_for_whoever_holds_the_key(db: Database) -> None:
    """It may be the main container's own transaction, whose commit is under way."""
    told, main = Told(), db.connect()
    books = books_of(db, told)
    books.open()
    wait_until(lambda: told.words == ["begun"])
    main.execute("SELECT k8sjob.claim(%s, %s, attempt => %s)", (*KEY.split(":", 1), ATTEMPT))
    books.end(MainEnd(0))
    assert not books.wait(1.0)
    main.commit()

    assert books.wait(PATIENCE_S)
    assert told.words == ["begun", "applied"]


def test_in_a_hurry_nobody_is_waited_for(db: Database) -> None:
    told, rival = Told(), db.connect()
    books = books_of(db, told)
    books.open()
    wait_until(lambda: told.words == ["begun"])
    rival.execute("SELECT k8sjob.claim(%s, %s, attempt => %s)", (*KEY.split(":", 1), OTHER))
    books.end(MainEnd(0))
    books.hurry()

    assert books.wait(PATIENCE_S)
    assert told.words == ["begun", "in-doubt"]


def test_a_key_that_is_held_at_the_start_delays_no_row(db: Database) -> None:
    """Once the job is known: its first claim makes the gate, which the start row waits for."""
    told, rival = Told(), db.connect()
    rival.execute("SELECT k8sjob.claim(%s, '2026-09-12T00:00:00Z')", (KEY.split(":", 1)[0],))
    rival.commit()
    rival.execute("SELECT k8sjob.claim(%s, %s, attempt => %s)", (*KEY.split(":", 1), OTHER))
    books = books_of(db, told)
    books.open()

    wait_until(lambda: told.words == ["begun"])
    books.end(MainEnd(3))
    books.hurry()
    assert books.wait(PATIENCE_S)
    assert told.words == ["begun", "failed"]


def test_no_connection_is_kept_while_the_main_container_works(db: Database) -> None:
    admin, told = db.connect("admin", autocommit=True), Told()
    books = books_of(db, told)
    books.open()
    wait_until(lambda: told.words == ["begun"])

    ours = "SELECT FROM pg_stat_activity WHERE datname = %s AND application_name = 'sidecar'"
    wait_until(lambda: admin.execute(ours, (db.name,)).fetchone() is None)
    books.end(MainEnd(3))
    assert books.wait(PATIENCE_S)
