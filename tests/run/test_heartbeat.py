"""A long run gives signs of life, on a connection of its own."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import psycopg
import pytest

from k8sjob.cli.main import main
from k8sjob.run import heartbeat
from k8sjob.run.child import ticking
from k8sjob.run.heartbeat import FIRST_HEARTBEAT_S, HEARTBEAT_S, Heartbeat

if TYPE_CHECKING:
    from collections.abc import Generator

    from tests.fix_stores import Database

WAIT_S = 30.0


def test_a_target_that_works_for_long_gives_signs_of_life(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The target itself waits until another connection has seen the sign; nothing sleeps."""
    monkeypatch.setattr(heartbeat, "FIRST_HEARTBEAT_S", 0.0)
    monkeypatch.setattr(heartbeat, "HEARTBEAT_S", 0.0)
    monkeypatch.setattr(ticking, "EVERY_S", 0.01)
    monkeypatch.setenv("K8SJOB_DSN", db.dsn())
    monkeypatch.setenv("K8SJOB_TEST_OBSERVER", db.dsn("admin"))

    with pytest.raises(SystemExit) as ended:
        main(["run", f"{__name__}:works_until_seen", "--job", "a/b", "--period", "once"])

    assert ended.value.code == 0
    with psycopg.connect(db.dsn("admin")) as conn:
        row = conn.execute("SELECT outcome, heartbeat_at IS NOT NULL FROM k8sjob.attempts")
        assert row.fetchall() == [("applied", True)]


def works_until_seen(_run: object) -> None:
    """Return once the heartbeat of this attempt is committed."""
    poll = threading.Event()
    with psycopg.connect(os.environ["K8SJOB_TEST_OBSERVER"], autocommit=True) as conn:
        for _ in range(int(WAIT_S / 0.05)):
            query = "SELECT count(heartbeat_at) FROM k8sjob.attempts"
            if conn.execute(query).fetchall() == [(1,)]:
                return
            poll.wait(0.05)
    raise AssertionError("no sign of life was seen")


def test_the_first_heartbeat_comes_after_a_minute_and_a_failure_connects_anew() -> None:
    now, told = [0.0], list[str]()

    def beats() -> Generator[None]:
        told.append("connect")
        while True:
            if now[0] == 100:
                raise OSError("the ledger is away")
            told.append(f"beat {now[0]:g}")
            yield

    heartbeat = Heartbeat(beats, clock=lambda: now[0])
    for second in range(1, 200):
        now[0] = second
        try:
            heartbeat()
        except OSError:
            told.append("failed")

    assert FIRST_HEARTBEAT_S == 60
    assert HEARTBEAT_S == 30
    assert told == ["connect", "beat 60", "beat 90", "beat 120", "beat 150", "beat 180"]


def test_a_heartbeat_that_failed_is_tried_again_on_a_new_connection() -> None:
    now, told = [0.0], list[str]()

    def beats() -> Generator[None]:
        told.append("connect")
        while True:
            if now[0] == 90:
                raise OSError("the ledger is away")
            yield

    heartbeat = Heartbeat(beats, clock=lambda: now[0])
    for second in (60, 90, 120):
        now[0] = second
        try:
            heartbeat()
        except OSError:
            told.append("failed")

    assert told == ["connect", "failed", "connect"]
