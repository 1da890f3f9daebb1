"""A scope that nobody passes over any more is forgotten when a person says so."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from k8sjob.ledger.postgres.scrape import PostgresScraper
from k8sjob.serve.tail import Tails

if TYPE_CHECKING:
    from pathlib import Path

    from tests.reconcile.scene import Scene


@pytest.fixture
def scene(scene: Scene) -> Scene:
    """Give a cluster without CronJobs, whose scope was narrowed from two namespaces to one."""
    for scope in (["-n", "billing", "-n", "shop"], ["-n", "billing", "-n", "shop"]):
        assert scene.call(*scope).code == 0
    assert scene.call("-n", "billing").code == 0
    return scene


def scopes(scene: Scene) -> list[str]:
    """Return the scopes that an exporter tells, and so may be stale."""
    with closing(PostgresScraper(scene.db.dsn("reader"))) as scraper:
        return [one.scope for one in scraper.read(Tails()).passes]


def test_the_old_scope_of_a_reconciler_that_was_narrowed_is_forgotten(scene: Scene) -> None:
    assert scopes(scene) == ["billing", "billing,shop"]
    told = scene.call("--forget-scope", "billing,shop")
    assert (told.code, told.err) == (0, "")
    assert told.out == "ledger default: the scope billing,shop is forgotten, with its 2 passes\n"
    assert scopes(scene) == ["billing"]
    assert scene.column("SELECT scope FROM k8sjob.scopes") == ["billing"]


def test_a_dry_run_forgets_nothing(scene: Scene) -> None:
    before = scene.stored()
    told = scene.call("--forget-scope", "billing,shop", "--dry-run")
    assert told.code == 0
    assert told.out == (
        "ledger default: the scope billing,shop is forgotten, with its 2 passes "
        "(dry run: nothing was changed)\n"
    )
    assert scene.stored() == before


def test_a_scope_that_is_not_there_is_told_with_those_that_are(scene: Scene) -> None:
    before = scene.stored()
    told = scene.call("--forget-scope", "shop")
    assert told.code == 64
    assert "no ledger has the scope shop. Nothing was changed." in told.err
    assert "default: billing; billing,shop" in told.err
    assert scene.stored() == before


@pytest.mark.parametrize("more", [["-n", "shop"], ["-A"], ["--every", "1m"]])
def test_it_is_no_pass(scene: Scene, more: list[str]) -> None:
    told = scene.call("--forget-scope", "billing,shop", *more)
    assert told.code == 64
    assert "Nothing was done" in told.err
    assert scopes(scene) == ["billing", "billing,shop"]


def test_a_ledger_that_is_away_is_told_and_the_others_forget(scene: Scene, tmp_path: Path) -> None:
    folder = tmp_path / "ledgers"
    folder.mkdir()
    scene.ledgers(folder, archive="postgresql://nobody@127.0.0.1:1/none")
    told = scene.call("--forget-scope", "billing,shop")
    assert told.code == 1
    assert told.out.startswith("ledger default: the scope billing,shop is forgotten")
    assert "ledger archive: not looked at: the ledger cannot be reached" in told.err
    assert scopes(scene) == ["billing"]
