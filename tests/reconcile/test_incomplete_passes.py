"""A pass that has not looked at all is told as one, whatever else went wrong in it."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from k8sjob.ledger.postgres.scrape import PostgresScraper
from k8sjob.serve.tail import Tails

if TYPE_CHECKING:
    from k8sjob.ledger.scrape import PassFacts
    from tests.reconcile.scene import Scene

#: As the exporter and describe judge it.
COMPLETE = "SELECT ok OR failing > 0 FROM k8sjob.passes ORDER BY id"


def scraped(scene: Scene) -> PassFacts:
    """Return what an exporter reads of the passes."""
    with closing(PostgresScraper(scene.db.dsn("reader"))) as scraper:
        (facts,) = scraper.read(Tails()).passes
    return facts


@pytest.mark.parametrize("unlisted", ["pods", "jobs", "cronjobs", "events"])
def test_a_broken_cronjob_makes_no_pass_complete_that_is_not(scene: Scene, unlisted: str) -> None:
    scene.add()
    scene.add("billing/typo", grace="soon")
    assert scene.call().code == 1
    scene.api.fail("list", unlisted, 403, times=100)
    told = scene.call()
    assert "ledger default: not complete: " in told.err
    assert scene.column(COMPLETE) == [True, False]
    (first, _) = scene.column("SELECT started_at FROM k8sjob.passes ORDER BY id")
    seen = scraped(scene)
    assert (seen.last_complete_at, seen.failing) == (first, 1)


def test_a_pass_that_could_not_even_look_is_ended_with_its_trouble(scene: Scene) -> None:
    """Or it would be told for ever as one that is under way, or was killed."""
    with scene.db.connect("admin") as conn:
        conn.execute("REVOKE SELECT ON k8sjob.holds FROM k8sjob_operator")
    assert scene.call().code == 1
    ended = "SELECT ended_at IS NOT NULL AND NOT ok AND failing = 0 FROM k8sjob.passes"
    assert scene.column(ended) == [True]
    (message,) = scene.column("SELECT message FROM k8sjob.passes")
    assert message.startswith("the database refused to look at the ledger")
