from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.seen.play import BUSY, UNWATCHED, WATCHED

if TYPE_CHECKING:
    from tests.seen.play import Seen

each = pytest.mark.parametrize("job", [WATCHED, UNWATCHED, BUSY])


@each
def test_resolved_comes_with_the_fingerprint_of_the_first_message(job: str, seen: Seen) -> None:
    assert seen.resolved[job].fingerprint == seen.firing[job].fingerprint
    assert len({notice.fingerprint for notice in seen.notices if notice.job == job}) == 1


@each
def test_the_alert_was_one_and_the_same_all_the_time(job: str, seen: Seen) -> None:
    """An alert that ends and begins again between two messages has a later start."""
    assert {n.starts for n in seen.notices if n.job == job} == {seen.firing[job].starts}


def test_the_command_in_the_alert_does_the_period(seen: Seen) -> None:
    code, said = seen.backfill
    assert code == 0, said
    assert seen.jobs[UNWATCHED].period() in said


@each
def test_an_exporter_that_is_away_for_a_while_resolves_nothing(job: str, seen: Seen) -> None:
    assert seen.away[job].state == "firing"
    assert seen.too_early == []


def test_an_older_period_that_is_done_first_does_not_clear_it(seen: Seen) -> None:
    before, after = seen.older
    assert before.state == after.state == "firing"
    assert before.active_at == after.active_at
    assert before.labels == after.labels
    assert seen.jobs[BUSY].period(0) in before.annotations["description"]
    assert seen.jobs[BUSY].period(1) in after.annotations["description"]
