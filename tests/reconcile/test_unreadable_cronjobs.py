"""A CronJob that cannot be read, or not be written down, for a while: nothing is hidden by it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.errors import TryAgain
from k8sjob.ledger.settings import parse
from k8sjob.ledger.watch import open_watcher
from tests.reconcile.conftest import JOB, at, cronjob, written

if TYPE_CHECKING:
    from k8sjob.kube.objects import CronJob
    from tests.reconcile.conftest import Desk

TYPO = {"k8sjob.io/grace": "soon"}
HALF_PAST = "30 * * * *"


def times(desk: Desk) -> dict[str, str]:
    return {period[11:16]: state for period, state in desk.rows().items()}


def show(desk: Desk, *cronjobs: CronJob) -> None:
    desk.cronjobs = list(cronjobs)


def at_13_45(**changes: Any) -> CronJob:
    """Return the CronJob as one write at 13:45 has left it."""
    when = at("2026-09-13 13:45")
    return cronjob(schedule=HALF_PAST, generation=2, managed=(written(when),), **changes)


@pytest.mark.parametrize("fault", ["annotation", "interval", "kind", "two of them"])
def test_what_was_edited_while_it_could_not_be_read_may_be_as_old_as_that(
    desk: Desk, fault: str
) -> None:
    desk.pass_at("12:10")
    broken = {
        "annotation": [at_13_45(annotations=TYPO)],
        "interval": [replace(at_13_45(), schedule="@every 5m")],
        "kind": [at_13_45(annotations={"k8sjob.io/cycle": "day"})],
        "two of them": [at_13_45(), cronjob(name="b", annotations={"k8sjob.io/job": "credit"})],
    }[fault]
    for clock in ("14:10", "15:10"):
        show(desk, *broken)
        assert not desk.pass_at(clock).ok
        assert desk.rows() == {}
    show(desk, replace(at_13_45(), generation=3, managed=()))
    desk.pass_at("16:10")
    desk.pass_at("17:10")
    assert times(desk) == {
        **dict.fromkeys(("12:30", "13:00", "13:30", "14:00", "14:30", "15:00"), "open?"),
        **dict.fromkeys(("15:30", "16:00"), "open?"),
        "16:30": "open",
    }


def test_what_was_not_edited_meanwhile_is_as_certain_as_ever(desk: Desk) -> None:
    desk.pass_at("12:10")
    show(desk, cronjob(annotations=TYPO))
    desk.pass_at("13:40")
    show(desk, cronjob())
    desk.pass_at("14:40")
    assert times(desk) == dict.fromkeys(("13:00", "14:00"), "open")
    assert desk.value("SELECT blind_since FROM k8sjob.jobs") is None


def test_one_of_another_name_that_cannot_be_read_is_not_gone(desk: Desk) -> None:
    named = {"k8sjob.io/job": "credit"}
    other = cronjob(name="credit-v2", annotations=named)
    show(desk, other)
    desk.pass_at("12:10")
    show(desk, replace(other, annotations={**named, **TYPO}))
    report = desk.pass_at("13:40")
    assert [(line.what, line.action) for line in report.lines] == [("billing/credit-v2", "broken")]
    assert desk.value("SELECT gone_at FROM k8sjob.jobs") is None
    show(desk, other)
    desk.pass_at("14:40")
    assert times(desk) == dict.fromkeys(("13:00", "14:00"), "open")


def test_while_it_cannot_be_read_it_is_not_judged_without_a_list_either(desk: Desk) -> None:
    desk.pass_at("12:10")
    show(desk, at_13_45(annotations=TYPO))
    desk.pass_at("14:10")
    desk.cronjobs = None
    desk.pass_at("15:10")
    assert desk.rows() == {}


def test_one_that_is_enabled_again_and_cannot_be_read_is_expected_since_then(desk: Desk) -> None:
    desk.pass_at("12:10")
    show(desk)
    desk.pass_at("12:40")
    label = written(at("2026-09-13 12:50"), "enabled-label")
    show(desk, cronjob(annotations=TYPO, managed=(*cronjob().managed, label)))
    desk.pass_at("14:40")
    show(desk, cronjob(managed=(*cronjob().managed, label)))
    desk.pass_at("15:40")
    assert times(desk) == dict.fromkeys(("13:00", "14:00", "15:00"), "open")


def test_one_that_could_not_be_written_down_is_taken_for_one_that_could_not_be_read(
    desk: Desk,
) -> None:
    """Somebody holds its row, and a list that told of its edit has gone by."""
    desk.pass_at("12:10")
    show(desk, at_13_45())
    with (
        closing(open_watcher(parse(desk.db.dsn("operator"), "test"), lock_timeout_s=0.2)) as quick,
        desk.db.connect("admin") as holder,
    ):
        desk.watcher, kept = quick, desk.watcher
        # Only its versions: that nothing is known of it since can be noted.
        holder.execute("LOCK k8sjob.schedule_versions IN EXCLUSIVE MODE")
        report = desk.pass_at("14:10")
        desk.watcher = kept
    assert [line.action for line in report.lines] == ["broken"]
    assert desk.rows() == {}
    assert desk.value("SELECT blind_since FROM k8sjob.jobs") == at("2026-09-13 12:10")
    desk.pass_at("14:40")
    assert times(desk) == {"13:00": "open"}  # and 14:30 is in its grace


def test_a_list_of_which_nothing_can_be_noted_counts_as_not_taken_in(desk: Desk) -> None:
    desk.pass_at("12:10")
    show(desk, at_13_45())
    with (
        closing(open_watcher(parse(desk.db.dsn("operator"), "test"), lock_timeout_s=0.2)) as quick,
        desk.db.connect("admin") as holder,
    ):
        desk.watcher, kept = quick, desk.watcher
        holder.execute("SELECT FROM k8sjob.jobs WHERE job = %s FOR UPDATE", (JOB,))
        with pytest.raises(TryAgain, match="holds it"):
            desk.pass_at("14:10")
        desk.watcher = kept
    assert desk.value("SELECT last_complete_list_at FROM k8sjob.scopes") == at("2026-09-13 12:10")
    desk.pass_at("14:40")
    assert times(desk) == {"13:00": "open"}
