"""What is worth a word beside the periods."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from k8sjob.backfill.candidates import in_range, missing
from k8sjob.backfill.notes import Notes, notes
from k8sjob.period import Cycle
from tests.backfill.given import asked, at, basis, version

if TYPE_CHECKING:
    from k8sjob.backfill.basis import Basis

BERLIN = replace(basis(version("30 2 * * *", "Europe/Berlin")), now=at("2027-04-01T00:00:00Z"))


def of(start: str, end: str, known: Basis) -> Notes:
    wanted = asked(start, end)
    return notes(wanted, known, in_range(wanted, known))


def test_the_second_of_two_fires_has_a_note() -> None:
    assert of("2026-10-24", "2026-10-26", BERLIN) == (
        {"2026-10-25T01:30:00Z": "the hour happens twice, so does the job"},
        [],
    )


def test_a_day_without_its_fire_has_a_sentence() -> None:
    beside, below = of("2027-03-27", "2027-03-29", BERLIN)
    assert beside == {}
    assert below == ["Does not fire at all on Sun 28 Mar 2027: 02:30 does not exist."]


def test_a_day_that_is_named_alone_and_has_no_fire_has_its_sentence_too() -> None:
    _, below = of("2027-03-28", "2027-03-28", BERLIN)
    assert below == ["Does not fire at all on Sun 28 Mar 2027: 02:30 does not exist."]


def test_changes_of_clocks_outside_of_the_range_are_not_told() -> None:
    assert of("2026-10-26", "2027-03-27", BERLIN) == ({}, [])


def test_changes_of_clocks_before_the_version_are_not_told() -> None:
    later = version(
        "30 2 * * *",
        "Europe/Berlin",
        earliest_from=at("2026-11-01T00:00:00Z"),
        valid_from=at("2026-11-01T00:00:00Z"),
    )
    known = replace(BERLIN, versions=[later])
    assert of("2026-10-24", "2026-11-02", known).beside == {}


def test_missing_periods_have_their_notes_too() -> None:
    known = replace(BERLIN, done_until=at("2026-10-23T12:00:00Z"))
    told = notes(asked(), known, missing(known, ()))
    assert list(told.beside) == ["2026-10-25T01:30:00Z"]
    assert len(told.below) == 1


def test_days_have_no_notes_on_clocks() -> None:
    known = replace(BERLIN, cycle=Cycle.DAY)
    assert of("2026-10-24", "2026-10-26", known) == ({}, [])


def test_an_end_that_is_no_period_is_said_to_be_a_bound() -> None:
    assert of("2026-09-10T00:00:00Z", "2026-09-12T01:00:00Z", basis()).below == [
        "--to 2026-09-12T01:00:00Z is not on the schedule: it bounds the range, and is not done."
    ]
    assert of("2026-09-10", "2026-09-12", basis()).below == []
    weekdays = replace(basis(version("0 6 * * 1-5")), cycle=Cycle.DAY)
    assert of("2026-09-04", "2026-09-06", weekdays).below == [
        "--to 2026-09-06 is not on the schedule: it bounds the range, and is not done."
    ]


def test_an_edited_cronjob_that_nobody_tracks_is_worth_a_word() -> None:
    known = replace(basis(), tracked=False, edited=True)
    (told,) = of("2026-09-10", "2026-09-12", known).below
    assert "has been edited since" in told


def test_missing_of_a_job_that_nobody_tracks_is_worth_a_word() -> None:
    known = replace(basis(), tracked=False)
    (told,) = notes(asked(), known, []).below
    assert "only open ones are known to be missing" in told


def test_a_ledger_that_is_not_the_cronjobs_own_is_worth_a_word() -> None:
    from k8sjob.kube.words import LEDGER
    from tests.backfill.given import cron

    known = basis(cronjob=cron(annotations={LEDGER: "reports"}))
    wanted = asked("2026-09-10", "2026-09-12")
    assert notes(wanted, known, in_range(wanted, known)).below == [
        "The CronJob says that its ledger is reports, and this looks at the default ledger."
    ]
    right = replace(wanted, ledger="reports")
    assert notes(right, known, in_range(right, known)).below == []
