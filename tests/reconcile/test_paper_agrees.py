"""The ledger on paper, over which a thousand lives are lived, does what Postgres does."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.cycle import Cycle
from k8sjob.ledger.settings import parse
from k8sjob.ledger.watch import Watcher, open_watcher
from tests.property.lives import DENSE, HOURLY, IRREGULAR, NIGHTLY, at_random, born, live

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from k8sjob.key import Key
    from k8sjob.ledger.watch import Watched
    from tests.fix_stores import Connection, Database
    from tests.property.paper_ledger import PaperLedger


class Both:
    """Asks the paper, and Postgres too: the answers must be the same."""

    def __init__(self, paper: PaperLedger, postgres: Watcher) -> None:
        self.paper, self.postgres = paper, postgres

    def __getattr__(self, name: str) -> Any:
        def ask(*args: Any, **kwargs: Any) -> Any:
            told = getattr(self.paper, name)(*args, **kwargs)
            assert getattr(self.postgres, name)(*args, **kwargs) == told, name
            return told

        return ask

    def look(self, scope: str, namespaces: None) -> Watched:
        """Look at both."""
        told, other = self.paper.look(scope, namespaces), self.postgres.look(scope, namespaces)
        assert comparable(other) == comparable(told)
        return told

    @contextmanager
    def listing(self, scope: str, seen: datetime | None, began: datetime) -> Iterator[str]:
        """Take a list in on both."""
        with (
            self.postgres.listing(scope, seen, began) as answer,
            self.paper.listing(scope, seen, began) as told,
        ):
            assert answer == told
            yield told


def comparable(seen: Watched) -> Any:
    """Return what both know: times by the server's own clock are left out."""
    jobs = {
        job: replace(known, launches=(), versions=list(known.versions))
        for job, known in seen.jobs.items()
    }
    return seen.last_list, jobs, sorted(seen.unfinished, key=lambda row: row.key)


def claim(conn: Connection, key: Key) -> None:
    conn.execute("SELECT k8sjob.try_claim(%s, %s)", (str(key.job), str(key.period)))
    conn.commit()


@pytest.mark.parametrize("cycle", [Cycle.SCHEDULED, Cycle.DAY, Cycle.WEEK, Cycle.ONCE])
@pytest.mark.parametrize("seed", range(3))
def test_a_life_goes_the_same_way_on_paper_and_on_postgres(
    db: Database, cycle: Cycle, seed: int
) -> None:
    dense = [IRREGULAR, *DENSE] if cycle is Cycle.SCHEDULED else []
    by = Random(seed)  # noqa: S311  # always the same three
    script = at_random(by, [cycle], [*HOURLY, *NIGHTLY, *dense])
    life = born(script)
    conn = db.connect()
    with closing(open_watcher(parse(db.dsn("operator"), "test"))) as postgres:
        life.watcher = Both(life.paper, postgres)  # type: ignore[assignment]
        life.claims.append(lambda key: claim(conn, key))
        live(script, life)
        life.watcher.look("*", None)
    query = "SELECT period, state, uncertain FROM k8sjob.periods ORDER BY 1"
    with db.connect("operator") as operator:
        found = operator.execute(query).fetchall()
    rows = life.paper.rows.items()
    assert found == sorted((str(key.period), row.state, row.uncertain) for key, row in rows)
