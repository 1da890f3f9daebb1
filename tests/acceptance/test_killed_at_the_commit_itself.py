"""A process that is killed once its COMMIT was sent: the hardest moment, since nobody can tell.

See `test_killed_at_every_point.py` for what the names mean.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import sql

from tests.acceptance.kills import DAY, PERIODS, Scene
from tests.acceptance.processes import first_at
from tests.fix_report import SQLITE
from tests.fix_stores import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from tests.acceptance.processes import Processes
    from tests.fix_stores import Database

GATE = 4711  # the advisory lock that a COMMIT waits for
AT_THE_GATE = f"""
CREATE FUNCTION app.wait_at_the_gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock({GATE});
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER gated AFTER INSERT OR UPDATE ON app.accounts
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION app.wait_at_the_gate();
"""


@pytest.fixture
def scene(db: Database, processes: Processes) -> Scene:
    alter = "ALTER ROLE k8sjob_runner IN DATABASE {} SET search_path = app, public"
    with db.connect("admin", autocommit=True) as admin:
        admin.execute(sql.SQL(alter).format(sql.Identifier(db.name)))
    return Scene(Store("postgres", db.server.name, db.dsn("runner"), db=db), processes)


def test_eight_on_eight_keys_killed_when_commit_was_sent_and_no_answer_read(scene: Scene) -> None:
    children = scene.started(PERIODS)
    for child in children:
        child.wait_for("sent")
    for child in children:
        child.kill()

    # What was sent arrives, whether or not the sender lives.
    scene.wait_until_the_server_knows()
    assert scene.effects() == dict.fromkeys(PERIODS, 10)
    assert scene.done() == dict.fromkeys(PERIODS, "done")
    assert scene.without_end() == {child.pid for child in children}

    assert scene.retry(PERIODS) == ["duplicate"] * 8
    assert scene.effects() == dict.fromkeys(PERIODS, 10)


def test_eight_on_one_key_one_killed_when_commit_was_sent_the_others_while_they_wait(
    scene: Scene, gate: psycopg.Connection
) -> None:
    children = scene.started([DAY] * 8)
    holder = first_at(children, "committing")
    with closed(gate):
        holder.go()
        wait_until_the_server_commits(scene)
        scene.wait_until_they_wait(8)  # it for the gate, the others for it
        for child in children:
            child.kill()
        assert (scene.effects(), scene.done()) == ({}, {})  # the server is still at it

        retry = scene.start()
        scene.wait_until_they_wait(9)  # it is not told that the key is free, and waits too

    told = retry.end()
    assert (told.code, told.out.split()[1]) == (0, "duplicate:"), told
    scene.wait_until_the_server_knows()
    assert scene.effects() == {DAY: 10}
    assert scene.done() == {DAY: "done"}
    assert scene.without_end() == {child.pid for child in children}


def test_killed_while_the_server_commits_and_the_commit_then_fails(
    scene: Scene, gate: psycopg.Connection
) -> None:
    child = scene.hold()
    with closed(gate):
        child.wait_for("committing")
        child.go()
        pid = wait_until_the_server_commits(scene)
        child.kill()
        assert (scene.effects(), scene.done()) == ({}, {})
        retry = scene.start()
        scene.wait_until_they_wait(2)
        gate.execute("SELECT pg_cancel_backend(%s)", (pid,))

    told = retry.end()
    assert (told.code, told.out.split()[1]) == (0, "applied"), told
    assert scene.effects() == {DAY: 10}


def test_a_sqlite_file_that_holds_what_a_killed_process_did_not_commit_is_mended(
    sqlite_path: Path, processes: Processes
) -> None:
    scene = Scene(Store("sqlite", SQLITE, f"sqlite:///{sqlite_path}", path=sqlite_path), processes)
    before = sqlite_path.read_bytes()
    child = scene.hold(target="tests.acceptance.child:fill_file")
    child.wait_for("committing")
    child.kill()
    # The file itself is changed; its journal knows what was there.
    assert sqlite_path.read_bytes()[: len(before)] != before
    assert sqlite_path.with_name("ledger.db-journal").stat().st_size > 0

    assert (scene.effects(), scene.done()) == ({}, {})
    told = scene.start(target="tests.acceptance.child:fill_file").end()
    assert (told.code, told.out.split()[1]) == (0, "applied"), told
    assert (scene.effects(), scene.done()) == ({DAY: 10}, {DAY: "done"})


# ------------------------------------------------------------------------- how the above is done


@pytest.fixture
def gate(db: Database) -> psycopg.Connection:
    """Give the superuser's connection that holds the gate, once the trigger is there."""
    admin = db.connect("admin", autocommit=True)
    admin.execute(AT_THE_GATE)
    return admin


@contextmanager
def closed(gate: psycopg.Connection) -> Iterator[None]:
    """Keep each COMMIT that has credited something from its end."""
    gate.execute("SELECT pg_advisory_lock(%s)", (GATE,))
    try:
        yield
    finally:
        gate.execute("SELECT pg_advisory_unlock(%s)", (GATE,))


def wait_until_the_server_commits(scene: Scene) -> Any:
    """Return the session that works on a COMMIT: the server has got it."""
    return scene.wait_for(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query = 'COMMIT' "
        "AND wait_event = 'advisory'"
    )
