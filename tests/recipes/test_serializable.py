from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Semaphore
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import create_engine, event

import k8sjob
from examples.recipes.sqlalchemy_serializable import TRIES, credit
from tests.fix_stores import wait_until_blocked
from tests.recipes.clients import KEY, sqlalchemy_url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Engine

    from tests.recipes.conftest import Business

ADD_5 = "UPDATE app.accounts SET balance = balance + 5"


class Watched:
    """An engine whose only connection is known by its process on the server, and its tries.

    Each try waits for ``turn``, where a test has put one.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        with engine.connect() as conn:
            self.pid = conn.connection.driver_connection.info.backend_pid  # type: ignore[union-attr]
        self.begun = 0
        self.turn: Semaphore | None = None
        event.listen(engine, "begin", self._begin)

    def _begin(self, _conn: object) -> None:
        self.begun += 1
        assert self.turn is None or self.turn.acquire(timeout=30)


@contextmanager
def watched(business: Business) -> Iterator[Watched]:
    engine = create_engine(sqlalchemy_url(business.url), pool_size=1, max_overflow=0)
    try:
        yield Watched(engine)
    finally:
        engine.dispose()


def test_work_that_lost_to_a_rival_is_done_again(business: Business) -> None:
    rival, admin = business.db.connect(), business.db.connect("admin", autocommit=True)
    with watched(business) as own, ThreadPoolExecutor(1) as pool:
        rival.execute(ADD_5)  # the row that the work will wait for, after its claim
        credited = pool.submit(credit, own.engine, KEY, 10)
        wait_until_blocked(admin, own.pid)
        rival.commit()
        credited.result(timeout=30)
    assert own.begun == 2
    assert (business.balance(), business.done()) == (15, [str(KEY)])


def test_a_claim_that_lost_to_a_rival_is_a_duplicate_at_its_next_try(business: Business) -> None:
    rival, admin = business.db.connect(), business.db.connect("admin", autocommit=True)
    with watched(business) as own, ThreadPoolExecutor(1) as pool:
        k8sjob.claim(rival, KEY, payload="10")
        rival.execute(ADD_5)
        credited = pool.submit(credit, own.engine, KEY, 10)
        wait_until_blocked(admin, own.pid)
        rival.commit()
        with pytest.raises(k8sjob.NotApplied) as refusal:
            credited.result(timeout=30)
    assert refusal.value.outcome == "duplicate"
    assert own.begun == 2
    assert (business.balance(), business.done()) == (5, [str(KEY)])


def test_the_tries_come_to_an_end(business: Business) -> None:
    rival, admin = business.db.connect(), business.db.connect("admin", autocommit=True)
    with watched(business) as own, ThreadPoolExecutor(1) as pool:
        own.turn = Semaphore(0)
        credited = pool.submit(credit, own.engine, KEY, 10)
        for _ in range(TRIES):
            rival.execute(ADD_5)  # before the next try may begin
            own.turn.release()
            wait_until_blocked(admin, own.pid)
            rival.commit()
        with pytest.raises(Exception, match="could not serialize"):
            credited.result(timeout=30)
    assert own.begun == TRIES
    assert business.done() == []
