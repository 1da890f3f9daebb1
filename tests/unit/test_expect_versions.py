"""What is expected where a schedule was changed, and what is asked of its versions."""

from __future__ import annotations

import pytest

from k8sjob.expect import Version, first_known, is_on_schedule, window_end
from k8sjob.period import Cycle, Period
from tests.unit.schedules import BERLIN, at, edited, found, noon, span, texts, version


def test_a_suspended_version_expects_nothing() -> None:
    paused = version(
        "0 * * * *",
        suspended=True,
        began=("2026-09-13 10:30",) * 2,
        ended=("2026-09-13 12:30",) * 2,
    )
    some = [
        version("0 * * * *", ended=("2026-09-13 10:30",) * 2),
        paused,
        version("0 * * * *", began=("2026-09-13 12:30",) * 2, n=3),
    ]
    assert [text[11:16] for text in texts(noon(some, "09:30", "13:30"))] == ["10:00", "13:00"]


@pytest.mark.parametrize(
    ("times", "mark"),
    [
        (("11:00", "11:59"), [""]),
        (("11:00", "12:00"), ["?"]),
        (("11:59", "12:10"), ["?"]),
        (("12:00", "12:10"), []),
    ],
)
def test_a_fire_is_uncertain_where_the_version_may_have_begun_after_it(
    times: tuple[str, str], mark: list[str]
) -> None:
    some = noon([version("0 * * * *", began=span(*times))])
    assert texts(some) == [f"2026-09-13T12:00:00Z{one}" for one in mark]


@pytest.mark.parametrize(
    ("times", "mark"),
    [
        (("12:00", "12:10"), [""]),
        (("11:59", "12:10"), ["?"]),
        (("11:50", "12:00"), ["?"]),
        (("11:50", "11:59"), []),
    ],
)
def test_a_fire_is_uncertain_where_the_version_may_have_ended_before_it(
    times: tuple[str, str], mark: list[str]
) -> None:
    some = noon([version("0 * * * *", ended=span(*times))])
    assert texts(some) == [f"2026-09-13T12:00:00Z{one}" for one in mark]


@pytest.mark.parametrize(
    ("versions", "mark"),
    [
        (edited("0 * * * *", "*/30 * * * *", direct=True), ""),
        (edited("0 * * * *", "0 12 * * *", direct=True, zone="Etc/GMT"), ""),
        (edited("0 * * * *", "*/30 * * * *"), "?"),
        (edited("0 * * * *", "0 * * * *"), "?"),
        (edited("0 * * * *", "15 * * * *", direct=True), "?"),
        (edited("15 * * * *", "0 * * * *", direct=True), "?"),
        (edited("0 * * * *", "0 * * * *", direct=True, suspended=True), "?"),
    ],
    ids=[
        "two schedules share it",
        "in another zone too",
        "something else may have been between",
        "two alike, so something was between",
        "only the old one has it",
        "only the new one has it",
        "suspended",
    ],
)
def test_a_fire_around_an_edit_is_certain_only_if_both_sides_have_it(
    versions: list[Version], mark: str
) -> None:
    some = noon(versions, "11:55", "12:05")
    assert texts(some) == [f"2026-09-13T12:00:00Z{mark}"]


def test_a_fire_of_three_versions_is_uncertain_if_one_of_them_lacks_it() -> None:
    around = span("11:50", "12:10")
    first = version("0 * * * *", ended=around)
    last = version("0 * * * *", n=3, began=around, direct=True)
    for middle, mark in (("*/30 * * * *", ""), ("7 * * * *", "?")):
        between = version(middle, n=2, began=around, ended=around, direct=True)
        some = noon([first, between, last], "11:55", "12:05")
        assert texts(some) == [f"2026-09-13T12:00:00Z{mark}"]


def test_a_shared_fire_is_uncertain_if_the_first_may_not_have_begun_or_the_last_have_ended() -> (
    None
):
    old, new = edited("0 * * * *", "*/30 * * * *", direct=True)
    begun = version(old.expr, began=span("11:40", "12:01"), ended=span("11:50", "12:10"))
    gone = version(new.expr, n=2, began=span("11:50", "12:10"), ended=span("11:59", "12:20"))
    assert texts(noon([begun, new], "11:55", "12:05")) == ["2026-09-13T12:00:00Z?"]
    assert texts(noon([old, gone], "11:55", "12:05")) == ["2026-09-13T12:00:00Z?"]


def test_a_day_is_certain_if_one_fire_of_it_is_and_due_at_the_last_certain_one() -> None:
    ending = version("0 6,18 * * *", ended=span("12:00", "20:00"))
    [one] = found([ending], Cycle.DAY, "2026-09-13", "2026-09-14")
    assert texts([one]) == ["2026-09-13"]
    assert (one.first_fire, one.last_fire) == (at("2026-09-13 06:00"),) * 2


def test_once_is_due_at_the_first_fire_that_is_certain() -> None:
    young = version("0 * * * *", began=span("11:30", "12:30"))
    [one] = found([young], Cycle.ONCE, "2026-09-13", "2026-09-13 15:00")
    assert (texts([one]), one.first_fire) == (["once"], at("2026-09-13 13:00"))
    [one] = found([young], Cycle.ONCE, "2026-09-13", "2026-09-13 12:10")
    assert (texts([one]), one.first_fire) == (["once?"], at("2026-09-13 12:00"))


def test_a_period_names_the_version_and_zone_that_it_comes_from() -> None:
    edit = span("12:30", "12:30")
    old = version("0 * * * *", None, ended=edit)
    some = noon([old, version("0 * * * *", BERLIN, n=2, began=edit)], "11:30", "13:30")
    assert [(one.version, one.zone) for one in some] == [(1, None), (2, BERLIN)]


def test_a_day_that_goes_on_after_a_change_of_zone_is_told_once() -> None:
    edit = span("12:30", "12:30")
    some = [
        version("0 * * * *", "Asia/Tokyo", ended=edit),
        version("0 * * * *", "America/New_York", n=2, began=edit),
    ]
    days = texts(found(some, Cycle.DAY, "2026-09-12 20:00", "2026-09-14 20:00"))
    assert days == ["2026-09-13", "2026-09-14"]


# ----------------------------------------------------------------------------------- questions


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("2026-09-13T00:00:00Z", True),
        ("2026-09-13T02:00:00Z", False),
        ("2026-09-13T00:00:01Z", False),
        ("2026-09-13", True),
        ("2026-W37", True),
        ("2026-09", True),
        ("once", True),
        ("2026-03-29", False),
        ("2026-10-25T00:00:00Z", True),
        ("2026-10-25T01:00:00Z", True),
        ("2019-12-31", False),
    ],
)
def test_a_period_is_on_schedule_if_a_fire_falls_in_it(text: str, answer: bool) -> None:  # noqa: FBT001  # a column
    nightly = [version("0 2 * * *", BERLIN)]
    assert is_on_schedule(nightly, Period(text)) is answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [("2026-09-12", False), ("2026-09-13", True), ("2026-W37", True), ("2026-W36", False)],
)
def test_a_natural_period_is_on_schedule_from_the_day_of_its_first_possible_fire(
    text: str,
    answer: bool,  # noqa: FBT001  # a column
) -> None:
    some = [version("0 12 * * *", began=span("11:00", "15:00"))]
    assert is_on_schedule(some, Period(text)) is answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [("11:00", False), ("12:00", True), ("13:00", True), ("14:00", False)],
)
def test_a_period_is_on_schedule_wherever_the_version_may_have_held(
    text: str,
    answer: bool,  # noqa: FBT001  # a column
) -> None:
    some = [version("0 * * * *", began=span("11:00", "12:30"), ended=span("12:40", "13:00"))]
    assert is_on_schedule(some, Period(f"2026-09-13T{text}:00Z")) is answer


def test_a_slot_of_a_suspension_is_on_schedule_since_kubernetes_may_start_it_at_resume() -> None:
    paused = [version("0 * * * *", suspended=True)]
    assert is_on_schedule(paused, Period("2026-09-13T12:00:00Z")) is True


@pytest.mark.parametrize("text", ["2026-09-13T12:00:00Z", "2026-09-13", "once"])
def test_of_no_version_and_of_an_interval_nobody_knows_what_is_on_schedule(text: str) -> None:
    assert is_on_schedule([], Period(text)) is None
    assert is_on_schedule([version("@every 90s")], Period(text)) is None


def test_the_midnight_that_ends_a_day_is_the_next_ones() -> None:
    some = [version("0 0 14 * *")]
    assert is_on_schedule(some, Period("2026-09-13")) is False
    assert is_on_schedule(some, Period("2026-09-14")) is True


def test_an_interval_beside_a_schedule_does_not_hide_it() -> None:
    some = [version("@every 90s"), version("0 * * * *", n=2)]
    assert is_on_schedule(some, Period("2026-09-13T12:00:00Z")) is True
    assert is_on_schedule(some, Period("2026-09-13T12:01:30Z")) is False


def test_a_job_is_known_from_the_earliest_instant_at_which_a_version_may_have_begun() -> None:
    late, early = (version("0 * * * *", began=span(first, "15:00")) for first in ("12:00", "11:00"))
    assert first_known([late, early]) == at("2026-09-13 11:00")
    assert first_known([]) is None


@pytest.mark.parametrize(
    ("versions", "end"),
    [
        ([version("0 * * * *")], "2026-09-13 13:00"),
        ([version("0 * * * *", suspended=True)], "2026-09-13 13:00"),
        ([version("0 2 * * *", BERLIN)], "2026-09-14 00:00"),
        (edited("0 * * * *", "*/30 * * * *"), "2026-09-13 12:30"),
        ([version("0 * * * *", ended=span("11:00", "12:00"))], "2026-09-13 13:00"),
        ([version("0 * * * *", ended=span("11:00", "11:30"))], None),
        ([version("0 * * * *", began=span("12:00", "12:30"))], None),
        ([version("0 6 1 1 *", began=("2998-01-01",) * 2)], None),
        ([version("@every 90s")], None),
        ([], None),
    ],
)
def test_a_window_ends_with_the_next_fire_of_the_version_of_then(
    versions: list[Version], end: str | None
) -> None:
    assert window_end(versions, at("2026-09-13 12:00")) == (at(end) if end else None)


def test_the_window_of_the_first_half_past_two_in_autumn_ends_an_hour_later() -> None:
    nightly = [version("30 2 * * *", BERLIN)]
    assert window_end(nightly, at("2026-10-25 00:30")) == at("2026-10-25 01:30")
    assert window_end(nightly, at("2026-10-25 01:30")) == at("2026-10-26 01:30")
    assert window_end(nightly, at("2026-03-28 01:30")) == at("2026-03-30 00:30")


def test_the_last_fire_of_the_last_year_has_no_window_end() -> None:
    assert window_end([version("0 6 1 1 *")], at("2999-01-01 06:00")) is None
