from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from k8sjob import NotApplied, Outcome
from k8sjob.cli.main import main
from tests.races.arena import NEXT_DAY
from tests.races.racer import KEY

if TYPE_CHECKING:
    from tests.races.arena import Arena


def prune(arena: Arena, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("K8SJOB_DSN", arena.db.dsn("operator"))
    with pytest.raises(SystemExit) as end:
        main(["prune", str(KEY.job), "--before", str(NEXT_DAY.period)])
    assert end.value.code == 0


def test_a_key_pruned_by_the_command_is_expired_for_whoever_looked_before(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = arena.two()
    arena.racer().run()
    arena.racer().run(NEXT_DAY)
    old.look()
    prune(arena, monkeypatch)
    assert (arena.state(), arena.state(NEXT_DAY)) == (None, "done")
    if arena.strict:  # its snapshot is older than the floor
        with pytest.raises(psycopg.errors.SerializationFailure):
            old.claim()
        old.rollback()
    for racer in (old, new):
        with pytest.raises(NotApplied) as refusal:
            racer.claim()
        assert refusal.value.outcome is Outcome.EXPIRED
        racer.rollback()
        assert racer.try_claim(NEXT_DAY).outcome is Outcome.DUPLICATE
        racer.rollback()
    assert arena.balance() == 20


def test_the_command_works_where_the_databases_own_level_is_stricter(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    level = arena.level.name.replace("_", " ")
    name = psycopg.sql.Identifier(arena.db.name)
    alter = psycopg.sql.SQL("ALTER DATABASE {} ").format(name)
    arena.admin.execute(alter + psycopg.sql.SQL(f"SET default_transaction_isolation = '{level}'"))
    try:
        arena.racer().run()
        prune(arena, monkeypatch)
    finally:
        arena.admin.execute(alter + psycopg.sql.SQL("RESET default_transaction_isolation"))
    assert arena.state() is None
